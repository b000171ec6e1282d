"""The official Python client's machinery: watches, informers, discovery, elections, life in a pod, asyncio."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import aio, client, config, dynamic, informer, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

from kubekit.server.serve.server import Server

PATIENCE = 15.0

# The client leaves the sockets of its watches to the garbage collector, which may come in the middle of any test here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Nothing of this client is left for the tests of others."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def anywhere(connection: client.ApiClient) -> dynamic.DynamicClient:
    return dynamic.DynamicClient(connection)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"t": "1"}}, "data": data}


def test_a_watch_resumes_where_the_last_one_ended(core: client.CoreV1Api, team: str) -> None:
    start = core.list_namespaced_config_map(team).metadata.resource_version
    core.create_namespaced_config_map(team, config_map("a"))
    core.patch_namespaced_config_map("a", team, {"data": {"k": "v"}})
    first = watch.Watch()
    seen = []
    for event in first.stream(core.list_namespaced_config_map, team, resource_version=start, label_selector="t=1"):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 2:
            first.stop()
    assert seen == [("ADDED", "a"), ("MODIFIED", "a")]
    core.delete_namespaced_config_map("a", team)
    second = watch.Watch()
    later = []
    for event in second.stream(
        core.list_namespaced_config_map, team, resource_version=first.resource_version, label_selector="t=1"
    ):
        later.append((event["type"], event["object"].data))
        second.stop()
    assert later == [("DELETED", {"k": "v"})]


def test_a_watch_with_a_timeout_ends_by_itself(core: client.CoreV1Api, team: str) -> None:
    start = core.list_namespaced_config_map(team).metadata.resource_version
    stream = watch.Watch().stream(
        core.list_namespaced_config_map, team, resource_version=start, label_selector="t=1", timeout_seconds=1
    )
    assert list(stream) == []


async def test_a_forgotten_past_is_gone(server: Server) -> None:
    """In process, because only there can history be forgotten at will."""
    settings = yaml.safe_load(server.admin_kubeconfig())
    loop = asyncio.get_running_loop()

    async def compact() -> None:
        server.store.compact(server.store.committed)

    def forget() -> None:
        asyncio.run_coroutine_threadsafe(compact(), loop).result()

    outcome = await asyncio.to_thread(_watch_a_forgotten_past, settings, forget)
    assert outcome == [410, 410, ["a", "b", "c"]]


def _watch_a_forgotten_past(settings: dict[str, Any], forget: Callable[[], None]) -> list[Any]:
    with config.new_client_from_config_dict(settings) as connection:
        core = client.CoreV1Api(connection)
        start = core.list_namespaced_config_map("default").metadata.resource_version
        for name in ("a", "b", "c"):
            core.create_namespaced_config_map("default", config_map(name))
        page = core.list_namespaced_config_map("default", label_selector="t=1", limit=1)
        token = page.metadata.var_continue
        for value in ("1", "2"):
            core.patch_namespaced_config_map("c", "default", {"data": {"k": value}})
        forget()
        codes: list[Any] = []
        with pytest.raises(ApiException) as gone:
            list(watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version=start))
        codes.append(gone.value.status)
        with pytest.raises(ApiException) as expired:
            core.list_namespaced_config_map("default", label_selector="t=1", limit=1, _continue=token)
        codes.append(expired.value.status)
        rest = yaml.safe_load(expired.value.body)["metadata"]["continue"]
        left = core.list_namespaced_config_map("default", label_selector="t=1", _continue=rest)
        return [*codes, [page.items[0].metadata.name, *(one.metadata.name for one in left.items)]]


def test_an_informer_keeps_a_cache(connection: client.ApiClient, core: client.CoreV1Api, team: str) -> None:
    core.create_namespaced_config_map(team, config_map("early"))
    seen: list[tuple[str, str]] = []
    reached = threading.Event()

    def note(kind: str) -> Callable[[Any], None]:
        def add(obj: Any) -> None:
            seen.append((kind, obj.metadata.name))
            if kind == "DELETED":
                reached.set()

        return add

    shared = informer.SharedInformer(core.list_namespaced_config_map, namespace=team, label_selector="t=1")
    for kind in ("ADDED", "MODIFIED", "DELETED"):
        shared.add_event_handler(kind, note(kind))
    shared.start()
    try:
        core.create_namespaced_config_map(team, config_map("late"))
        core.patch_namespaced_config_map("late", team, {"data": {"k": "v"}})
        core.delete_namespaced_config_map("early", team)
        assert reached.wait(PATIENCE)
        assert shared.cache.list_keys() == [f"{team}/late"]
    finally:
        shared.stop()
    assert ("ADDED", "early") in seen
    assert seen[-1] == ("DELETED", "early")


def test_discovery_finds_kinds_by_what_they_are_called(anywhere: dynamic.DynamicClient) -> None:
    deployments = anywhere.resources.get(api_version="apps/v1", kind="Deployment")
    assert (deployments.name, deployments.namespaced, deployments.preferred) == ("deployments", True, True)
    assert set(deployments.subresources) == {"status", "scale"}
    assert anywhere.resources.get(short_names=["cm"]).kind == "ConfigMap"
    assert {one.group_version for one in anywhere.resources.search(kind="Event")} == {"v1", "events.k8s.io/v1"}


def test_two_appliers_share_an_object_until_they_disagree(anywhere: dynamic.DynamicClient, team: str) -> None:
    maps = anywhere.resources.get(api_version="v1", kind="ConfigMap")
    mine, theirs = config_map("shared", mine="1"), config_map("shared", theirs="1")
    maps.server_side_apply(mine, namespace=team, field_manager="me")
    both = maps.server_side_apply(theirs, namespace=team, field_manager="they")
    assert both.data.to_dict() == {"mine": "1", "theirs": "1"}
    with pytest.raises(ConflictError) as refused:
        maps.server_side_apply(config_map("shared", mine="2"), namespace=team, field_manager="they")
    assert 'conflict with "me": .data.mine' in refused.value.summary()
    forced = maps.server_side_apply(
        config_map("shared", mine="2"), namespace=team, field_manager="they", force_conflicts=True
    )
    assert forced.data.to_dict() == {"mine": "2"}


def test_a_dynamic_watch_starts_with_what_is_there(anywhere: dynamic.DynamicClient, team: str) -> None:
    maps = anywhere.resources.get(api_version="v1", kind="ConfigMap")
    maps.create(config_map("a"), namespace=team)
    watcher = watch.Watch()
    seen = []
    for event in maps.watch(
        namespace=team,
        label_selector="t=1",
        watcher=watcher,
        allow_watch_bookmarks=True,
        send_initial_events=True,
        resource_version_match="NotOlderThan",
        timeout=60,
    ):
        annotations = event["raw_object"]["metadata"].get("annotations") or {}
        seen.append((event["type"], annotations.get("k8s.io/initial-events-end", "")))
        if event["type"] == "BOOKMARK":
            maps.delete(name="a", namespace=team)
        if event["type"] == "DELETED":
            watcher.stop()
    assert seen == [("ADDED", ""), ("BOOKMARK", "true"), ("DELETED", "")]


def test_subresources_are_reached_by_name(anywhere: dynamic.DynamicClient, team: str) -> None:
    sets = anywhere.resources.get(api_version="apps/v1", kind="ReplicaSet")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    sets.create(
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"}, "spec": spec}, namespace=team
    )
    merge = "application/merge-patch+json"
    sets.scale.patch(body={"spec": {"replicas": 3}}, name="r", namespace=team, content_type=merge)
    sets.status.patch(body={"status": {"replicas": 2}}, name="r", namespace=team, content_type=merge)
    found = sets.get(name="r", namespace=team)
    assert (found.spec.replicas, found.status.replicas) == (3, 2)
    sets.delete(name="r", namespace=team, body={"propagationPolicy": "Background"})
    with pytest.raises(NotFoundError):
        sets.get(name="r", namespace=team)


def test_the_second_candidate_leads_when_the_first_stops(connection: client.ApiClient, team: str) -> None:
    started = {name: threading.Event() for name in ("first", "second")}
    stopped, leave = threading.Event(), threading.Event()

    def lead_for_a_while() -> None:
        started["first"].set()
        leave.wait(PATIENCE)
        raise RuntimeError("this ends the first candidate's lead")

    def candidate(name: str, lead: Callable[[], None], end: Callable[[], None]) -> threading.Thread:
        lock = LeaseLock("lock", team, name)
        lock.api_instance = client.CoordinationV1Api(connection)
        settings = electionconfig.Config(lock, 2, 1.5, 1, lead, end)
        thread = threading.Thread(target=leaderelection.LeaderElection(settings).run, daemon=True)
        thread.start()
        return thread

    first = candidate("first", lead_for_a_while, stopped.set)
    assert started["first"].wait(PATIENCE)
    candidate("second", started["second"].set, lambda: None)
    leave.set()
    assert stopped.wait(PATIENCE)
    assert started["second"].wait(PATIENCE)
    first.join(PATIENCE)
    lease = client.CoordinationV1Api(connection).read_namespaced_lease("lock", team)
    assert (lease.spec.holder_identity, lease.spec.lease_duration_seconds) == ("second", 2)


def test_a_program_in_a_pod_is_its_service_account(
    connection: client.ApiClient, core: client.CoreV1Api, team: str, tmp_path: Path
) -> None:
    core.create_namespaced_service_account(team, {"metadata": {"name": "robot"}})
    wanted = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600))
    token = core.create_namespaced_service_account_token("robot", team, wanted).status.token
    (tmp_path / "token").write_text(token)
    (tmp_path / "ca.crt").write_text(core.read_namespaced_config_map("kube-root-ca.crt", "kube-system").data["ca.crt"])
    host, _, port = connection.configuration.host.removeprefix("https://").rpartition(":")
    environment = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    settings = client.Configuration()
    InClusterConfigLoader(str(tmp_path / "token"), str(tmp_path / "ca.crt"), True, environment).load_and_set(settings)
    with client.ApiClient(settings) as inside:
        me = client.AuthenticationV1Api(inside).create_self_subject_review({}).status.user_info
        assert me.username == f"system:serviceaccount:{team}:robot"
        assert f"system:serviceaccounts:{team}" in me.groups
        with pytest.raises(ApiException) as refused:
            client.CoreV1Api(inside).list_namespaced_secret(team)
        message = yaml.safe_load(refused.value.body)["message"]
        assert message.startswith(f'secrets is forbidden: User "{me.username}" cannot list resource "secrets"')
        review = client.AuthenticationV1Api(connection).create_token_review({"spec": {"token": token}})
        assert (review.status.authenticated, review.status.user.username) == (True, me.username)


async def test_the_asyncio_client_works_alike(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_bytes(server.admin_kubeconfig())
    connection = await aio.config.new_client_from_config(config_file=str(file))
    async with connection:
        core = aio.client.CoreV1Api(connection)
        await core.create_namespaced_config_map("default", config_map("a", k="v"))
        await core.patch_namespaced_config_map("a", "default", {"data": {"k": "w"}})
        seen = []
        async with aio.watch.Watch() as watcher:
            async for event in watcher.stream(
                core.list_namespaced_config_map, "default", label_selector="t=1", timeout_seconds=5
            ):
                seen.append((event["type"], event["object"].data))
                if event["type"] == "DELETED":
                    break
                await core.delete_namespaced_config_map("a", "default")
        assert seen == [("ADDED", {"k": "w"}), ("DELETED", {"k": "w"})]
        with pytest.raises(aio.client.ApiException) as refused:
            await core.read_namespaced_config_map("a", "default")
        assert refused.value.status == 404


async def test_the_asyncio_dynamic_client_discovers_and_applies(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_bytes(server.admin_kubeconfig())
    connection = await aio.config.new_client_from_config(config_file=str(file))
    async with connection:
        anywhere = await aio.dynamic.DynamicClient(connection)
        maps = await anywhere.resources.get(api_version="v1", kind="ConfigMap")
        made = await maps.server_side_apply(config_map("a", k="v"), namespace="default", field_manager="me")
        assert made.metadata.managedFields[0].operation == "Apply"
