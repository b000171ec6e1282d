"""Nobody uses, by naming it, what is in a namespace that is not theirs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from butler.api.admission import DESTINATION
from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.references import ALLOWED_NAMESPACES, serves
from butler.api.team import Team
from butler.controllers.cluster.acceptance import Refused, accept
from butler.engines.core import Secret
from kubekit.model.resource import ObjectMeta
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.clusters import cluster, provider, surroundings
from tests.controllers.requests_world import World

SYSTEM, MINE, THEIRS = "butler-system", "team-mine", "team-theirs"


@pytest.fixture
async def world(kubekit_loop: Loop) -> AsyncIterator[World]:
    made = World(kubekit_loop, MINE, THEIRS)
    made.start()
    yield made
    await made.end()


def meta(name: str, namespace: str, allowed: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "namespace": namespace}
    return found if allowed is None else {**found, "annotations": {ALLOWED_NAMESPACES: allowed}}


@pytest.mark.parametrize(
    ("where", "allowed", "holds"),
    [
        (MINE, "", True),
        (MINE, "somebody-else", True),
        (THEIRS, "", False),
        (THEIRS, "team-min", False),
        (THEIRS, "team-mine-too", False),
        (THEIRS, f"x,{MINE}", True),
        (THEIRS, f" x , {MINE} ", True),
        (THEIRS, "*", True),
        (THEIRS, "team-*", False),
        (THEIRS, ",,", False),
        (SYSTEM, "", False),
    ],
)
def test_an_object_serves_its_namespace_and_those_it_names(where: str, allowed: str, holds: bool) -> None:
    annotations = {ALLOWED_NAMESPACES: allowed} if allowed else {}
    assert serves(ObjectMeta(name="x", namespace=where, annotations=annotations), MINE) is holds


SECRETS = [
    (MINE, None, True),
    (THEIRS, None, False),
    (THEIRS, MINE, True),
    (THEIRS, "other", False),
    (SYSTEM, None, False),
]
"""Where a Secret is, what it allows, and whether a ProviderConfig in MINE gets it."""


@pytest.mark.parametrize(("where", "allowed", "gets"), SECRETS)
@pytest.mark.parametrize("place", ["spec", "section"])
async def test_a_provider_config_gets_a_secret_that_serves_its_namespace(
    world: World, where: str, allowed: str | None, gets: bool, place: str
) -> None:
    given = {"metadata": meta("login", where, allowed), "stringData": {"username": "canary"}}
    await world.client.create(given, Secret.address)
    reference = {"credentialsRef": {"name": "login", "namespace": where}}
    spec = {"provider": "external", "external": {"name": "example", **(reference if place == "section" else {})}}
    await world.client.create(
        {"metadata": meta("lab", MINE), "spec": {**spec, **(reference if place == "spec" else {})}},
        ProviderConfig.address,
    )
    await asyncio.sleep(1)
    assert ("canary" in world.credentials.values()) is gets


async def test_a_secret_without_a_namespace_is_beside_the_config_and_nowhere_else(world: World) -> None:
    await world.client.create({"metadata": meta("login", SYSTEM), "stringData": {"username": "canary"}}, Secret.address)
    spec = {"provider": "external", "external": {"name": "example"}, "credentialsRef": {"name": "login"}}
    await world.client.create({"metadata": meta("lab", MINE), "spec": spec}, ProviderConfig.address)
    await asyncio.sleep(1)
    assert world.credentials == {}


async def said_of(world: World, name: str, secret: dict[str, Any]) -> str:
    await world.client.create(
        {"metadata": meta(name, MINE), "spec": {"provider": "external", "external": {"name": "example"}, **secret}},
        ProviderConfig.address,
    )
    await asyncio.sleep(1)
    config: ProviderConfig = await world.client.get(ProviderConfig, name, MINE)
    return str([(one.type, one.status, one.reason, one.message) for one in config.status.conditions])


async def test_whether_there_is_a_secret_elsewhere_is_not_told(world: World) -> None:
    await world.client.create({"metadata": meta("login", THEIRS), "stringData": {"username": "canary"}}, Secret.address)
    there = await said_of(world, "there", {"credentialsRef": {"name": "login", "namespace": THEIRS}})
    absent = await said_of(world, "absent", {"credentialsRef": {"name": "nobody", "namespace": THEIRS}})
    assert "Secret login" in there
    assert there == absent.replace("nobody", "login")


async def test_a_grant_that_is_taken_back_ends_the_use(world: World) -> None:
    given = {"metadata": meta("login", THEIRS, MINE), "stringData": {"username": "canary"}}
    await world.client.create(given, Secret.address)
    reference = {"credentialsRef": {"name": "login", "namespace": THEIRS}}
    await said_of(world, "lab", reference)
    assert world.credentials["username"] == "canary"
    world.credentials = {}
    await world.client.patch(Secret, "login", {"metadata": {"annotations": {ALLOWED_NAMESPACES: None}}}, THEIRS)
    await asyncio.sleep(1)
    config: ProviderConfig = await world.client.get(ProviderConfig, "lab", MINE)
    assert config.status.ready is False
    assert world.credentials == {}


TEAM = {"scope": {"type": "team", "teamRef": {"name": "mine"}}}
OTHER_TEAM = {"scope": {"type": "team", "teamRef": {"name": "theirs"}}}
CONFIGS = [
    (MINE, {}, None, True),
    (SYSTEM, {}, None, True),
    (SYSTEM, TEAM, None, True),
    (SYSTEM, OTHER_TEAM, None, False),
    (THEIRS, {}, None, False),
    (THEIRS, {}, MINE, True),
    (THEIRS, {}, "*", True),
    (THEIRS, OTHER_TEAM, "*", False),
]
"""Where a ProviderConfig is, its scope, what it allows, and whether it serves a request of team `mine`."""

REQUESTS: dict[type[Any], dict[str, Any]] = {
    MachineRequest: {
        "machineName": "cp-0", "role": "control-plane", "cpu": 2, "memoryMB": 4096, "diskGB": 20,
    },
    LoadBalancerRequest: {"clusterName": "shop", "port": 6443, "targets": []},
    ImageSync: {"factoryRef": {"schematicID": "0" * 64, "version": "v1.9.0"}},
}  # fmt: skip


@pytest.mark.parametrize(("where", "scope", "allowed", "serves_it"), CONFIGS)
@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
async def test_a_request_gets_an_account_that_serves_its_namespace(
    world: World, kind: type[Any], where: str, scope: dict[str, Any], allowed: str | None, serves_it: bool
) -> None:
    await world.client.create({"metadata": {"name": "mine"}, "spec": {}}, Team.address)
    await world.client.patch(Team, "mine", {"status": {"namespace": MINE}}, subresource="status")
    spec = {"provider": "simulated", **scope}
    await world.client.create({"metadata": meta("lab", where, allowed), "spec": spec}, ProviderConfig.address)
    await asyncio.sleep(1)
    field = "providerRef" if kind is MachineRequest else "providerConfigRef"
    wanted = {**REQUESTS[kind], field: {"name": "lab", "namespace": where}}
    await world.client.create({"metadata": meta("one", MINE), "spec": wanted}, kind.address)
    await asyncio.sleep(5)
    status = (await world.client.get(kind, "one", MINE)).status
    if serves_it:
        # It was begun, whatever becomes of it.
        assert status.condition("Progressing") is not None
    else:
        assert status.condition("Progressing") is None
        ready = status.condition("Ready")
        assert ready.reason == "ProviderConfigError"
        assert ready.message.startswith(f"there is no ProviderConfig {where}/lab that serves namespace {MINE}")


async def test_whether_there_is_an_account_elsewhere_is_not_told(world: World) -> None:
    spec = {"provider": "simulated"}
    await world.client.create({"metadata": meta("somebody", THEIRS), "spec": spec}, ProviderConfig.address)
    said = []
    for name in ("somebody", "nobody"):
        wanted = {**REQUESTS[MachineRequest], "providerRef": {"name": name, "namespace": THEIRS}}
        await world.client.create({"metadata": meta(name, MINE), "spec": wanted}, MachineRequest.address)
        await asyncio.sleep(5)
        status = (await world.client.get(MachineRequest, name, MINE)).status
        said.append([(one.type, one.status, one.reason, one.message.replace(name, "")) for one in status.conditions])
    assert said[0] == said[1] != []


@pytest.mark.parametrize(
    ("where", "allowed", "holds"),
    [(MINE, None, True), (SYSTEM, None, True), (THEIRS, None, False), (THEIRS, MINE, True)],
)
def test_a_cluster_gets_an_account_that_serves_its_namespace(where: str, allowed: str | None, holds: bool) -> None:
    home = "butler-tenants"
    where, allowed = where.replace(MINE, home), allowed and allowed.replace(MINE, home)
    given = provider("lab")
    annotations = {} if allowed is None else {ALLOWED_NAMESPACES: allowed}
    given = msgspec.structs.replace(
        given, metadata=msgspec.structs.replace(given.metadata, namespace=where, annotations=annotations)
    )
    wanted = cluster(providerConfigRef={"name": "lab", "namespace": where})
    if holds:
        assert accept(wanted, surroundings(given)).provider.metadata.namespace == where
    else:
        with pytest.raises(Refused, match=r"Not found.*lab.*allow butler-tenants"):
            accept(wanted, surroundings(given))


@pytest.mark.parametrize(
    ("status", "generation", "holds"), [("True", 3, True), ("True", 2, False), ("False", 3, False)]
)
def test_cluster_api_is_pointed_to_a_secret_elsewhere_only_when_that_was_allowed(
    status: str, generation: int, holds: bool
) -> None:
    """It reads whatever Secret it is pointed to."""
    condition = {
        "type": "CredentialsValid",
        "status": status,
        "reason": "Said",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }
    given = msgspec.convert(
        {
            "metadata": {"name": "lab", "namespace": SYSTEM, "generation": 3},
            "spec": {
                "provider": "harvester",
                "harvester": {"networkName": "default/vms", "imageName": "default/talos"},
                "credentialsRef": {"name": "login", "namespace": THEIRS},
            },
            "status": {"observedGeneration": generation, "conditions": [condition]},
        },
        ProviderConfig,
    )
    wanted = cluster(providerConfigRef={"name": "lab"})
    if holds:
        assert accept(wanted, surroundings(given)).provider.metadata.name == "lab"
    else:
        with pytest.raises(Refused, match="has its Secret in another namespace, and is not ready"):
            accept(wanted, surroundings(given))


def test_every_field_that_says_where_credentials_go_is_guarded() -> None:
    """Also in sections that are still to be written: a field that is named or typed like these says where."""
    telling = ("endpoint", "url", "proxy", "insecure", "ca_bundle", "authority", "address", "port", "environment")
    for section in msgspec.structs.fields(ProviderConfigSpec):
        kind = next(
            (one for one in getattr(section.type, "__args__", ()) if isinstance(one, type) and one is not type(None)),
            None,
        )
        if kind is None or not issubclass(kind, msgspec.Struct) or "credentials_ref" not in kind.__struct_fields__:
            continue
        names = [
            one.encode_name
            for one in msgspec.structs.fields(kind)
            if any(one.name == word or one.name.endswith(f"_{word}") for word in telling)
        ]
        guarded = DESTINATION[section.encode_name]
        assert set(names) <= {*guarded}, section.encode_name
