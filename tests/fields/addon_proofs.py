"""Fields of addons: what is installed, where and with what, and what else is said of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from butler.api.addon import ManagementAddon
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.addons_world import World, running
from tests.fields.cluster_world import put
from tests.fields.proof import Observe, Proof, in_virtual_time

CHART = {"repository": "https://charts.example.com", "chart": "shop", "releaseName": "shop", "namespace": "shop"}
FROM = [{"secretRef": {"name": "one"}, "key": "values.yaml"}]


def of_tenant_addon(path: str, **spec: Any) -> Observe:
    """What comes of a TenantAddon with the field at this value, beside others it may name."""

    async def observe(value: Any) -> object:
        async def live(loop: Loop) -> object:
            world = await _world(loop)
            wanted = deepcopy({"clusterRef": {"name": "shop"}, **spec})
            put(wanted, path.split("."), value)
            await world.ask("", name="it", **wanted)
            await asyncio.sleep(60)
            seen = await _seen(world), await world.reason("it")
            await world.crash()
            return seen

        return await in_virtual_time(live)

    return observe


def of_management_addon(field: str) -> Observe:
    async def observe(value: Any) -> object:
        async def live(loop: Loop) -> object:
            world = await _world(loop)
            spec = {"addon": "grafana", field: value}
            await world.client.create({"metadata": {"name": "it"}, "spec": spec}, ManagementAddon.address)
            await asyncio.sleep(60)
            seen = await _seen(world)
            await world.crash()
            return seen

        return await in_virtual_time(live)

    return observe


async def _world(loop: Loop) -> World:
    world = World(loop)
    world.start()
    await world.cluster()
    await world.cluster("other", status=running(workers=1, ready=0))
    for name in ("grafana", "loki", "broken"):
        await world.define(name)
    for name in ("one", "two"):
        await world.secret(name, **{"values.yaml": f"from: {name}", "other.yaml": "from: elsewhere"})
    world.installer.fails["broken"] = "it never works"
    await world.ask("broken")
    await world.ask("loki")
    await asyncio.sleep(5)
    return world


async def _seen(world: World) -> list[object]:
    found = [one.addon for one in world.installer.releases.values()]
    return [
        (one.place, one.release.chart, dict(one.release.values), one.release.create_namespace, one.credentials)
        for one in found
    ]


_TENANT, _MANAGEMENT = "TenantAddon.spec", "ManagementAddon.spec"
_CATALOGUE: Mapping[str, Any] = {"addon": "grafana"}
_OWN: Mapping[str, Any] = {"helm": CHART, "version": "1.0.0"}
_VALUES: tuple[tuple[str, Mapping[str, Any], Any, Any], ...] = (
    ("clusterRef.name", _CATALOGUE, "shop", "other"),
    ("addon", {}, "grafana", "missing"),
    ("helm.repository", _OWN, "https://charts.example.com", "https://more.example.com"),
    ("helm.chart", _OWN, "one", "two"),
    ("helm.releaseName", _OWN, "one", "two"),
    ("helm.namespace", _OWN, "one", "two"),
    ("helm.createNamespace", _OWN, True, False),
    ("helm.credentialsRef.name", _OWN, "one", "two"),
    ("helm.digest", _OWN, f"sha256:{'0' * 64}", f"sha256:{'1' * 64}"),
    ("version", _CATALOGUE, "1.0.0", "2.0.0"),
    ("values", _CATALOGUE, {"a": 1}, {"a": 2}),
    ("valuesFrom[].secretRef.name", {**_CATALOGUE, "valuesFrom": FROM}, "one", "two"),
    ("valuesFrom[].key", {**_CATALOGUE, "valuesFrom": FROM}, "values.yaml", "other.yaml"),
    ("dependsOn[].name", {**_CATALOGUE, "dependsOn": [{"name": "loki"}]}, "loki", "broken"),
)
PROOFS: dict[str, Proof] = {
    **{f"{_TENANT}.{path}": Proof(of_tenant_addon(path, **spec), one, other) for path, spec, one, other in _VALUES},
    f"{_MANAGEMENT}.addon": Proof(of_management_addon("addon"), "grafana", "loki"),
    f"{_MANAGEMENT}.version": Proof(of_management_addon("version"), "1.0.0", "2.0.0"),
    f"{_MANAGEMENT}.values": Proof(of_management_addon("values"), {"a": 1}, {"a": 2}),
    f"{_MANAGEMENT}.paused": Proof(of_management_addon("paused"), False, True),
}
