"""The Node of a machine: what Cluster API reads of it, and what it writes to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butler.engines.capi.kinds import CLUSTER_NAME, Machine, NodeInfo
from kubekit.model.resource import Model, Resource
from kubekit.model.status import Condition
from kubekit.runtime.conditions import Truth, condition
from kubekit.runtime.objects import owners_of

from ..conditions import find
from ..external import Reported

READY = "Ready"
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_LABELS_FROM_MACHINE = "cluster.x-k8s.io/labels-from-machine"
_ANNOTATIONS_FROM_MACHINE = "cluster.x-k8s.io/annotations-from-machine"
_UNINITIALIZED = "node.cluster.x-k8s.io/uninitialized"
"""Taint of a node that has not got its labels yet."""
_OUTDATED = "node.cluster.x-k8s.io/outdated-revision"
"""Taint of a node that is about to be replaced, so that pods rather go elsewhere."""
_PASSED_ON = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
"""Domains of labels that a node gets from its machine."""


class NodeTaint(Model):
    """What keeps pods away."""

    key: str
    effect: str
    value: str | None = None
    time_added: Any = None


class NodeSpec(Model):
    """Where a node runs."""

    provider_id: str | None = None
    unschedulable: bool | None = None
    taints: tuple[NodeTaint, ...] = ()


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
        return condition("NodeHealthy", "Unknown", "NodeHealthyUnknown", "\n".join(unknown))
    return condition("NodeHealthy", True, "NodeHealthy")


def change_for(node: Node, machine: Machine, *, is_outdated: bool) -> dict[str, Any]:
    """What the node lacks of what its machine gives it, and has of what it gave once; empty when that is nothing."""
    meta, labels = node.metadata, labels_from(machine)
    given = meta.annotations.get(_LABELS_FROM_MACHINE, "").split(",")
    lacking = {
        "annotations": _lacking(meta.annotations, annotations_from(machine)),
        "labels": {
            **_lacking(meta.labels, labels),
            **{name: None for name in given if name in meta.labels and name not in labels},
        },
    }
    change: dict[str, Any] = {name: values for name, values in lacking.items() if values}
    taints = _taints(node, is_outdated)
    if taints == node.spec.taints:
        return {"metadata": change} if change else {}
    # Of a list only the whole can be given, and so only if nobody else has changed it meanwhile.
    return {"metadata": {**change, "resourceVersion": meta.resource_version}, "spec": {"taints": taints}}


def _taints(node: Node, is_outdated: bool) -> tuple[NodeTaint, ...]:
    kept = tuple(one for one in node.spec.taints if one.key not in (_UNINITIALIZED, _OUTDATED))
    if not is_outdated:
        return kept
    there = [one for one in node.spec.taints if one.key == _OUTDATED]
    return (*kept, *(there or [NodeTaint(key=_OUTDATED, effect="PreferNoSchedule")]))


def _lacking(have: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if have.get(name) != value}


def annotations_from(machine: Machine) -> dict[str, str]:
    """Those that a node gets from its machine."""
    owner = next((one for one in owners_of(machine) if one.controls), None)
    return {
        CLUSTER_NAME: machine.spec.cluster_name,
        _LABELS_FROM_MACHINE: ",".join(sorted(labels_from(machine))),
        _ANNOTATIONS_FROM_MACHINE: "",
        "cluster.x-k8s.io/cluster-namespace": machine.metadata.namespace,
        "cluster.x-k8s.io/machine": machine.metadata.name,
        **({"cluster.x-k8s.io/owner-kind": owner.kind, "cluster.x-k8s.io/owner-name": owner.name} if owner else {}),
    }


def labels_from(machine: Machine) -> dict[str, str]:
    """Those that a node gets from its machine."""
    return {name: value for name, value in machine.metadata.labels.items() if _is_passed_on(name)}


def _is_passed_on(label: str) -> bool:
    domain, slash, _ = label.partition("/")
    return bool(slash) and any(domain == one or domain.endswith(f".{one}") for one in _PASSED_ON)
