"""Which nodes a pod fits on, and why not on the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kubekit.model.quantity import Quantity, parse
from kubekit.model.selectors import from_label_selector

from ..context import find_condition
from ..kinds import Node, Pod, PodSpec, Taint, Toleration

NOT_READY = "node.kubernetes.io/not-ready"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
HOSTNAME = "kubernetes.io/hostname"

_CORDONED = "node(s) were unschedulable"
_TAINTED = "node(s) had untolerated taint(s)"
_UNMATCHED = "node(s) didn't match Pod's node affinity/selector"
_CROWDED = "node(s) didn't match pod anti-affinity rules"
_FULL = "Too many pods"

Amounts = Mapping[str, int]
"""Of each resource so many; of the cpu thousandths."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a node does not take a pod."""

    reasons: tuple[str, ...]
    for_good: bool = True
    """Not even if other pods went."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A node with the pods it has."""

    node: Node
    pods: Sequence[Pod]

    def used(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for pod in self.pods:
            total.update(demand(pod.spec))
        return dict(total)


def is_ready(node: Node) -> bool:
    """Whether its kubelet is well; a node that says nothing about it is."""
    ready = find_condition(node.status.conditions, "Ready")
    return ready is None or ready["status"] == "True"


def taints_of(node: Node) -> tuple[Taint, ...]:
    """Its own, and the one the node lifecycle controller would add to a node that is not ready."""
    if is_ready(node) or any(taint.key == NOT_READY for taint in node.spec.taints):
        return node.spec.taints
    return (*node.spec.taints, Taint(key=NOT_READY, effect="NoSchedule"))


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or (bool(toleration.key) and toleration.value == taint.value)


def untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint], *effects: str) -> list[Taint]:
    """The taints of these effects that none of the tolerations is for."""
    known = list(tolerations)
    return [taint for taint in taints if taint.effect in effects and not any(tolerates(each, taint) for each in known)]


def _admits(pod: PodSpec, node: Node) -> str:
    """Why taints keep a pod away; empty when they do not."""
    cordon = Taint(key=UNSCHEDULABLE, effect="NoSchedule")
    if node.spec.unschedulable and untolerated(pod.tolerations, (cordon,), "NoSchedule"):
        return _CORDONED
    others = [taint for taint in taints_of(node) if taint.key != UNSCHEDULABLE]
    return _TAINTED if untolerated(pod.tolerations, others, "NoSchedule", "NoExecute") else ""


def matches_node(pod: PodSpec, node: Node) -> bool:
    """Whether nodeSelector and the required node affinity name this node."""
    labels = node.metadata.labels
    if any(labels.get(name) != value for name, value in pod.node_selector.items()):
        return False
    rules = ((pod.affinity or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if rules is None:
        return True
    return any(_matches_term(term, node) for term in rules.get("nodeSelectorTerms") or ())


def _matches_term(term: Mapping[str, Any], node: Node) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    named = {"metadata.name": node.metadata.name}
    return all(_satisfied(one, node.metadata.labels) for one in expressions) and all(
        _satisfied(one, named) for one in fields
    )


_OPERATORS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": lambda value, values: _number(value) is not None and int(value or 0) > int(values[0]),
    "Lt": lambda value, values: _number(value) is not None and int(value or 0) < int(values[0]),
}


def _satisfied(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    test = _OPERATORS[requirement["operator"]]
    return test(labels.get(requirement["key"]), requirement.get("values") or ())


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.lstrip("-").isdigit() else None


@lru_cache(maxsize=4096)
def amount(resource: str, text: str | int) -> int:
    """A quantity as a whole number; of the cpu in thousandths."""
    quantity = parse(str(text))
    if resource == "cpu":
        quantity = Quantity(quantity.digits, quantity.exponent + 3)
    return quantity.as_int()


def demand(pod: PodSpec) -> Amounts:
    """What a pod asks for: its containers together, or its greediest init container if that is more."""
    total: Counter[str] = Counter({name: amount(name, text) for name, text in pod.overhead.items()})
    for container in pod.containers:
        total.update({name: amount(name, text) for name, text in container.resources.requests.items()})
    for container in pod.init_containers:
        asked = {name: amount(name, text) for name, text in container.resources.requests.items()}
        if container.restart_policy == "Always":
            total.update(asked)
        else:
            total |= Counter(asked)
    return total


def _lacking(pod: PodSpec, offer: Offer) -> Refusal | None:
    node = offer.node
    offered = {name: amount(name, text) for name, text in (node.status.allocatable or node.status.capacity).items()}
    used, asked = offer.used(), demand(pod)
    reasons, for_good = [], False
    if len(offer.pods) >= offered.get("pods", 110):
        reasons.append(_FULL)
    for name, wanted in asked.items():
        available = offered.get(name, 0)
        if wanted > 0 and wanted > available - used.get(name, 0):
            reasons.append(f"Insufficient {name}")
            for_good = for_good or wanted > available
    return Refusal(tuple(reasons), for_good) if reasons else None


def _is_crowded(pod: Pod, node: Node, offers: Sequence[Offer]) -> bool:
    """Whether a pod that this one must not be near is in the same zone, host or whatever the rule says."""
    rules = ((pod.spec.affinity or {}).get("podAntiAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return any(_is_near(term, pod, node, offers) for term in rules or ())


def _is_near(term: Mapping[str, Any], pod: Pod, node: Node, offers: Sequence[Offer]) -> bool:
    key = term["topologyKey"]
    zone = _zone(node, key)
    if zone is None:
        return False
    places = term.get("namespaces") or [pod.metadata.namespace]
    selector = from_label_selector(term.get("labelSelector"))
    near = (other for offer in offers if _zone(offer.node, key) == zone for other in offer.pods)
    return any(other.metadata.namespace in places and selector.matches(other.metadata.labels) for other in near)


def _zone(node: Node, key: str) -> str | None:
    return node.metadata.labels.get(key, node.metadata.name if key == HOSTNAME else None)


def suits_daemon(pod: PodSpec, node: Node) -> bool:
    """Whether a DaemonSet puts its pod on a node, whatever else is there."""
    return not _admits(pod, node) and matches_node(pod, node)


def refusal(pod: Pod, offer: Offer, offers: Sequence[Offer]) -> Refusal | None:
    """Why a node does not take a pod; None when it does."""
    if problem := _admits(pod.spec, offer.node):
        return Refusal((problem,))
    if not matches_node(pod.spec, offer.node):
        return Refusal((_UNMATCHED,))
    if lacking := _lacking(pod.spec, offer):
        return lacking
    if _is_crowded(pod, offer.node, offers):
        return Refusal((_CROWDED,), for_good=False)
    return None


def explained(refusals: Sequence[Refusal]) -> str:
    """The words of the scheduler when no node takes a pod."""
    if not refusals:
        return "no nodes available to schedule pods"
    reasons = Counter(reason for each in refusals for reason in each.reasons)
    hopes = Counter(
        "Preemption is not helpful for scheduling" if each.for_good else "No preemption victims found for incoming pod"
        for each in refusals
    )
    none = f"0/{len(refusals)} nodes are available"
    return f"{none}: {_listed(reasons)}. no new claims to deallocate, preemption: {none}: {_listed(hopes)}."


def _listed(counts: Counter[str]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
