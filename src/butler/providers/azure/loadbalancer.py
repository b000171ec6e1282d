"""Load balancers of Azure: a Standard one each, with machines behind it by their address."""

from __future__ import annotations

from butler.errors import MachineRejected

from ..contract import NOTHING_KNOWN, Known, Provider
from ..loadbalancer import Balancer, BalancerOrder, BalancerTarget
from .api import COMPUTE, NETWORK, Object, ended, state_of, task_of
from .provider import Azure
from .section import NAME, Settings
from .vm import SCHEME, machine, part, tags, token_of

_FRONTEND, _POOL, _PROBE, _RULE = "frontend", "machines", "alive", "api"
_IDLE_MINUTES = 30


def connect(provider: Provider) -> AzureLoadBalancers:
    assert isinstance(provider, Azure)
    return AzureLoadBalancers(provider)


class AzureLoadBalancers:
    """Load balancers of one resource group."""

    def __init__(self, account: Azure) -> None:
        self._account, self._arm, self._settings = account, account.arm, account.settings

    async def ensure(self, order: BalancerOrder, known: Known = NOTHING_KNOWN) -> Balancer:
        operation = await self._arm.operation(known.task, order.name)
        if operation.error is not None:
            raise ended(order.name, operation.error)
        if operation.is_running:
            return _coming(order, known.task)
        address, task = await self._address(order)
        found, task = (None, task) if task else await self._balancer(order, address)
        if found is None or state_of(found) != "Succeeded":
            return _coming(order, task)
        wanted = sorted({await self._target(order, one) for one in order.targets})
        if sorted(_registered(found)) != wanted:
            return _coming(order, await self._register(order, wanted))
        frontend = address or found["properties"]["frontendIPConfigurations"][0]
        endpoint = frontend["properties"].get("ipAddress") or frontend["properties"].get("privateIPAddress") or ""
        return Balancer(found["id"], order.name, order.token, endpoint, len(wanted), is_ready=bool(endpoint))

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        # An address goes only when nothing uses it.
        return not await self._removed(self._path(name, token), name, token) and not await self._removed(
            self._address_path(name, token), name, token
        )

    async def _address(self, order: BalancerOrder) -> tuple[Object | None, str]:
        """The public address, or the operation that makes it; neither for one of the subnet."""
        if self._settings.is_internal:
            return None, ""
        path = self._address_path(order.name, order.token)
        found = await self._arm.get(path, NETWORK, order.name)
        if found is None or state_of(found) == "Failed":
            reply = await self._arm.put(path, NETWORK, order.name, address_body(self._settings, order))
            return None, task_of(reply)
        return found, ""

    async def _balancer(self, order: BalancerOrder, address: Object | None) -> tuple[Object | None, str]:
        """The load balancer, or the operation that makes or changes it."""
        if address is not None and state_of(address) != "Succeeded":
            return None, ""
        path = self._path(order.name, order.token)
        found = await self._arm.get(path, NETWORK, order.name)
        wanted = balancer_body(self._settings, order, path, address)
        if found is not None and state_of(found) != "Failed" and _outline(found) == _outline(wanted):
            return found, ""
        if found is not None:
            pool = {"loadBalancerBackendAddresses": _pool(self._settings, _registered(found))}
            wanted["properties"]["backendAddressPools"][0]["properties"] = pool
        return None, task_of(await self._arm.put(path, NETWORK, order.name, wanted))

    async def _register(self, order: BalancerOrder, addresses: list[str]) -> str:
        path = f"{self._path(order.name, order.token)}/backendAddressPools/{_POOL}"
        body = {"properties": {"loadBalancerBackendAddresses": _pool(self._settings, addresses)}}
        return task_of(await self._arm.put(path, NETWORK, order.name, body))

    async def _target(self, order: BalancerOrder, target: BalancerTarget) -> str:
        """The address of a machine. Raises MachineRejected when it has none."""
        if target.address:
            return target.address
        path = target.id.removeprefix(SCHEME) or self._settings.compute("virtualMachines", target.name)
        vm = await self._arm.get(path, COMPUTE, order.name)
        nics = await self._account.nics_of(vm, order.name) if vm is not None else []
        if vm is None or not (found := machine(vm, nics).addresses):
            raise MachineRejected(NAME, order.name, f"target {target.id or target.name} has no address in Azure")
        return found[0]

    async def _removed(self, path: str, name: str, token: str) -> bool:
        """Asks for its end; answers whether there was one."""
        found = await self._arm.get(path, NETWORK, name)
        if found is None or token_of(found) != token:
            return False
        if state_of(found) != "Deleting":
            await self._arm.delete(path, NETWORK, name)
        return True

    def _path(self, name: str, token: str) -> str:
        return self._settings.network("loadBalancers", part(name, token, "lb"))

    def _address_path(self, name: str, token: str) -> str:
        return self._settings.network("publicIPAddresses", part(name, token, "ip"))


def address_body(settings: Settings, order: BalancerOrder) -> Object:
    return {
        "location": settings.location,
        "tags": tags(order.token, {}),
        "sku": {"name": "Standard"},
        "properties": {"publicIPAllocationMethod": "Static", "publicIPAddressVersion": "IPv4"},
    }


def balancer_body(settings: Settings, order: BalancerOrder, path: str, address: Object | None) -> Object:
    """A load balancer with nobody behind it yet."""
    inside = {"subnet": {"id": settings.subnet}, "privateIPAllocationMethod": "Dynamic"}
    frontend = {"publicIPAddress": {"id": address["id"]}} if address else inside
    probe = {"protocol": "Tcp", "port": order.health_check_port, "intervalInSeconds": 5, "probeThreshold": 2}
    rule = {
        "frontendIPConfiguration": {"id": f"{path}/frontendIPConfigurations/{_FRONTEND}"},
        "backendAddressPool": {"id": f"{path}/backendAddressPools/{_POOL}"},
        "probe": {"id": f"{path}/probes/{_PROBE}"},
        "protocol": "Tcp",
        "frontendPort": order.port,
        "backendPort": order.port,
        "idleTimeoutInMinutes": _IDLE_MINUTES,
        "enableTcpReset": True,
    }
    return {
        "location": settings.location,
        "tags": tags(order.token, {}),
        "sku": {"name": "Standard"},
        "properties": {
            "frontendIPConfigurations": [{"name": _FRONTEND, "properties": frontend}],
            "backendAddressPools": [{"name": _POOL}],
            "probes": [{"name": _PROBE, "properties": probe}],
            "loadBalancingRules": [{"name": _RULE, "properties": rule}],
        },
    }


def _pool(settings: Settings, addresses: list[str]) -> list[Object]:
    network = {"virtualNetwork": {"id": settings.vnet}}
    return [{"name": one, "properties": {**network, "ipAddress": one}} for one in addresses]


def _registered(balancer: Object) -> list[str]:
    pools = [one.get("properties") or {} for one in balancer["properties"]["backendAddressPools"]]
    members = [one for pool in pools for one in pool.get("loadBalancerBackendAddresses") or ()]
    return [one["properties"]["ipAddress"] for one in members if one["properties"].get("ipAddress")]


def _outline(balancer: Object) -> tuple[object, ...]:
    """What an order decides about a load balancer, besides who is behind it."""
    facts = balancer["properties"]
    rules = [one["properties"] for one in facts["loadBalancingRules"]]
    frontends = [one["properties"].get("publicIPAddress") or {"id": ""} for one in facts["frontendIPConfigurations"]]
    return (
        [(one["frontendPort"], one["backendPort"]) for one in rules],
        [one["properties"]["port"] for one in facts["probes"]],
        [one["id"].lower() for one in frontends],
    )


def _coming(order: BalancerOrder, task: str) -> Balancer:
    return Balancer("", order.name, order.token, task=task)
