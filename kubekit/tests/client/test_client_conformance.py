"""What every client of a Kubernetes API does, whatever is behind it.

Runs over HTTPS and straight onto the embedded store, and with the mark `real` on Kubernetes itself. Nothing here
relies on more than the Kubernetes API promises."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from kubekit.client.protocol import Client, Patch, Selection, Signal
from kubekit.client.scale import get_scale, set_scale
from kubekit.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    NotFound,
    TooManyRequests,
    UnsupportedMediaType,
)
from kubekit.model.resource import Address
from tests.client.worlds import CONFIG_MAP, NAMESPACE, WIDGET, Widget, WidgetSpec, World, config_map, widget

POD = Address("", "v1", "Pod", "pods", True)
BUDGET = Address("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", True)
BINDING = Address("", "v1", "Binding", "bindings", True)
UNKNOWN = Address("nowhere.example.com", "v1", "Thing", "things", True)


async def events(client: Client, kind: Any, selection: Selection, version: str, count: int) -> list[Any]:
    """The next events that are about an object."""
    found: list[Any] = []
    async with asyncio.timeout(100), aclosing(client.watch(kind, selection, version=version)) as watch:
        while len(found) < count:
            event = await anext(watch)
            if event.signal is not Signal.BOOKMARK:
                found.append(event)
    return found


async def test_a_typed_object_comes_back_as_its_class(world: World) -> None:
    made = await world.client.create(widget("a", world.namespace, labels={"tier": "front"}))
    assert isinstance(made, Widget)
    assert (made.metadata.name, made.metadata.namespace, made.spec.size) == ("a", world.namespace, "small")
    assert (bool(made.metadata.uid), made.metadata.generation) == (True, 1)
    assert made.metadata.creation_timestamp is not None
    assert await world.client.get(Widget, "a", world.namespace) == made


async def test_a_plain_object_comes_back_as_a_dict(world: World) -> None:
    made = await world.client.create(config_map("a", world.namespace), CONFIG_MAP)
    assert (made["apiVersion"], made["kind"], made["data"]) == ("v1", "ConfigMap", {"key": "value"})
    assert await world.client.get(CONFIG_MAP, "a", world.namespace) == made


async def test_creating_leaves_the_given_object_alone(world: World) -> None:
    given = config_map("a", world.namespace)
    await world.client.create(given, CONFIG_MAP)
    assert given == config_map("a", world.namespace)


async def test_a_typed_object_can_be_read_plain(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    plain = await world.client.get(WIDGET, "a", world.namespace)
    assert (plain["apiVersion"], plain["kind"]) == (WIDGET.api_version, "Widget")
    assert plain["spec"] == {"size": "small", "replicas": 1}


async def test_defaults_of_the_server_are_answered(world: World) -> None:
    given = {"metadata": {"name": "a", "namespace": world.namespace}, "spec": {"size": "large"}}
    assert (await world.client.create(given, WIDGET))["spec"]["replicas"] == 1


async def test_a_name_is_generated(world: World) -> None:
    given = {"metadata": {"generateName": "a-", "namespace": world.namespace}}
    names = [(await world.client.create(given, CONFIG_MAP))["metadata"]["name"] for _ in range(2)]
    assert all(name.startswith("a-") and len(name) == 7 for name in names)
    assert names[0] != names[1]


async def test_a_rehearsed_creation_stores_nothing(world: World) -> None:
    made = await world.client.create(widget("a", world.namespace), dry_run=True)
    assert (bool(made.metadata.uid), made.spec.replicas) == (True, 1)
    with pytest.raises(NotFound):
        await world.client.get(Widget, "a", world.namespace)


async def test_a_cluster_wide_object_has_no_namespace(world: World) -> None:
    found = await world.client.get(NAMESPACE, world.namespace)
    assert found["metadata"]["name"] == world.namespace
    assert "namespace" not in found["metadata"]


async def test_a_namespace_given_for_a_cluster_wide_kind_is_ignored(world: World) -> None:
    found = await world.client.get(NAMESPACE, world.namespace, "whatever")
    assert found["metadata"]["name"] == world.namespace


async def test_the_manager_of_a_field_is_recorded(world: World) -> None:
    made = await world.client.create(config_map("a", world.namespace), CONFIG_MAP, manager="someone")
    assert [entry["manager"] for entry in made["metadata"]["managedFields"]] == ["someone"]


async def test_without_a_name_the_client_manages_the_fields(world: World) -> None:
    made = await world.client.create(config_map("a", world.namespace), CONFIG_MAP)
    assert [entry["manager"] for entry in made["metadata"]["managedFields"]] == ["kubekit"]


async def test_a_list_is_complete_whatever_its_pages(world: World) -> None:
    for number in range(7):
        await world.client.create(widget(f"w{number}", world.namespace))
    for page in (0, 1, 3, 7, 500):
        listed = await world.client.list(Widget, world.here, page=page)
        assert [one.metadata.name for one in listed.items] == [f"w{number}" for number in range(7)]
        assert all(isinstance(one, Widget) for one in listed.items)
        assert int(listed.version) >= max(int(one.metadata.resource_version) for one in listed.items)


async def test_items_of_a_list_say_what_they_are(world: World) -> None:
    await world.client.create(config_map("a", world.namespace), CONFIG_MAP)
    listed = await world.client.list(CONFIG_MAP, Selection(world.namespace, fields="metadata.name=a"))
    assert listed.items == (await world.client.get(CONFIG_MAP, "a", world.namespace),)


async def test_nothing_is_an_empty_list(world: World) -> None:
    listed = await world.client.list(Widget, world.here)
    assert listed.items == ()
    assert int(listed.version) > 0


async def test_a_list_without_a_namespace_is_of_all(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    listed = await world.client.list(Widget, page=1)
    assert ("a", world.namespace) in [(one.metadata.name, one.metadata.namespace) for one in listed.items]


@pytest.mark.parametrize(
    ("labels", "fields", "names"),
    [
        ("tier=front", "", ["a", "b"]),
        ("tier!=front", "", ["c", "d"]),
        ("tier in (front, back),beta", "", ["b"]),
        ("!tier", "", ["d"]),
        ("", "metadata.name=b", ["b"]),
        ("", "metadata.name!=b", ["a", "c", "d"]),
        ("", "spec.size=large", ["c"]),
        ("tier=front", "metadata.name=a", ["a"]),
        ("tier=none", "", []),
    ],
)
async def test_selectors_choose(world: World, labels: str, fields: str, names: list[str]) -> None:
    await world.client.create(widget("a", world.namespace, labels={"tier": "front"}))
    await world.client.create(widget("b", world.namespace, labels={"tier": "front", "beta": "1"}))
    await world.client.create(widget("c", world.namespace, size="large", labels={"tier": "back"}))
    await world.client.create(widget("d", world.namespace))
    listed = await world.client.list(Widget, Selection(world.namespace, labels, fields), page=1)
    assert [one.metadata.name for one in listed.items] == names


async def test_a_merge_patch_changes_what_it_names(world: World) -> None:
    await world.client.create(widget("a", world.namespace, labels={"x": "1", "y": "1"}))
    change = {"metadata": {"labels": {"x": None}}, "spec": {"size": "large"}}
    made = await world.client.patch(Widget, "a", change, world.namespace)
    assert (made.spec.size, dict(made.metadata.labels), made.metadata.generation) == ("large", {"y": "1"}, 2)


async def test_a_json_patch_goes_step_by_step(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    steps = [
        {"op": "test", "path": "/spec/size", "value": "small"},
        {"op": "replace", "path": "/spec/size", "value": "large"},
    ]
    made = await world.client.patch(Widget, "a", steps, world.namespace, form=Patch.JSON)
    assert made.spec.size == "large"


async def test_a_json_patch_whose_test_fails_changes_nothing(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    steps = [
        {"op": "test", "path": "/spec/size", "value": "large"},
        {"op": "replace", "path": "/spec/replicas", "value": 5},
    ]
    with pytest.raises(Invalid):
        await world.client.patch(Widget, "a", steps, world.namespace, form=Patch.JSON)
    assert (await world.client.get(Widget, "a", world.namespace)).spec.replicas == 1


async def test_a_strategic_patch_merges_lists(world: World) -> None:
    account = Address("", "v1", "ServiceAccount", "serviceaccounts", True)
    given = {"metadata": {"name": "a", "namespace": world.namespace}, "secrets": [{"name": "one"}]}
    await world.client.create(given, account)
    change = {"secrets": [{"name": "two"}]}
    made = await world.client.patch(account, "a", change, world.namespace, form=Patch.STRATEGIC)
    assert {one["name"] for one in made["secrets"]} == {"one", "two"}


async def test_a_custom_kind_knows_no_strategic_patch(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    with pytest.raises(UnsupportedMediaType):
        await world.client.patch(Widget, "a", {}, world.namespace, form=Patch.STRATEGIC)


async def test_a_patch_of_an_old_version_is_a_conflict(world: World) -> None:
    made = await world.client.create(widget("a", world.namespace))
    await world.client.patch(Widget, "a", {"spec": {"replicas": 2}}, world.namespace)
    change = {"metadata": {"resourceVersion": made.metadata.resource_version}, "spec": {"replicas": 3}}
    with pytest.raises(Conflict) as refused:
        await world.client.patch(Widget, "a", change, world.namespace)
    assert refused.value.retryable
    assert refused.value.details is not None
    assert refused.value.details.name == "a"
    assert (await world.client.get(Widget, "a", world.namespace)).spec.replicas == 2


async def test_a_patch_that_changes_nothing_makes_no_version(world: World) -> None:
    made = await world.client.create(widget("a", world.namespace), manager="m")
    again = await world.client.patch(Widget, "a", {"spec": {"size": "small"}}, world.namespace, manager="m")
    assert again.metadata.resource_version == made.metadata.resource_version


async def test_an_apply_creates_and_then_changes(world: World) -> None:
    made = await world.client.apply(widget("a", world.namespace), manager="one")
    assert isinstance(made, Widget)
    changed = await world.client.apply(widget("a", world.namespace, size="large"), manager="one")
    assert (changed.metadata.uid, changed.spec.size) == (made.metadata.uid, "large")


async def test_what_is_no_longer_applied_goes(world: World) -> None:
    await world.client.apply(widget("a", world.namespace, labels={"x": "1"}), manager="one")
    assert not (await world.client.apply(widget("a", world.namespace), manager="one")).metadata.labels


async def test_a_field_of_another_manager_is_a_conflict_that_can_be_forced(world: World) -> None:
    await world.client.apply(widget("a", world.namespace), manager="one")
    wanted = widget("a", world.namespace, size="large")
    with pytest.raises(Conflict) as refused:
        await world.client.apply(wanted, manager="two", force=False)
    assert refused.value.details is not None
    assert [(cause.reason, cause.field) for cause in refused.value.details.causes] == [
        ("FieldManagerConflict", ".spec.size")
    ]
    assert (await world.client.apply(wanted, manager="two", force=True)).spec.size == "large"


async def test_a_rehearsed_apply_stores_nothing(world: World) -> None:
    await world.client.apply(widget("a", world.namespace), manager="one")
    seen = await world.client.apply(widget("a", world.namespace, size="large"), manager="one", dry_run=True)
    assert seen.spec.size == "large"
    assert (await world.client.get(Widget, "a", world.namespace)).spec.size == "small"


async def test_an_apply_of_a_dict_need_not_say_what_it_is(world: World) -> None:
    made = await world.client.apply(config_map("a", world.namespace), CONFIG_MAP, manager="one")
    assert (made["kind"], made["data"]) == ("ConfigMap", {"key": "value"})


async def test_status_is_written_apart_from_the_rest(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    change = {"status": {"phase": "Ready"}, "spec": {"size": "large"}}
    made = await world.client.patch(Widget, "a", change, world.namespace, subresource="status")
    assert (made.status.phase, made.spec.size, made.metadata.generation) == ("Ready", "small", 1)
    assert (await world.client.get(Widget, "a", world.namespace, subresource="status")).status.phase == "Ready"
    ignored = await world.client.patch(Widget, "a", {"status": {"phase": "Gone"}}, world.namespace)
    assert ignored.status.phase == "Ready"


async def test_status_can_be_applied(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    status = {"metadata": {"name": "a", "namespace": world.namespace}, "status": {"phase": "Ready"}}
    made = await world.client.apply(status, WIDGET, manager="one", subresource="status")
    assert (made["status"]["phase"], made["spec"]["size"]) == ("Ready", "small")


async def test_scale_is_read_and_set(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    await world.client.patch(
        WIDGET, "a", {"status": {"replicas": 1, "selector": "app=a"}}, world.namespace, subresource="status"
    )
    scale = await get_scale(world.client, Widget, "a", world.namespace)
    assert (scale.spec.replicas, scale.status.replicas, scale.status.selector) == (1, 1, "app=a")
    assert (await set_scale(world.client, Widget, "a", world.namespace, 4)).spec.replicas == 4
    assert (await world.client.get(Widget, "a", world.namespace)).spec.replicas == 4


async def test_scale_is_not_of_the_class(world: World) -> None:
    with pytest.raises(TypeError):
        await world.client.get(Widget, "a", world.namespace, subresource="scale")


async def test_a_kind_without_a_scale_has_none(world: World) -> None:
    await world.client.create(config_map("a", world.namespace), CONFIG_MAP)
    with pytest.raises(NotFound):
        await get_scale(world.client, CONFIG_MAP, "a", world.namespace)


async def test_a_deleted_object_is_gone(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    await world.client.delete(Widget, "a", world.namespace)
    with pytest.raises(NotFound):
        await world.client.get(Widget, "a", world.namespace)
    with pytest.raises(NotFound):
        await world.client.delete(Widget, "a", world.namespace)


async def test_finalizers_hold_an_object(world: World) -> None:
    await world.client.create(widget("a", world.namespace, finalizers=("conformance.example.com/hold",)))
    await world.client.delete(Widget, "a", world.namespace)
    held = await world.client.get(Widget, "a", world.namespace)
    assert held.metadata.deletion_timestamp is not None
    await world.client.patch(Widget, "a", {"metadata": {"finalizers": None}}, world.namespace)
    with pytest.raises(NotFound):
        await world.client.get(Widget, "a", world.namespace)


async def test_an_object_is_deleted_only_if_it_is_the_one_that_is_meant(world: World) -> None:
    made = await world.client.create(widget("a", world.namespace))
    with pytest.raises(Conflict):
        await world.client.delete(Widget, "a", world.namespace, uid="11111111-2222-3333-4444-555555555555")
    with pytest.raises(Conflict):
        await world.client.delete(Widget, "a", world.namespace, version="1")
    meta = made.metadata
    await world.client.delete(Widget, "a", world.namespace, uid=meta.uid, version=meta.resource_version)
    with pytest.raises(NotFound):
        await world.client.get(Widget, "a", world.namespace)


async def test_a_pod_is_put_on_a_node_and_ends_at_once_when_it_may(world: World) -> None:
    meta = {"name": "a", "namespace": world.namespace}
    await world.client.create({"metadata": meta, "spec": {"containers": [{"name": "a", "image": "a"}]}}, POD)
    binding = {"metadata": meta, "target": {"apiVersion": "v1", "kind": "Node", "name": "far-away"}}
    await world.client.create(binding, BINDING)
    assert (await world.client.get(POD, "a", world.namespace))["spec"]["nodeName"] == "far-away"
    with pytest.raises(Conflict):
        await world.client.create(binding, BINDING)
    await world.client.delete(POD, "a", world.namespace)
    assert (await world.client.get(POD, "a", world.namespace))["metadata"]["deletionGracePeriodSeconds"] == 30
    await world.client.delete(POD, "a", world.namespace, grace=0)
    with pytest.raises(NotFound):
        await world.client.get(POD, "a", world.namespace)


async def test_a_pod_is_evicted_unless_its_budget_forbids_it(world: World) -> None:
    for name in ("free", "kept"):
        meta = {"name": name, "namespace": world.namespace, "labels": {"app": name}}
        await world.client.create({"metadata": meta, "spec": {"containers": [{"name": "a", "image": "a"}]}}, POD)
        running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        await world.client.patch(POD, name, {"status": running}, world.namespace, subresource="status")
    budget = {"metadata": {"name": "kept", "namespace": world.namespace}}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}}
    await world.client.create({**budget, "spec": spec}, BUDGET)
    await world.client.evict("free", world.namespace)
    with pytest.raises(NotFound):
        await world.client.get(POD, "free", world.namespace)
    with pytest.raises(TooManyRequests):
        await world.client.evict("kept", world.namespace)
    with pytest.raises(NotFound):
        await world.client.evict("nobody", world.namespace)
    assert "deletionTimestamp" not in (await world.client.get(POD, "kept", world.namespace))["metadata"]


async def test_a_foreground_deletion_waits_for_dependents(world: World) -> None:
    owner = await world.client.create(config_map("owner", world.namespace), CONFIG_MAP)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    owned = config_map("owned", world.namespace, ownerReferences=[{**reference, "blockOwnerDeletion": True}])
    version = (await world.client.create(owned, CONFIG_MAP))["metadata"]["resourceVersion"]
    await world.client.delete(CONFIG_MAP, "owner", world.namespace, propagation="Foreground")
    only_owner = Selection(world.namespace, fields="metadata.name=owner")
    gone = await events(world.client, CONFIG_MAP, only_owner, version, 2)
    assert [event.signal for event in gone] == [Signal.MODIFIED, Signal.DELETED]
    with pytest.raises(NotFound):
        await world.client.get(CONFIG_MAP, "owned", world.namespace)


async def test_nothing_goes_into_a_namespace_that_ends(world: World) -> None:
    held = f"{world.namespace}-held"
    await world.client.create({"metadata": {"name": held}}, NAMESPACE)
    await world.client.create(widget("a", held, finalizers=("conformance.example.com/hold",)))
    await world.client.delete(NAMESPACE, held)
    with pytest.raises(Forbidden) as refused:
        await world.client.create(widget("b", held))
    assert refused.value.details is not None
    assert "NamespaceTerminating" in [cause.reason for cause in refused.value.details.causes]
    await world.client.patch(Widget, "a", {"metadata": {"finalizers": None}}, held)


async def test_not_found_says_what(world: World) -> None:
    with pytest.raises(NotFound) as refused:
        await world.client.get(Widget, "nobody", world.namespace)
    assert str(refused.value) == f'widgets.{WIDGET.group} "nobody" not found'
    details = refused.value.details
    assert details is not None
    assert (details.name, details.group, details.kind) == ("nobody", WIDGET.group, "widgets")
    assert not refused.value.retryable


async def test_a_kind_the_server_does_not_know_is_not_found(world: World) -> None:
    for call in (
        world.client.get(UNKNOWN, "a", world.namespace),
        world.client.list(UNKNOWN, world.here),
        world.client.create({"metadata": {"name": "a", "namespace": world.namespace}}, UNKNOWN),
        world.client.delete(UNKNOWN, "a", world.namespace),
    ):
        with pytest.raises(NotFound):
            await call


async def test_a_namespace_that_does_not_exist_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="namespaces"):
        await world.client.create(config_map("a", f"{world.namespace}-nowhere"), CONFIG_MAP)


async def test_an_object_is_created_once(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    with pytest.raises(AlreadyExists) as refused:
        await world.client.create(widget("a", world.namespace))
    assert str(refused.value) == f'widgets.{WIDGET.group} "a" already exists'


async def test_every_refused_field_is_named(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        await world.client.create(
            Widget(metadata=widget("a", world.namespace).metadata, spec=WidgetSpec(size="huge", replicas=-1))
        )
    details = refused.value.details
    assert details is not None
    assert {(cause.reason, cause.field) for cause in details.causes} >= {
        ("FieldValueNotSupported", "spec.size"),
        ("FieldValueInvalid", "spec.replicas"),
    }


async def test_an_invalid_name_is_refused(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        await world.client.create(config_map("UPPER", world.namespace), CONFIG_MAP)
    assert refused.value.details is not None
    assert [cause.field for cause in refused.value.details.causes] == ["metadata.name"]


async def test_what_makes_no_sense_is_a_bad_request(world: World) -> None:
    with pytest.raises(BadRequest):
        await world.client.list(Widget, Selection(world.namespace, labels="a in"))
    with pytest.raises(BadRequest):
        await world.client.list(Widget, Selection(world.namespace, fields="spec.unknown=1"))


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../secrets/x", "a%2fb"])
async def test_a_name_cannot_lead_elsewhere(world: World, name: str) -> None:
    for call in (
        world.client.get(CONFIG_MAP, name, world.namespace),
        world.client.delete(CONFIG_MAP, name, world.namespace),
        world.client.patch(CONFIG_MAP, name, {}, world.namespace),
    ):
        with pytest.raises(BadRequest):
            await call


async def test_an_object_needs_its_namespace(world: World) -> None:
    for call in (
        world.client.get(CONFIG_MAP, "a"),
        world.client.delete(CONFIG_MAP, "a"),
        world.client.create({"metadata": {"name": "a"}}, CONFIG_MAP),
    ):
        with pytest.raises(BadRequest):
            await call


async def test_rights_are_checked(world: World) -> None:
    someone = world.acting_as("conformance-nobody")
    with pytest.raises(Forbidden) as refused:
        await someone.list(Widget, world.here)
    assert 'User "conformance-nobody" cannot list resource "widgets"' in str(refused.value)
    with pytest.raises(Forbidden):
        await someone.create(widget("a", world.namespace))
    with pytest.raises(Forbidden):
        await anext(someone.watch(Widget, world.here))


async def test_what_a_kind_does_not_offer_is_not_allowed(world: World) -> None:
    status = Address("", "v1", "ComponentStatus", "componentstatuses", False)
    review = Address("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", False)
    with pytest.raises((MethodNotAllowed, NotFound)):
        await world.client.delete(status, "scheduler")
    with pytest.raises(MethodNotAllowed):
        await world.client.list(review)


async def test_a_watch_tells_all_changes_in_order(world: World) -> None:
    start = (await world.client.list(Widget, world.here)).version
    await world.client.create(widget("a", world.namespace))
    await world.client.patch(Widget, "a", {"spec": {"size": "large"}}, world.namespace)
    await world.client.create(widget("b", world.namespace))
    await world.client.delete(Widget, "a", world.namespace)
    told = await events(world.client, Widget, world.here, start, 4)
    assert [(event.signal, event.item.metadata.name, event.item.spec.size) for event in told] == [
        (Signal.ADDED, "a", "small"),
        (Signal.MODIFIED, "a", "large"),
        (Signal.ADDED, "b", "small"),
        (Signal.DELETED, "a", "large"),
    ]
    versions = [int(event.version) for event in told]
    assert versions == sorted(set(versions))
    assert all(event.item.metadata.resource_version == event.version for event in told)


async def test_a_watch_goes_on_where_another_ended(world: World) -> None:
    start = (await world.client.list(CONFIG_MAP, world.here)).version
    for name in ("a", "b", "c"):
        await world.client.create(config_map(name, world.namespace, labels={"mine": "1"}), CONFIG_MAP)
    mine = Selection(world.namespace, labels="mine")
    (first,) = await events(world.client, CONFIG_MAP, mine, start, 1)
    rest = await events(world.client, CONFIG_MAP, mine, first.version, 2)
    assert [event.item["metadata"]["name"] for event in (first, *rest)] == ["a", "b", "c"]


async def test_a_watch_without_a_version_begins_with_what_is_there(world: World) -> None:
    for name in ("a", "b"):
        await world.client.create(widget(name, world.namespace))
    told = await events(world.client, Widget, world.here, "", 2)
    assert {(event.signal, event.item.metadata.name) for event in told} == {(Signal.ADDED, "a"), (Signal.ADDED, "b")}


async def test_a_watch_tells_what_happens_while_it_is_open(world: World) -> None:
    start = (await world.client.list(Widget, world.here)).version
    waiting = asyncio.create_task(events(world.client, Widget, world.here, start, 1))
    await asyncio.sleep(0)
    await world.client.create(widget("a", world.namespace))
    (told,) = await waiting
    assert (told.signal, told.item.metadata.name) == (Signal.ADDED, "a")


async def test_with_a_selector_objects_come_and_go_by_changing(world: World) -> None:
    red = Selection(world.namespace, labels="colour=red")
    start = (await world.client.list(Widget, red)).version
    await world.client.create(widget("a", world.namespace))
    for colour in ("red", "red", "blue"):
        change = {"metadata": {"labels": {"colour": colour}}, "spec": {"replicas": 2 if colour == "red" else 3}}
        await world.client.patch(Widget, "a", change, world.namespace)
    await world.client.patch(Widget, "a", {"metadata": {"labels": {"colour": "red"}}}, world.namespace)
    await world.client.delete(Widget, "a", world.namespace)
    told = await events(world.client, Widget, red, start, 4)
    assert [event.signal for event in told] == [Signal.ADDED, Signal.DELETED, Signal.ADDED, Signal.DELETED]


async def test_a_field_selector_watches_one_object(world: World) -> None:
    start = (await world.client.list(Widget, world.here)).version
    for name in ("a", "b"):
        await world.client.create(widget(name, world.namespace))
    (told,) = await events(world.client, Widget, Selection(world.namespace, fields="metadata.name=b"), start, 1)
    assert told.item.metadata.name == "b"


async def test_a_watch_of_a_forgotten_past_is_expired(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    await world.client.create(widget("b", world.namespace))
    version = world.forget()
    with pytest.raises(Expired) as refused:
        await events(world.client, Widget, world.here, version, 1)
    assert refused.value.retryable


async def test_a_watch_that_is_left_leaves_nothing_behind(world: World) -> None:
    version = (await world.client.list(Widget, world.here)).version
    watch = world.client.watch(Widget, world.here, version=version)
    waiting = asyncio.ensure_future(anext(watch))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await watch.aclose()
    await world.client.create(widget("a", world.namespace))
