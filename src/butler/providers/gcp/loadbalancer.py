"""Load balancers of Google Cloud: passthrough, regional, with health checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..contract import NOTHING_KNOWN, Known, Provider
from ..loadbalancer import Balancer, BalancerOrder, BalancerTarget
from . import vm
from .api import Operation, last
from .loadbalancer_parts import Parts
from .provider import Gcp
from .section import RESOURCE_NAME

_ADDRESS = re.compile(r"[0-9a-f.:]+")
Members = Mapping[str, frozenset[str]]
"""Names of instances by zone."""


def connect(provider: Provider) -> GcpLoadBalancers:
    assert isinstance(provider, Gcp)
    return GcpLoadBalancers(provider)


class GcpLoadBalancers:
    """Load balancers of one project. What can be made at the same time is; the tasks are followed together."""

    def __init__(self, account: Gcp) -> None:
        self._account, self._settings, self._api = account, account.settings, account.api

    async def ensure(self, order: BalancerOrder, known: Known = NOTHING_KNOWN) -> Balancer:
        parts = Parts(self._settings, order.token)
        shown = Balancer(parts.link(parts.rule), order.name, order.token)
        followed = await self._followed(known.task, order.name)
        if error := next((one.error(order.name) for one in followed if _has_failed(one)), None):
            raise error
        if not all(one.is_done for one in followed):
            return replace(shown, task=known.task)
        rule = await self._api.get(parts.rule, order.name, "IPAddress,ports")
        if rule is None:
            return replace(shown, task=_tasks(await self._founded(parts, order)))
        asked = await self._kept(parts, order, rule)
        count, further = await self._registered(parts, order, await self._wanted(order))
        endpoint, asked = rule.get("IPAddress", ""), [*asked, *further]
        return replace(shown, endpoint=endpoint, targets=count, is_ready=not asked, task=_tasks(asked))

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        """What uses others goes before them: the rule, then what it leads to, then what that consists of."""
        if not all(one.is_done for one in await self._followed(known.task, name)):
            return False
        parts = Parts(self._settings, token)
        # Lists may show a group late, so it is looked for in every zone.
        groups = [parts.group(zone) for zone in await self._account.zones()]
        for paths in ((parts.rule,), (parts.service, parts.address), (parts.health_check, *groups)):
            gone = [await self._api.remove(path, name) for path in paths]
            if not all(gone):
                return False
        return all(one.is_done for one in await self._api.operations(parts.name, name))

    async def _founded(self, parts: Parts, order: BalancerOrder) -> list[Operation | None]:
        """Ask for whatever comes next on the way to the forwarding rule. None stands for what is only waited for."""
        address = await self._api.get(parts.address, order.name, "address,status")
        health_check = await self._api.get(parts.health_check, order.name, "name")
        found: list[Operation | None] = []
        if address is None:
            found.append(await self._insert(parts.address, order, parts.address_body(order)))
        if health_check is None:
            found.append(await self._insert(parts.health_check, order, parts.health_check_body(order)))
        if found:
            return found
        if not address.get("address"):
            return [None]
        if await self._api.get(parts.service, order.name, "name") is None:
            return [await self._insert(parts.service, order, parts.service_body(order))]
        return [await self._insert(parts.rule, order, parts.rule_body(order, address["address"]))]

    async def _kept(self, parts: Parts, order: BalancerOrder, rule: Any) -> list[Operation | None]:
        """Make ports follow the order. A rule cannot be given another one, but its successor has the same address."""
        if rule.get("ports") != [str(order.port)]:
            await self._api.remove(parts.rule, order.name)
            return [None]
        check = await self._api.get(parts.health_check, order.name, "tcpHealthCheck/port")
        if check is None or check["tcpHealthCheck"]["port"] == order.health_check_port:
            return []
        change = {"tcpHealthCheck": {"port": order.health_check_port, "portSpecification": "USE_FIXED_PORT"}}
        return [await self._api.change("PATCH", parts.health_check, order.name, change)]

    async def _insert(self, path: str, order: BalancerOrder, body: Any) -> Operation | None:
        return await self._api.insert(path.rpartition("/")[0], order.name, body)

    async def _wanted(self, order: BalancerOrder) -> Members:
        """The targets by zone; those that are not known by id are looked up."""
        found: dict[str, set[str]] = {}
        for target in order.targets:
            if zone := vm.place_of(target.id, self._settings.project):
                found.setdefault(zone, set()).add(last(target.id))
        vague = [one for one in order.targets if not vm.place_of(one.id, self._settings.project)]
        for instance in await self._looked_up(vague, order.name):
            found.setdefault(last(instance["zone"]), set()).add(instance["name"])
        return {zone: frozenset(names) for zone, names in found.items()}

    async def _looked_up(self, targets: Iterable[BalancerTarget], about: str) -> list[Any]:
        chosen = " OR ".join(filter(None, map(_filter_for, targets)))
        found = await self._api.listed("aggregated/instances", "name,zone", about, chosen) if chosen else []
        return [one for one in found if last(one["zone"]).startswith(f"{self._settings.region}-")]

    async def _registered(
        self, parts: Parts, order: BalancerOrder, wanted: Members
    ) -> tuple[int, list[Operation | None]]:
        """How many targets are behind it, and what was asked for to make that all of them."""
        service = await self._api.get(parts.service, order.name, "backends/group,fingerprint")
        behind = {_zone_in(one["group"]) for one in (service or {}).get("backends") or ()}
        count, groups = 0, set(behind)
        tasks: list[Operation | None] = []
        for zone in sorted(behind | wanted.keys()):
            names = wanted.get(zone, frozenset())
            if zone not in behind and await self._api.get(parts.group(zone), order.name, "name") is None:
                tasks.append(await self._insert(parts.group(zone), order, parts.group_body(order)))
                continue
            members = await self._members(parts.group(zone), order.name)
            groups.add(zone)
            count += len(members & names)
            tasks += await self._moved(parts.group(zone), order.name, names - members, members - names)
        if service is not None and groups != behind:
            change = {"backends": parts.backends(groups), "fingerprint": service["fingerprint"]}
            tasks.append(await self._api.change("PATCH", parts.service, order.name, change))
        return count, tasks

    async def _members(self, group: str, about: str) -> frozenset[str]:
        listed = await self._api.listed(f"{group}/listInstances", "instance", about, body={"instanceState": "ALL"})
        return frozenset(last(one["instance"]) for one in listed)

    async def _moved(self, group: str, about: str, added: frozenset[str], removed: frozenset[str]) -> list[Operation]:
        zone = f"{group.rpartition('/instanceGroups/')[0]}/instances"
        # One that does not exist any more cannot be added, and the others should not have to wait for it.
        present = [one for one in sorted(added) if await self._api.get(f"{zone}/{one}", about, "name") is not None]
        tasks = []
        for verb, names in (("addInstances", present), ("removeInstances", sorted(removed))):
            if names:
                body = {"instances": [{"instance": f"projects/{self._settings.project}/{zone}/{one}"} for one in names]}
                tasks.append(await self._api.change("POST", f"{group}/{verb}", about, body))
        return tasks

    async def _followed(self, task: str, about: str) -> list[Operation]:
        """The tasks of the last call, as they are now."""
        found = [await self._api.operation(one, about) for one in task.split(",")]
        return [one for one in found if one is not None]


def _has_failed(operation: Operation) -> bool:
    # What was asked for twice because an answer was lost is there all the same.
    return operation.code not in ("", "RESOURCE_ALREADY_EXISTS")


def _tasks(operations: Iterable[Operation | None]) -> str:
    return ",".join(one.task for one in operations if one is not None)


def _filter_for(target: BalancerTarget) -> str:
    """Empty when there is nothing to look it up by."""
    if RESOURCE_NAME.fullmatch(target.name):
        return f'(name = "{target.name}")'
    return f'(networkInterfaces.networkIP = "{target.address}")' if _ADDRESS.fullmatch(target.address) else ""


def _zone_in(link: str) -> str:
    return link.split("/zones/")[1].partition("/")[0]
