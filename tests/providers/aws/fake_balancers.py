"""Load balancers that take their time, on top of those of moto, which do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.providers.aws.answers import Denied, told
from tests.providers.aws.moto_account import MotoAccount, Told
from tests.providers.clocks import HandClock

PROVISIONING, REMOVAL = 9.0, 8.0
Forward = Callable[..., Told]
Special = Callable[[dict[str, str], Forward], web.Response]


@dataclass
class Balancers:
    """All load balancers of an account."""

    account: MotoAccount
    clock: HandClock
    _coming: dict[str, float] = field(default_factory=dict)
    """When they will be active, by ARN."""
    _in_use: dict[str, float] = field(default_factory=dict)
    """Until when target groups are taken for used, by ARN."""

    def answers(self, action: str) -> Special | None:
        self._tick()
        specials: dict[str, Special] = {
            "CreateLoadBalancer": self._create,
            "DeleteLoadBalancer": self._delete,
            "DeleteTargetGroup": self._delete_group,
            "DeregisterTargets": self._deregister,
        }
        return specials.get(action)

    def existing(self) -> list[Any]:
        return list(self.account.elbv2.load_balancers.values())

    def groups(self) -> list[Any]:
        return list(self.account.elbv2.target_groups.values())

    def _tick(self) -> None:
        for arn, ready_at in list(self._coming.items()):
            if self.clock.monotonic() >= ready_at:
                del self._coming[arn]
                if arn in self.account.elbv2.load_balancers:
                    del self.account.elbv2.load_balancers[arn].activate

    def _create(self, form: dict[str, str], forward: Forward) -> web.Response:
        name = form["Name"]
        if len(name) > 32 or name.startswith(("internal-", "-")) or name.endswith("-"):
            raise Denied("ValidationError", f"The load balancer name '{name}' is not a good one")
        if any(one.name == name for one in self.existing()):
            # The same question gets the same answer.
            return self._shown(name, forward)
        wanted = [value for key, value in form.items() if key.startswith("Subnets.member.")]
        zones = [zone for zone, subnets in self.account.ec2.subnets.items() for one in wanted if one in subnets]
        if len(set(zones)) != len(zones):
            raise Denied("InvalidConfigurationRequest", "A load balancer cannot have two subnets of one zone")
        answer = forward()
        for one in self.existing():
            if one.name == name:
                one.activate = lambda: None
                self._coming[one.arn] = self.clock.monotonic() + PROVISIONING
        return told(answer)

    def _shown(self, name: str, forward: Forward) -> web.Response:
        asked = {"Action": "DescribeLoadBalancers", "Version": "2015-12-01", "Names.member.1": name}
        answer = told(forward(asked))
        answer.text = (answer.text or "").replace("DescribeLoadBalancers", "CreateLoadBalancer")
        return answer

    def _delete(self, form: dict[str, str], forward: Forward) -> web.Response:
        found = self.account.elbv2.load_balancers.get(form["LoadBalancerArn"])
        for listener in found.listeners.values() if found is not None else ():
            for action in listener.default_actions:
                self._in_use[action.data["TargetGroupArn"]] = self.clock.monotonic() + REMOVAL
        return told(forward())

    def _delete_group(self, form: dict[str, str], forward: Forward) -> web.Response:
        if self.clock.monotonic() < self._in_use.get(form["TargetGroupArn"], 0.0):
            raise Denied("ResourceInUse", "Target group is currently in use by a listener or a rule")
        return told(forward())

    def _deregister(self, form: dict[str, str], forward: Forward) -> web.Response:
        """moto knows targets by their address alone: who came back with another port is not meant."""
        there = self.account.elbv2.target_groups[form["TargetGroupArn"]].targets
        for number in range(1, 50):
            place = f"Targets.member.{number}"
            known = there.get(form.get(f"{place}.Id", ""))
            if known is not None and str(known["Port"]) == form.get(f"{place}.Port"):
                return told(forward())
        answer = "<DeregisterTargetsResponse><DeregisterTargetsResult/></DeregisterTargetsResponse>"
        return web.Response(text=answer, content_type="text/xml")
