"""Network cards, addresses and load balancers of the fake Azure."""

from __future__ import annotations

from copy import deepcopy
from ipaddress import ip_address, ip_network

from tests.providers.azure.fake_shapes import POOL, Json, wrong
from tests.providers.azure.fake_things import LOCATION, NETWORKING, REMOVAL, Refused, Thing, World

_CHILDREN = ("frontendIPConfigurations", "backendAddressPools", "probes", "loadBalancingRules")


def put_nic(world: World, path: str, body: Json) -> tuple[Thing, str, bool]:
    for one in body["properties"].get("ipConfigurations", []):
        _subnet(world, one["properties"]["subnet"]["id"])
    group = body["properties"].get("networkSecurityGroup")
    if group is not None and world.get(group["id"]) is None:
        raise _not_found_reference(group["id"])
    if not body["properties"].get("ipConfigurations"):
        raise Refused(400, "NetworkInterfaceMustHaveAtLeastOneIpConfiguration", "There is no IP configuration.")
    old = world.get(path)
    if old is not None:
        old.body |= {name: deepcopy(body[name]) for name in ("tags",) if name in body}
        return old, world.begin(0.0), False
    nic = world.add(path, "networkinterfaces", body, world.nic_takes)
    number = next(world.numbers)
    nic.properties["macAddress"] = f"00-0D-3A-00-{number // 256:02X}-{number % 256:02X}"
    for one in nic.properties["ipConfigurations"]:
        one["id"] = f"{path}/ipConfigurations/{one['name']}"
        one["properties"] |= {"privateIPAddress": f"10.9.{number // 256}.{number % 256}"}
    return nic, world.begin(world.nic_takes), True


def delete_nic(world: World, nic: Thing) -> str:
    if (vm := world.user_of(nic.path)) is not None:
        message = f"Network Interface {nic.path} is used by existing resource {vm.path}."
        raise Refused(400, "NicInUse", message)
    if world.now < nic.reserved_until:
        message = f"Nic(s) in request is reserved for another Virtual Machine for 180 seconds: {nic.path}"
        raise Refused(400, "NicReservedForAnotherVm", message)
    nic.gone_at = min(nic.gone_at, world.now + REMOVAL)
    return world.begin(REMOVAL)


def put_address(world: World, path: str, body: Json) -> tuple[Thing, str, bool]:
    if body.get("sku", {}).get("name") == "Standard" and body["properties"].get("publicIPAllocationMethod") != "Static":
        raise Refused(400, "InvalidPublicIPAllocation", "A Standard public address must be Static.")
    old = world.get(path)
    if old is not None:
        return old, world.begin(0.0), False
    made = world.add(path, "publicipaddresses", body, NETWORKING)
    made.properties["ipAddress"] = f"198.51.100.{next(world.numbers) % 250 + 1}"
    return made, world.begin(NETWORKING), True


def delete_address(world: World, address: Thing) -> str:
    for balancer in world.existing("loadbalancers"):
        if any(_public(one) == address.path.lower() for one in balancer.properties["frontendIPConfigurations"]):
            message = f"Public IP address {address.path} can not be deleted since it is still allocated."
            raise Refused(400, "PublicIPAddressCannotBeDeleted", message)
    address.gone_at = min(address.gone_at, world.now + REMOVAL)
    return world.begin(REMOVAL)


def put_balancer(world: World, path: str, body: Json) -> tuple[Thing, str, bool]:
    if body.get("sku", {}).get("name") != "Standard":
        raise Refused(400, "InvalidRequestFormat", "This fake has Standard load balancers only.")
    facts = deepcopy(body["properties"])
    for kind in _CHILDREN:
        for one in facts.setdefault(kind, []):
            one["id"] = f"{path}/{kind}/{one['name']}"
    _check_rules(facts)
    for one in facts["frontendIPConfigurations"]:
        _settle_frontend(world, one)
    for one in facts["backendAddressPools"]:
        _check_pool(world, one)
    old = world.get(path)
    if old is None:
        made = world.add(path, "loadbalancers", {**body, "properties": facts}, NETWORKING)
        return made, world.begin(NETWORKING), True
    old.body, old.ready_at = {**deepcopy(body), "properties": facts}, world.now + NETWORKING
    return old, world.begin(NETWORKING), False


def put_pool(world: World, balancer: Thing, name: str, body: Json) -> Json:
    if said := wrong(body, POOL):
        raise Refused(
            400, "InvalidRequestFormat", "Cannot parse the request.", [{"code": "InvalidJson", "message": said}]
        )
    if world.state(balancer) != "Succeeded":
        raise Refused(409, "AnotherOperationInProgress", f"Another operation on {balancer.path} is in progress.")
    pools = balancer.properties["backendAddressPools"]
    found: Json | None = next((one for one in pools if one["name"] == name), None)
    if found is None:
        raise Refused(404, "NotFound", f"There is no pool {name}.")
    _check_pool(world, body)
    found["properties"] = deepcopy(body["properties"])
    balancer.ready_at = world.now + NETWORKING
    return found


def delete_balancer(world: World, balancer: Thing) -> str:
    balancer.gone_at = min(balancer.gone_at, world.now + REMOVAL)
    return world.begin(REMOVAL)


def shown_nic(world: World, nic: Thing) -> Json:
    shown = deepcopy(nic.body)
    shown["properties"]["provisioningState"] = world.state(nic)
    if (vm := world.user_of(nic.path)) is not None:
        shown["properties"]["virtualMachine"] = {"id": vm.path}
    return shown


def _settle_frontend(world: World, frontend: Json) -> None:
    facts = frontend["properties"]
    if "publicIPAddress" in facts:
        address = world.get(facts["publicIPAddress"]["id"])
        if address is None:
            raise _not_found_reference(facts["publicIPAddress"]["id"])
        if address.body.get("sku", {}).get("name") != "Standard":
            raise Refused(400, "LoadBalancerAndPublicIPAddressSkuMustMatch", "The public address is not Standard.")
        return
    _subnet(world, facts["subnet"]["id"])
    facts["privateIPAddress"] = f"10.9.255.{next(world.numbers) % 250 + 1}"


def _check_rules(facts: Json) -> None:
    known = {one["id"].lower() for kind in _CHILDREN for one in facts[kind]}
    for rule in facts["loadBalancingRules"]:
        for name in ("frontendIPConfiguration", "backendAddressPool", "probe"):
            target = rule["properties"][name]["id"]
            if target.lower() not in known:
                raise _not_found_reference(target)


def _check_pool(world: World, pool: Json) -> None:
    for one in pool.get("properties", {}).get("loadBalancerBackendAddresses", []):
        vnet = world.get(one["properties"]["virtualNetwork"]["id"])
        if vnet is None:
            raise _not_found_reference(one["properties"]["virtualNetwork"]["id"])
        prefixes = [ip_network(subnet["properties"]["addressPrefix"]) for subnet in vnet.properties["subnets"]]
        if not any(ip_address(one["properties"]["ipAddress"]) in prefix for prefix in prefixes):
            message = f"{one['properties']['ipAddress']} is not in the address space of {vnet.path}."
            raise Refused(400, "BackendAddressIpNotInVnet", message)


def _subnet(world: World, path: str) -> None:
    vnet = world.get(path.partition("/subnets/")[0])
    names = [one["id"].lower() for one in vnet.properties["subnets"]] if vnet is not None else []
    if vnet is None or path.lower() not in names or vnet.body["location"] != LOCATION:
        raise _not_found_reference(path)


def _public(frontend: Json) -> str:
    return str(frontend["properties"].get("publicIPAddress", {}).get("id", "")).lower()


def _not_found_reference(path: str) -> Refused:
    return Refused(400, "InvalidResourceReference", f"Resource {path} was not found. Please make sure it exists.")
