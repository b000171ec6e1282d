"""Load balancers of AWS: a Network Load Balancer, its listener, and a target group with the machines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

from butler.errors import MachineRejected, ProviderError

from ..contract import NOTHING_KNOWN, Known, Object, Provider
from ..loadbalancer import Balancer, BalancerOrder, BalancerTarget
from . import vm
from .api import NAME, Refusal
from .inventory import PREFIX
from .provider import Aws

_NAME_LIMIT = 32
_NOT_FOUND = ("LoadBalancerNotFound", "TargetGroupNotFound", "ListenerNotFound")
_LEAVING = "draining"
_ANSWERING = ("active", "active_impaired")
_INTERVAL = 10
"""Seconds between two looks at a machine."""
Target = tuple[str, int]


def connect(provider: Provider) -> AwsLoadBalancers:
    assert isinstance(provider, Aws)
    return AwsLoadBalancers(provider)


class AwsLoadBalancers:
    """Load balancers of one account. Their names come from the token, so that the same order is the same name."""

    def __init__(self, account: Aws) -> None:
        self._account, self._api = account, account.api

    async def ensure(self, order: BalancerOrder, known: Known = NOTHING_KNOWN) -> Balancer:
        balancer = await self._balancer(order)
        if balancer["State"]["Code"] == "failed":
            why = balancer["State"].get("Reason", "no reason is given")
            raise ProviderError(
                NAME, order.name, f"the load balancer failed: {why}; delete the request to be rid of it"
            )
        group = await self._group(order, balancer["VpcId"])
        await self._listener(order, balancer["LoadBalancerArn"], group)
        targets = await self._targets(order, group)
        return Balancer(
            id=balancer["LoadBalancerArn"],
            name=order.name,
            token=order.token,
            endpoint=balancer["DNSName"],
            targets=targets,
            is_ready=balancer["State"]["Code"] in _ANSWERING,
        )

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        balancer = await self._found("LoadBalancer", name, token)
        if balancer is not None:
            # Its listeners go with it. The target group is free only when it is gone.
            await self._api.ask("elbv2.delete_load_balancer", name, LoadBalancerArn=balancer["LoadBalancerArn"])
            return False
        group = await self._found("TargetGroup", name, token)
        if group is None:
            return True
        try:
            await self._api.ask(
                "elbv2.delete_target_group", name, expected=("ResourceInUse",), TargetGroupArn=group["TargetGroupArn"]
            )
        except Refusal:
            return False
        return True

    async def _found(self, what: str, name: str, token: str) -> Any | None:
        calls = {"LoadBalancer": "elbv2.describe_load_balancers", "TargetGroup": "elbv2.describe_target_groups"}
        try:
            answer = await self._api.ask(calls[what], name, expected=_NOT_FOUND, Names=[name_for(name, token)])
        except Refusal:
            return None
        return next(iter(answer[f"{what}s"]), None)

    async def _balancer(self, order: BalancerOrder) -> Any:
        found = await self._found("LoadBalancer", order.name, order.token)
        if found is not None:
            return found
        places = await self._account.catalog.places(order.name)
        # One subnet of each zone is all that it takes.
        subnets = {one.zone: one.id for one in reversed(places)}
        answer = await self._api.ask(
            "elbv2.create_load_balancer", order.name,
            Name=name_for(order.name, order.token), Type="network", Scheme=self._account.settings.scheme,
            IpAddressType="ipv4", Subnets=sorted(subnets.values()), Tags=vm.tags(order.name, order.token, {}),
        )  # fmt: skip
        return answer["LoadBalancers"][0]

    async def _group(self, order: BalancerOrder, vpc: str) -> str:
        found = await self._found("TargetGroup", order.name, order.token)
        if found is None:
            answer = await self._api.ask(
                "elbv2.create_target_group", order.name,
                Name=name_for(order.name, order.token), Protocol="TCP", Port=order.port, VpcId=vpc, TargetType="ip",
                **_health(order), Tags=vm.tags(order.name, order.token, {}),
            )  # fmt: skip
            return str(answer["TargetGroups"][0]["TargetGroupArn"])
        arn = str(found["TargetGroupArn"])
        if found.get("HealthCheckPort") != str(order.health_check_port):
            port = str(order.health_check_port)
            await self._api.ask("elbv2.modify_target_group", order.name, TargetGroupArn=arn, HealthCheckPort=port)
        return arn

    async def _listener(self, order: BalancerOrder, balancer: str, group: str) -> None:
        found = await self._api.every("elbv2.describe_listeners", "Listeners", order.name, LoadBalancerArn=balancer)
        for one in found:
            if one["Port"] != order.port:
                await self._api.ask("elbv2.delete_listener", order.name, ListenerArn=one["ListenerArn"])
        if not any(one["Port"] == order.port for one in found):
            actions = [{"Type": "forward", "TargetGroupArn": group}]
            await self._api.ask(
                "elbv2.create_listener", order.name,
                LoadBalancerArn=balancer, Protocol="TCP", Port=order.port, DefaultActions=actions,
            )  # fmt: skip

    async def _targets(self, order: BalancerOrder, group: str) -> int:
        """How many there are, after those that are missing came and the others went."""
        answer = await self._api.ask("elbv2.describe_target_health", order.name, TargetGroupArn=group)
        there = {
            (one["Target"]["Id"], int(one["Target"]["Port"]))
            for one in answer["TargetHealthDescriptions"]
            if one.get("TargetHealth", {}).get("State") != _LEAVING
        }
        wanted = {(address, order.port) for address in await self._addresses(order)}
        for call, which in (
            ("elbv2.register_targets", wanted - there),
            ("elbv2.deregister_targets", there - wanted),
        ):
            if which:
                await self._api.ask(call, order.name, TargetGroupArn=group, Targets=_described(which))
        return len(wanted)

    async def _addresses(self, order: BalancerOrder) -> list[str]:
        """By address, so that a machine reaches itself through its load balancer, which it does not by its id."""
        unknown = [vm.instance_of(one.id) for one in order.targets if not _private(one)]
        if "" in unknown:
            raise MachineRejected(NAME, order.name, "a target has neither a private address nor the id of an instance")
        found = [one.address for one in order.targets if _private(one)]
        if unknown:
            answer = await self._api.every(
                "ec2.describe_instances", "Reservations", order.name,
                Filters=[{"Name": "instance-id", "Values": unknown}],
            )  # fmt: skip
            instances = [one for reservation in answer for one in reservation["Instances"]]
            found += [one["PrivateIpAddress"] for one in instances if one.get("PrivateIpAddress")]
        return found


def name_for(name: str, token: str) -> str:
    """At most 32 letters, digits and hyphens, one of its own for each token."""
    mark = hashlib.sha256(token.encode()).hexdigest()[:12]
    shown = re.sub(r"[^A-Za-z0-9-]+", "-", name)[: _NAME_LIMIT - len(PREFIX) - len(mark) - 1].strip("-")
    return f"{PREFIX}{shown}-{mark}" if shown else f"{PREFIX}{mark}"


def _health(order: BalancerOrder) -> Object:
    return {
        "HealthCheckProtocol": "TCP",
        "HealthCheckPort": str(order.health_check_port),
        "HealthCheckIntervalSeconds": _INTERVAL,
        "HealthyThresholdCount": 2,
        "UnhealthyThresholdCount": 2,
    }


def _described(targets: Iterable[Target]) -> list[Object]:
    return [{"Id": address, "Port": port} for address, port in sorted(targets)]


def _private(target: BalancerTarget) -> bool:
    try:
        return ip_address(target.address).is_private
    except ValueError:
        return False
