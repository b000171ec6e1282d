"""The parts of a load balancer: what they are called, and what is asked for.

A passthrough network load balancer is a forwarding rule with an address of its own, a backend service with a health
check, and a group of instances in each zone. Most of these take no labels, so the mark is in their description, and all
are called the same: by a digest of the token."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..loadbalancer import BalancerOrder
from .section import Settings
from .vm import MARK

NAMES = "butler-[0-9a-f]{20}"
"""A regular expression for everything of ours that is called by a digest."""
_MARKED = re.compile(rf"{MARK}=(\S+) cluster=(\S+)")


def name_of(token: str) -> str:
    return f"butler-{hashlib.sha256(token.encode()).hexdigest()[:20]}"


def description(order: BalancerOrder) -> str:
    return f"{MARK}={order.token} cluster={order.name}"


def marked(part: Any) -> tuple[str, str]:
    """The token and the cluster in a description; empty when it is not ours."""
    found = _MARKED.fullmatch(part.get("description") or "")
    return (found[1], found[2]) if found else ("", "")


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the parts of one load balancer are, within the project."""

    settings: Settings
    token: str

    @property
    def name(self) -> str:
        return name_of(self.token)

    @property
    def region(self) -> str:
        return f"regions/{self.settings.region}"

    @property
    def rule(self) -> str:
        return f"{self.region}/forwardingRules/{self.name}"

    @property
    def service(self) -> str:
        return f"{self.region}/backendServices/{self.name}"

    @property
    def address(self) -> str:
        return f"{self.region}/addresses/{self.name}"

    @property
    def health_check(self) -> str:
        return f"{self.region}/healthChecks/{self.name}"

    def group(self, zone: str) -> str:
        return f"zones/{zone}/instanceGroups/{self.name}"

    def link(self, path: str) -> str:
        return f"projects/{self.settings.project}/{path}"

    def health_check_body(self, order: BalancerOrder) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": description(order),
            "type": "TCP",
            "tcpHealthCheck": {"port": order.health_check_port, "portSpecification": "USE_FIXED_PORT"},
            "checkIntervalSec": 10,
            "timeoutSec": 5,
            "healthyThreshold": 2,
            "unhealthyThreshold": 3,
        }

    def address_body(self, order: BalancerOrder) -> dict[str, Any]:
        wanted = {"name": self.name, "description": description(order), "addressType": "EXTERNAL"}
        if not self.settings.is_internal:
            return wanted
        place = {"subnetwork": self._subnetwork} if self._subnetwork else {}
        return {**wanted, "addressType": "INTERNAL", "purpose": "GCE_ENDPOINT", **place}

    def service_body(self, order: BalancerOrder) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": description(order),
            "protocol": "TCP",
            "loadBalancingScheme": self._scheme,
            "healthChecks": [self.link(self.health_check)],
        }

    def rule_body(self, order: BalancerOrder, address: str) -> dict[str, Any]:
        wanted: dict[str, Any] = {
            "name": self.name,
            "description": description(order),
            "IPAddress": address,
            "IPProtocol": "TCP",
            "ports": [str(order.port)],
            "loadBalancingScheme": self._scheme,
            "backendService": self.link(self.service),
        }
        if not self.settings.is_internal:
            return wanted
        place = {"network": self.settings.network, "subnetwork": self._subnetwork}
        return {**wanted, "allowGlobalAccess": True, **{name: path for name, path in place.items() if path}}

    def group_body(self, order: BalancerOrder) -> dict[str, Any]:
        return {"name": self.name, "description": description(order)}

    def backends(self, zones: Iterable[str]) -> list[dict[str, Any]]:
        return [{"group": self.link(self.group(zone)), "balancingMode": "CONNECTION"} for zone in sorted(zones)]

    @property
    def _scheme(self) -> str:
        return "INTERNAL" if self.settings.is_internal else "EXTERNAL"

    @property
    def _subnetwork(self) -> str:
        """That of the settings; in a network whose subnetworks Google made, the one called like the network."""
        if self.settings.subnetwork:
            return self.settings.subnetwork
        network = self.settings.network.rpartition("/")[2]
        return self.link(f"{self.region}/subnetworks/{network}")
