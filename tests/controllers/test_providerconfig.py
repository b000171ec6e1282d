"""ProviderConfigs: whether they can be used, and that they stay while they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, cast

import pytest

from butler.api.cluster import TenantCluster, TenantClusterSpec
from butler.api.config import ButlerConfig
from butler.api.network import NetworkPool
from butler.api.provider import ProviderConfig
from butler.api.shared import ProviderRef, ProviderType
from butler.controllers.accounts import Accounts
from butler.controllers.providerconfig import FINALIZER, add_provider_configs
from butler.engines.core import Secret
from butler.errors import CredentialsInvalid, ProviderUnavailable
from butler.providers import registry
from butler.providers.contract import Check, Provider, Surroundings
from butler.providers.simulated.datacentre import DataCentre
from kubekit.errors import NotFound
from kubekit.model.resource import ObjectMeta
from kubekit.runtime.manager import Manager
from kubekit.server.store.events import Event
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace
from tests.controllers.requests_world import KINDS

SYSTEM, TENANTS = "butler-system", "butler-tenants"


class Scripted:
    """Another provider: answers what the test says."""

    name = "scripted"

    def __init__(self, answer: Callable[[], tuple[Check, ...]]) -> None:
        self._answer = answer

    async def check(self) -> tuple[Check, ...]:
        return self._answer()

    async def close(self) -> None:
        """There is nothing to give back."""


class World:
    """An API in memory with the controller on it."""

    def __init__(self, loop: Loop) -> None:
        self.space = MemorySpace(loop.clock, loop.chance, kinds=KINDS, namespaces=(SYSTEM, TENANTS))
        self.client = self.space.client()
        self.writes = 0
        self.space.store.listen(self._count)
        self.datacentre = DataCentre(clock=loop.clock, chance=loop.chance)
        self.credentials: Mapping[str, str] = {}
        self.answer: Callable[[], tuple[Check, ...]] | None = None
        manager = Manager(self.client, clock=loop.clock, chance=loop.chance)
        surroundings = Surroundings(loop.clock, loop.chance, self.datacentre)
        add_provider_configs(manager, Accounts(manager, surroundings, self._connect))
        self._task = asyncio.create_task(manager.run())

    def _count(self, event: Event) -> None:
        self.writes += not self.space.store.names_of(event.bucket)[1].endswith("events")

    def _connect(self, config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Provider:
        self.credentials = credentials
        if self.answer is not None:
            return cast(Provider, Scripted(lambda: self.answer() if self.answer is not None else ()))
        return registry.connect(config, credentials, surroundings)

    async def config(self, name: str = "simulated", **spec: Any) -> ProviderConfig:
        """Create one, and what it is a second later."""
        wanted = {"metadata": {"name": name, "namespace": SYSTEM}, "spec": {"provider": "simulated", **spec}}
        await self.client.create(wanted, ProviderConfig.address)
        await asyncio.sleep(1)
        return await self.now(name)

    async def now(self, name: str = "simulated") -> ProviderConfig:
        found: ProviderConfig = await self.client.get(ProviderConfig, name, SYSTEM)
        return found

    async def cluster(self, name: str, provider: str | None) -> None:
        spec = TenantClusterSpec(provider_config_ref=ProviderRef(name=provider) if provider else None)
        await self.client.create(TenantCluster(metadata=ObjectMeta(name=name, namespace=TENANTS), spec=spec))

    async def end(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self.datacentre.close()


@pytest.fixture
async def world(kubekit_loop: Loop) -> AsyncIterator[World]:
    made = World(kubekit_loop)
    yield made
    await made.end()


def shown(config: ProviderConfig, name: str) -> tuple[str, str, str]:
    found = config.status.condition(name)
    assert found is not None
    return found.status, found.reason, found.message


async def test_a_simulated_provider_is_ready_and_then_left_alone(world: World) -> None:
    config = await world.config()
    assert (config.status.ready, config.status.validated) == (True, True)
    assert config.status.provider is not None
    assert config.status.provider.value == "simulated"
    assert config.metadata.finalizers == (FINALIZER,)
    assert shown(config, "Ready") == ("True", "Ready", "The provider can be used.")
    assert shown(config, "CredentialsValid")[:2] == ("True", "Ready")
    writes = world.writes
    await asyncio.sleep(24 * 3600)
    assert world.writes == writes


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            {"simulated": {"bootDelay": "soon"}},
            "spec.simulated.bootDelay: 'soon' is not a duration such as 4h or 1h30m",
        ),
        (
            {"provider": "local", "credentialsRef": {"name": "login"}},
            "spec.provider: no provider 'local'; there are: ",
        ),
    ],
)
async def test_what_cannot_be_meant_is_said_by_field_until_it_is_put_right(
    world: World, spec: dict[str, Any], said: str
) -> None:
    await world.client.create({"metadata": {"name": "login", "namespace": SYSTEM}, "type": "Opaque"}, Secret.address)
    config = await world.config(**spec)
    status, reason, message = shown(config, "Ready")
    assert (config.status.ready, status, reason) == (False, "False", "InvalidConfiguration")
    assert said in message
    assert shown(config, "CredentialsValid")[0] == "Unknown"
    better = {"provider": "simulated", "simulated": None, "scope": None, "credentialsRef": None}
    await world.client.patch(ProviderConfig, "simulated", {"spec": better}, SYSTEM)
    await asyncio.sleep(1)
    assert (await world.now()).status.ready is True


async def test_what_applies_is_shown_whether_it_is_written_or_not(world: World) -> None:
    status = (await world.config()).status
    assert (status.provider, status.scope, status.network_mode) == (ProviderType.SIMULATED, "platform", "cloud")
    pools = {"mode": "ipam", "poolRefs": [{"name": "a"}]}
    scope = {"type": "team", "teamRef": {"name": "a"}}
    status = (await world.config("other", provider=None, type="simulated", network=pools, scope=scope)).status
    assert (status.provider, status.scope, status.network_mode) == (ProviderType.SIMULATED, "team", "ipam")


async def test_the_time_of_a_probe_moves_with_it_and_not_with_every_visit(world: World) -> None:
    world.answer = lambda: ()
    secret = {"metadata": {"name": "login", "namespace": SYSTEM}, "stringData": {"username": "joe"}}
    await world.client.create(secret, Secret.address)
    network = {"mode": "ipam", "poolRefs": [{"name": "a"}]}
    first = (await world.config(credentialsRef={"name": "login"}, network=network)).status
    assert first.last_probe_time is not None
    assert first.last_probe_time == first.last_validation_time
    pool = {"metadata": {"name": "a", "namespace": SYSTEM}, "spec": {"cidr": "10.0.0.0/24"}}
    await world.client.create(pool, NetworkPool.address)
    for free in range(10):
        await world.client.patch(NetworkPool, "a", {"status": {"availableIPs": free}}, SYSTEM, subresource="status")
        await asyncio.sleep(10)
    assert (await world.now()).status.last_probe_time == first.last_probe_time
    await asyncio.sleep(300)
    later = (await world.now()).status
    assert later.last_probe_time is not None
    assert later.last_probe_time - first.last_probe_time >= timedelta(minutes=5)
    assert later.last_validation_time == later.last_probe_time
    writes = world.writes
    await asyncio.sleep(3600)
    assert 11 <= world.writes - writes <= 13


async def test_a_probe_that_fails_is_one_and_a_missing_secret_is_none(world: World) -> None:
    def unreachable() -> tuple[Check, ...]:
        raise ProviderUnavailable("scripted", "", "no answer")

    world.answer = unreachable
    config = await world.config(credentialsRef={"name": "login"})
    assert (config.status.last_probe_time, config.status.last_validation_time) == (None, None)
    secret = {"metadata": {"name": "login", "namespace": SYSTEM}, "stringData": {"username": "joe"}}
    await world.client.create(secret, Secret.address)
    await asyncio.sleep(30)
    status = (await world.now()).status
    assert status.last_probe_time is not None
    assert status.last_validation_time is None


async def test_a_check_that_fails_is_shown_with_its_remedy(world: World) -> None:
    config = await world.config(simulated={"capacity": 0})
    assert shown(config, "Ready") == (
        "False",
        "ValidationFailed",
        "capacity: 0 of 0 machines Raise spec.simulated.capacity.",
    )
    assert config.status.validated is True


async def test_credentials_come_from_the_secret_and_a_missing_one_is_named(world: World) -> None:
    world.answer = lambda: ()
    config = await world.config(credentialsRef={"name": "login"})
    assert shown(config, "CredentialsValid")[:2] == ("False", "CredentialsInvalid")
    assert "no Secret login in namespace butler-system" in shown(config, "Ready")[2]
    secret = {"metadata": {"name": "login", "namespace": SYSTEM}, "data": {"username": "am9l"}}
    await world.client.create(secret, Secret.address)
    change = {"spec": {"provider": "proxmox", "proxmox": {"endpoint": "https://pve", "nodes": ["a"], "storage": "b"}}}
    await world.client.patch(ProviderConfig, "simulated", change, SYSTEM)
    await asyncio.sleep(1)
    assert shown(await world.now(), "CredentialsValid")[:2] == ("True", "Ready")
    assert world.credentials == {"username": "joe"}


async def test_an_outage_is_shown_and_gets_over_by_itself(world: World) -> None:
    def unreachable() -> tuple[Check, ...]:
        raise ProviderUnavailable("scripted", "", "no answer")

    def refused() -> tuple[Check, ...]:
        raise CredentialsInvalid("scripted", "", "401")

    world.answer = unreachable
    config = await world.config(credentialsRef={"name": "login"})
    await world.client.create({"metadata": {"name": "login", "namespace": SYSTEM}}, Secret.address)
    await asyncio.sleep(400)
    config = await world.now()
    assert shown(config, "Ready")[:2] == ("False", "ProviderUnavailable")
    assert shown(config, "CredentialsValid")[0] == "Unknown"
    world.answer = refused
    await asyncio.sleep(2000)
    assert shown(await world.now(), "CredentialsValid")[:2] == ("False", "CredentialsInvalid")
    world.answer = lambda: ()
    await asyncio.sleep(400)
    assert (await world.now()).status.ready is True


async def test_a_provider_config_stays_while_a_cluster_uses_it_and_names_it(world: World) -> None:
    await world.config()
    await world.config("other")
    await world.cluster("shop", "simulated")
    await world.cluster("elsewhere", "other")
    await world.client.delete(ProviderConfig, "simulated", SYSTEM)
    await asyncio.sleep(1)
    config = await world.now()
    assert shown(config, "Deleting") == (
        "True",
        "InUse",
        "Used by TenantCluster butler-tenants/shop; it goes when they are gone or have another provider.",
    )
    assert config.status.ready is False
    writes = world.writes
    await asyncio.sleep(24 * 3600)
    assert world.writes == writes
    await world.client.delete(TenantCluster, "shop", TENANTS)
    await asyncio.sleep(1)
    with pytest.raises(NotFound):
        await world.now()


async def test_a_cluster_that_names_no_provider_uses_the_platforms(world: World) -> None:
    await world.config()
    default = {"defaultProviderConfigRef": {"name": "simulated"}}
    await world.client.create({"metadata": {"name": "butler"}, "spec": default}, ButlerConfig.address)
    await world.cluster("shop", None)
    await asyncio.sleep(1)
    await world.client.delete(ProviderConfig, "simulated", SYSTEM)
    await asyncio.sleep(1)
    assert "butler-tenants/shop" in shown(await world.now(), "Deleting")[2]


async def test_an_unused_provider_config_goes_at_once(world: World) -> None:
    await world.config()
    await world.client.delete(ProviderConfig, "simulated", SYSTEM)
    await asyncio.sleep(1)
    with pytest.raises(NotFound):
        await world.now()
