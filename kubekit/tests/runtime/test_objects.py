"""Helpers for objects: the same for those of a class and for plain ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kubekit.model.resource import Address, ObjectMeta
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition, condition_of, merged, status_with, without
from kubekit.runtime.objects import owner_reference, status_of
from kubekit.runtime.reconciler import Outcome, Reconciler
from kubekit.testing.memory import MemoryApi
from tests.runtime.world import NAMESPACE, Widget, WidgetSpec, WidgetStatus, widget

THEN = datetime(2030, 1, 1, tzinfo=UTC)
READY = Condition(type="Ready", status="True", reason="Done", last_transition_time=THEN)
TYPED = Widget(
    metadata=ObjectMeta(name="a", namespace=NAMESPACE, uid="1", generation=2),
    spec=WidgetSpec(size=1),
    status=WidgetStatus(parts=1, conditions=(READY,)),
)
PLAIN: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(TYPED))

either = pytest.mark.parametrize("obj", [TYPED, PLAIN], ids=["typed", "plain"])


@either
def test_an_owner_reference_needs_no_more_than_the_object(obj: Any) -> None:
    assert owner_reference(obj) == {
        "apiVersion": "example.com/v1", "kind": "Widget", "name": "a", "uid": "1",
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip


def test_an_object_that_does_not_say_what_it_is_needs_its_kind() -> None:
    bare = {"metadata": {"name": "a", "uid": "1"}}
    with pytest.raises(TypeError, match="needs the address"):
        owner_reference(bare)
    assert owner_reference(bare, Address.of("v1", "Pod"))["apiVersion"] == "v1"


@either
def test_a_condition_is_found_by_its_type(obj: Any) -> None:
    assert condition_of(obj, "Ready") == READY
    assert condition_of(obj, "Happy") is None


def test_a_condition_of_others_may_lack_a_reason() -> None:
    node = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    found = condition_of(node, "Ready")
    assert found is not None
    assert (found.status, found.reason, found.last_transition_time) == ("Unknown", "", None)
    assert condition_of({"metadata": {}}, "Ready") is None


@either
def test_a_status_is_changed_in_the_places_that_are_named(obj: Any) -> None:
    new = status_with(obj, condition("Ready", True, "Other"), condition("Happy", False, "No"), parts=5)
    written = status_of({"status": new})
    assert written["parts"] == 5
    assert [(one["type"], one["reason"]) for one in written["conditions"]] == [("Ready", "Other"), ("Happy", "No")]
    assert [one.get("lastTransitionTime") for one in written["conditions"]] == ["2030-01-01T00:00:00Z", None]


@either
def test_a_status_without_new_conditions_keeps_them(obj: Any) -> None:
    assert status_of({"status": status_with(obj, parts=7)}) == {**PLAIN["status"], "parts": 7}


def test_a_plain_object_may_have_no_status_yet() -> None:
    assert status_with({"metadata": {"name": "a"}}, parts=1) == {"parts": 1}


def test_plain_conditions_are_merged_and_taken_away_as_typed_ones_are() -> None:
    plain = PLAIN["status"]["conditions"]
    assert merged(plain, condition("Ready", True, "Again")) == merged((READY,), condition("Ready", True, "Again"))
    assert without(plain, "Ready") == ()


async def test_a_controller_of_plain_objects_has_all_that_one_of_typed_ones_has(api: MemoryApi) -> None:
    class Plain(Reconciler[dict[str, Any]]):
        kind = Widget.address
        finalizer = "test/plain"

        async def reconcile(self, obj: dict[str, Any]) -> Outcome:
            conditions = [condition("Ready", True, "Plain")]
            return Outcome(status_with(obj, *conditions, parts=obj["spec"]["size"], observedGeneration=0))

    await api.define(Widget)
    await api.start(Plain)
    client = api.client
    await client.create(widget("a", 3))
    await api.settle()
    found: Widget = await client.get(Widget, "a", NAMESPACE)
    assert (found.status.parts, found.status.observed_generation) == (3, 1)
    ready = found.status.condition("Ready")
    assert ready is not None
    assert (ready.reason, ready.last_transition_time) == ("Plain", THEN)
    assert found.metadata.finalizers == ("test/plain",)
    await api.settle()
    assert (await client.get(Widget, "a", NAMESPACE)).metadata.resource_version == found.metadata.resource_version


@pytest.mark.parametrize(
    ("api_version", "kind", "name"),
    [
        ("v1", "ConfigMap", "configmaps"),
        ("apps/v1", "Deployment", "deployments.apps"),
        ("networking.k8s.io/v1", "Ingress", "ingresses.networking.k8s.io"),
        ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies.networking.k8s.io"),
        ("gateway.networking.k8s.io/v1", "Gateway", "gateways.gateway.networking.k8s.io"),
    ],
)
def test_an_address_follows_from_what_a_manifest_says(api_version: str, kind: str, name: str) -> None:
    address = Address.of(api_version, kind)
    assert (address.api_version, address.kind, address.name, address.namespaced) == (api_version, kind, name, True)


def test_an_address_may_be_unusual() -> None:
    assert Address.of("v1", "Endpoints", plural="endpoints").plural == "endpoints"
    assert not Address.of("v1", "Node", namespaced=False).namespaced
