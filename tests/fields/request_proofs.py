"""The fields that controllers read, proven on an API in memory: requests to providers, and accounts as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from butler.api.config import ButlerConfig
from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.api.network import NetworkPool
from butler.api.provider import ProviderConfig
from butler.engines.core import Secret
from butler.providers.contract import NOTHING_KNOWN, Check, Known, Machine, MachineOrder, Power
from kubekit.errors import Invalid
from kubekit.testing.deterministic_loop import Loop
from tests.api.documents import SECTIONS
from tests.controllers.requests_world import SYSTEM, World
from tests.fields.infrastructures import ABSENT, put
from tests.fields.proof import Proof, in_virtual_time

ELSEWHERE = "elsewhere"
_KINDS = (ProviderConfig, MachineRequest, LoadBalancerRequest, ImageSync)
_FACTS = ("phase", "ready", "validated", "provider", "scope", "networkMode", "capacity", "ipAddress", "endpoint",
          "registeredTargets", "providerImageRef", "artifactURL", "failureReason", "failureMessage")  # fmt: skip


class Listening:
    """A provider that takes every order, and remembers it."""

    name, settles_in = "listening", 0.0

    def __init__(self, orders: list[MachineOrder]) -> None:
        self._orders = orders

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        self._orders.append(order)
        return Machine("listening://1", order.name, order.token, Power.RUNNING, ("10.0.0.9",))

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        return Machine("listening://1", name, token, Power.RUNNING, ("10.0.0.9",))

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        return True

    async def check(self) -> tuple[Check, ...]:
        return ()

    async def close(self) -> None:
        """There is nothing to give back."""


async def _told(world: World) -> list[object]:
    """What the objects say of themselves, without times."""
    told: list[object] = []
    for kind in _KINDS:
        for one in (await world.client.list(kind.address)).items:
            status = one.get("status") or {}
            conditions = [(each["type"], each["status"], each["reason"]) for each in status.get("conditions", ())]
            told.append((one["metadata"]["name"], [status.get(name) for name in _FACTS], conditions))
    return told


Given = Callable[[World], Awaitable[None]]


async def _seen(given: Given, *, moments: tuple[float, ...] = (30.0,), listens: bool = False) -> object:
    """What happened in a world in which something was asked for, as it was at some moments."""

    async def main(loop: Loop) -> object:
        world, orders, seen = World(loop, ELSEWHERE), list[MachineOrder](), list[object]()
        world.by_chance = True
        if listens:
            world.instead = lambda: Listening(orders)  # type: ignore[assignment]
        world.start()
        try:
            await given(world)
        except Invalid as refused:
            seen.append(str(refused))
        for moment in moments:
            await asyncio.sleep(moment)
            things = [(one.name, one.content) for one in world.datacentre.shelf.of_account(f"{SYSTEM}/lab")]
            seen += [await _told(world), things, len(world.datacentre.machines()), world.refusals]
        asked = [(one, one.user_data, one.network_data) for one in orders]
        seen += [str(asked), dict(world.credentials), world.verbs]
        await world.end()
        return seen

    return await in_virtual_time(main)


def _made(base: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """An object with one field, given by its path below spec, at a value."""
    spec: dict[str, Any] = {}
    for name, given in {**base, path: value}.items():
        put(spec, name, given)
    return {"metadata": {"name": "one", "namespace": SYSTEM}, "spec": spec}


def account(path: str, one: Any, other: Any, base: Mapping[str, Any] | None = None, **how: Any) -> Proof:
    """A field of a ProviderConfig; with machines on it unless that is no use."""

    async def observe(value: Any) -> object:
        async def given(world: World) -> None:
            await _secrets(world)
            for name, free in (("main", 260), ("spare", 26)):
                pool = {"metadata": {"name": name, "namespace": SYSTEM}, "spec": {"cidr": "10.0.0.0/16"}}
                await world.client.create(pool, NetworkPool.address)
                await world.client.patch(
                    NetworkPool, name, {"status": {"availableIPs": free}}, SYSTEM, subresource="status"
                )
            wanted = _made({"provider": "simulated", **(base or {})}, path, value)
            wanted["metadata"]["name"] = "lab"
            await world.client.create(wanted, ProviderConfig.address)
            for name in ("a", "b"):
                await world.machine(name)
            if how.get("removed"):
                await asyncio.sleep(60)
                await world.remove(MachineRequest, "a")

        moments = how.get("moments", (1.0, 4.0, 30.0))
        return await _seen(given, moments=moments, listens=how.get("listens", False))

    return Proof(observe, one, other)


_KEYS = ("kubeconfig", "username", "token", "clientID", "accessKeyID", "serviceAccountKey")


async def _secrets(world: World) -> None:
    for name, value in (("login", "a"), ("other", "b")):
        data = {**dict.fromkeys(_KEYS, value), "mine": f"mine {value}"}
        await world.client.create({"metadata": {"name": name, "namespace": SYSTEM}, "stringData": data}, Secret.address)


def _simulated(name: str, one: Any, other: Any, base: Mapping[str, Any] | None = None, **how: Any) -> Proof:
    return account(f"simulated.{name}", one, other, {f"simulated.{key}": value for key, value in (base or {}).items()},
                    **how)  # fmt: skip


def _reference(kind: str, place: str, leaf: str, one: Any, other: Any) -> Proof:
    base = {"provider": kind, kind: SECTIONS[kind], f"{place}credentialsRef": {"name": "login"}}
    return account(f"{place}credentialsRef.{leaf}", one, other, base, listens=True)


def _references() -> dict[str, Proof]:
    made = {}
    for kind, place in [("harvester", ""), *((kind, f"{kind}.") for kind in SECTIONS)]:
        for leaf, one, other in (("name", "login", "other"), ("namespace", SYSTEM, ELSEWHERE), ("key", ABSENT, "mine")):
            made[f"ProviderConfig.spec.{place}credentialsRef.{leaf}"] = _reference(kind, place, leaf, one, other)
    return made


ACCOUNTS: dict[str, Proof] = {
    "provider": account("provider", "simulated", "external"),
    "type": account("type", "simulated", "external", {"provider": ABSENT}),
    "external.name": account("external.name", "tinycloud", "other", {"provider": "external"}),
    "network.mode": account("network.mode", "cloud", "ipam"),
    "network.poolRefs[].name": account(
        "network.poolRefs", [{"name": "main"}], [{"name": "spare"}], {"network.mode": "ipam"}
    ),
    "network.loadBalancer.defaultPoolSize": account(
        "network.loadBalancer.defaultPoolSize", 8, 21, {"network": {"mode": "ipam", "poolRefs": [{"name": "main"}]}}
    ),
    "simulated.network": _simulated("network", "172.16.0.0/12", "10.0.0.0/24"),
    "simulated.capacity": _simulated("capacity", 2, 1),
    "simulated.capacityCPU": _simulated("capacityCPU", 4, 3),
    "simulated.capacityMemoryMB": _simulated("capacityMemoryMB", 8192, 8191),
    "simulated.bootDelay": _simulated("bootDelay", "0s", "20s"),
    "simulated.removalDelay": _simulated("removalDelay", "1s", "50s", removed=True),
    "simulated.callDelay": _simulated("callDelay", "0s", "7s"),
    "simulated.visibilityDelay": _simulated("visibilityDelay", "0s", "20s"),
    "simulated.rateLimit": _simulated("rateLimit", ABSENT, 1),
    "simulated.failurePercent": _simulated("failurePercent", 0, 100),
    "simulated.lostAnswerPercent": _simulated("lostAnswerPercent", 0, 100),
    "simulated.repeatedPercent": _simulated("repeatedPercent", 0, 100, {"ignoresTokens": True}),
    "simulated.ignoresTokens": _simulated("ignoresTokens", False, True, {"repeatedPercent": 100}),
    "simulated.stuckPercent": _simulated("stuckPercent", 0, 100),
    "simulated.lostPercent": _simulated("lostPercent", 0, 100, moments=(1200.0,)),
    "simulated.lostAfter": _simulated("lostAfter", "10m", "2h", {"lostPercent": 100}, moments=(1200.0,)),
}

_MACHINE = {
    "providerRef": {"name": "lab"}, "machineName": "web", "role": "worker", "cpu": 2, "memoryMB": 4096, "diskGB": 20,
}  # fmt: skip
_BALANCER = {"clusterName": "shop", "providerConfigRef": {"name": "lab"}}
_IMAGE = {
    "factoryRef": {"schematicID": "376567988ad37013", "version": "v1.9.0"}, "providerConfigRef": {"name": "lab"},
}  # fmt: skip


def _request(kind: type[Any], usual: Mapping[str, Any], path: str, one: Any, other: Any, **base: Any) -> Proof:
    async def observe(value: Any) -> object:
        async def given(world: World) -> None:
            spec = {"imageFactory": {"url": "https://factory.example.com/"}}
            await world.client.create({"metadata": {"name": "butler"}, "spec": spec}, ButlerConfig.address)
            await world.config(simulated={"bootDelay": "0s"})
            await world.config("spare", simulated={"bootDelay": "0s"})
            wanted = _made({**usual, **base}, path, value)
            await world.client.create(wanted, kind.address)

        return await _seen(given, listens=kind is MachineRequest)

    return Proof(observe, one, other)


def _machine(path: str, one: Any, other: Any, **base: Any) -> Proof:
    return _request(MachineRequest, _MACHINE, path, one, other, **base)


def _balancer(path: str, one: Any, other: Any) -> Proof:
    return _request(LoadBalancerRequest, _BALANCER, path, one, other)


def _image(path: str, one: Any, other: Any) -> Proof:
    return _request(ImageSync, _IMAGE, path, one, other)


MACHINES = {
    "providerRef.name": _machine("providerRef.name", "lab", "none"),
    "providerRef.namespace": _machine("providerRef.namespace", SYSTEM, ELSEWHERE),
    "providerConfigRef.name": _machine("providerConfigRef.name", "lab", "none", providerRef=ABSENT),
    "providerConfigRef.namespace": _machine(
        "providerConfigRef.namespace", SYSTEM, ELSEWHERE, providerRef=ABSENT, providerConfigRef={"name": "lab"}
    ),
    "machineName": _machine("machineName", "web", "other"),
    "role": _machine("role", "worker", "control-plane"),
    "cpu": _machine("cpu", 2, 4),
    "memoryMB": _machine("memoryMB", 4096, 8192),
    "diskGB": _machine("diskGB", 20, 40),
    "resources.cpu": _machine("resources.cpu", "2", "4", cpu=ABSENT),
    "resources.memory": _machine("resources.memory", "4Gi", "8Gi", memoryMB=ABSENT),
    "resources.disk": _machine("resources.disk", "20Gi", "40Gi", diskGB=ABSENT),
    "extraDisks[].sizeGB": _machine("extraDisks", [{"sizeGB": 10}], [{"sizeGB": 20}]),
    "extraDisks[].storageClass": _machine("extraDisks", [{"sizeGB": 10}], [{"sizeGB": 10, "storageClass": "fast"}]),
    "image": _machine("image", ABSENT, "talos"),
    "labels": _machine("labels", ABSENT, {"rack": "a"}),
    "userData": _machine("userData", ABSENT, "#cloud-config\n"),
    "networkData": _machine("networkData", ABSENT, "version: 2\n"),
}
BALANCERS = {
    "clusterName": _balancer("clusterName", "shop", "other"),
    "providerConfigRef.name": _balancer("providerConfigRef.name", "lab", "none"),
    "providerConfigRef.namespace": _balancer("providerConfigRef.namespace", SYSTEM, ELSEWHERE),
    "port": _balancer("port", 6443, 443),
    "healthCheckPort": _balancer("healthCheckPort", ABSENT, 8080),
    "targets[].instanceID": _balancer("targets", [{"instanceID": "i-1"}], [{"instanceID": "i-2"}]),
    "targets[].instanceName": _balancer("targets", [{"instanceName": "a"}], [{"instanceName": "b"}]),
    "targets[].ip": _balancer("targets", [{"ip": "10.0.0.1"}], [{"ip": "10.0.0.2"}]),
}
IMAGES = {
    "factoryRef.schematicID": _image("factoryRef.schematicID", "376567988ad37013", "876567988ad37013"),
    "factoryRef.version": _image("factoryRef.version", "v1.9.0", "v1.9.1"),
    "factoryRef.arch": _image("factoryRef.arch", "amd64", "arm64"),
    "factoryRef.platform": _image("factoryRef.platform", "nocloud", "metal"),
    "providerConfigRef.name": _image("providerConfigRef.name", "lab", "none"),
    "providerConfigRef.namespace": _image("providerConfigRef.namespace", SYSTEM, ELSEWHERE),
    "displayName": _image("displayName", ABSENT, "talos"),
    "format": _image("format", "qcow2", "raw"),
    "transferMode": _image("transferMode", "direct", "proxy"),
}
REQUEST_PROOFS: dict[str, Proof] = {
    **_references(),
    **{f"ProviderConfig.spec.{path}": proof for path, proof in ACCOUNTS.items()},
    **{f"MachineRequest.spec.{path}": proof for path, proof in MACHINES.items()},
    **{f"LoadBalancerRequest.spec.{path}": proof for path, proof in BALANCERS.items()},
    **{f"ImageSync.spec.{path}": proof for path, proof in IMAGES.items()},
}
