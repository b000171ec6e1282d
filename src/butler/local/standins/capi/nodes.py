"""The Node of a machine: what Cluster API reads of it, and what it writes to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butler.api.model import Model, Resource
from butler.api.shared import Condition
from butler.engines.capi.kinds import CLUSTER_NAME, Machine, NodeInfo
from butler.runtime.conditions import Truth, condition
from butler.runtime.objects import owners_of

from .conditions import find
from .external import Reported

READY = "Ready"
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_PASSED_ON = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
"""Domains of labels that a node gets from its machine."""


class NodeSpec(Model):
    """Where a node runs."""

    provider_id: str | None = None
    unschedulable: bool | None = None


class NodeStatus(Model):
    """How a node is."""

    conditions: tuple[Reported, ...] = ()
    node_info: NodeInfo | None = None


class Node(Resource, plural="nodes", group="", version="v1", namespaced=False):
    """A node of a tenant's cluster."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def unreachable(self) -> bool:
        """Whether nobody hears of it any more."""
        ready = find(self.status.conditions, READY)
        return ready is not None and ready.status == "Unknown"


def essence(node: Node) -> tuple[Any, ...]:
    """What of a node matters to its machine."""
    return node.spec, node.status, node.metadata.labels, node.metadata.annotations


def provider_ids(node: Node) -> list[str]:
    return [node.spec.provider_id] if node.spec.provider_id else []


def health(node: Node) -> tuple[Condition, Condition]:
    """NodeReady and NodeHealthy of the machine whose node it is."""
    return _ready(node), _healthy(node)


def both(status: Truth, reason: str, message: str) -> tuple[Condition, Condition]:
    """NodeReady and NodeHealthy when there is no node to ask."""
    return condition("NodeReady", status, reason, message), condition("NodeHealthy", status, reason, message)


def _ready(node: Node) -> Condition:
    found = find(node.status.conditions, READY)
    if found is None:
        return condition("NodeReady", "Unknown", "NodeReadyUnknown", "* Node.Ready: not reported yet")
    if found.status == "True":
        return condition("NodeReady", True, "NodeReady")
    message = f"* Node.Ready: {found.message}" if found.message else ""
    if found.status == "False":
        return condition("NodeReady", False, "NodeNotReady", message)
    return condition("NodeReady", "Unknown", "NodeReadyUnknown", message)


def _healthy(node: Node) -> Condition:
    """Ready, and under no pressure of any sort."""
    ill: list[str] = []
    unknown: list[str] = []
    for name, wanted in ((READY, "True"), *((pressure, "False") for pressure in _PRESSURES)):
        found = find(node.status.conditions, name)
        if found is None:
            unknown.append(f"* Node.{name}: not reported yet")
        elif found.status != wanted:
            line = f"* Node.{name}: {found.message or f'is {found.status}'}"
            (unknown if found.status == "Unknown" else ill).append(line)
    if ill:
        return condition("NodeHealthy", False, "NodeNotHealthy", "\n".join(ill + unknown))
    if unknown:
        return condition("NodeHealthy", "Unknown", "NodeHealthUnknown", "\n".join(unknown))
    return condition("NodeHealthy", True, "NodeHealthy")


def change_for(node: Node, machine: Machine) -> dict[str, Any]:
    """What the node's metadata lacks of what its machine gives it; empty when that is nothing."""
    meta = node.metadata
    lacking = {
        "annotations": _lacking(meta.annotations, _annotations(machine)),
        "labels": _lacking(meta.labels, _labels(machine)),
    }
    return {name: values for name, values in lacking.items() if values}


def _lacking(have: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if have.get(name) != value}


def _annotations(machine: Machine) -> dict[str, str]:
    owner = next((one for one in owners_of(machine) if one.controls), None)
    return {
        CLUSTER_NAME: machine.spec.cluster_name,
        "cluster.x-k8s.io/cluster-namespace": machine.metadata.namespace,
        "cluster.x-k8s.io/machine": machine.metadata.name,
        **({"cluster.x-k8s.io/owner-kind": owner.kind, "cluster.x-k8s.io/owner-name": owner.name} if owner else {}),
    }


def _labels(machine: Machine) -> dict[str, str]:
    return {name: value for name, value in machine.metadata.labels.items() if _is_passed_on(name)}


def _is_passed_on(label: str) -> bool:
    domain, slash, _ = label.partition("/")
    return bool(slash) and any(domain == one or domain.endswith(f".{one}") for one in _PASSED_ON)
