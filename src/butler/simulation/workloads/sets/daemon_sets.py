"""DaemonSet → a pod on every node that takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from kubekit.runtime.objects import key_of
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch, children

from ..context import Context, some, soonest
from ..kinds import ControllerRevision, DaemonSet, DaemonSetStatus, Node, Pod, PodSpec
from ..nodes import fit
from ..nodes.scheduler import FINISHED
from . import ownership, revisions
from .ownership import Children
from .revisions import HASH, Revisions
from .rollouts import share

_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_ON_HOST = ("network-unavailable", "NoSchedule")


@dataclass(frozen=True, slots=True)
class Scope:
    """A DaemonSet, its pods by node, and the nodes it is for."""

    owner: DaemonSet
    pods: Mapping[str, Sequence[Pod]]
    nodes: Sequence[str]
    code: str
    """The newest revision."""

    def is_updated(self, pod: Pod) -> bool:
        return pod.metadata.labels.get(HASH) == self.code

    def running(self, node: str) -> list[Pod]:
        return [pod for pod in self.pods.get(node, ()) if ownership.is_active(pod)]


class DaemonSets(Reconciler[DaemonSet]):
    """One pod per node; when the template changes, as many nodes at a time as may be without."""

    kind = DaemonSet
    source = "daemonset-controller"
    tells_conditions = False
    workers = 2

    def __init__(self, site: Context) -> None:
        self._site, self._nodes = site, site.nodes()
        self._pods: Children[Pod] = Children(site, Pod, DaemonSet)
        self._revisions = Revisions(site, DaemonSet)
        self._sets = site.informer(DaemonSet)
        self.watches = (
            children(Pod, of=DaemonSet),
            children(ControllerRevision, of=DaemonSet),
            self._pods.watch_orphans(lambda daemon_set: daemon_set.spec.selector),
            Watch(Node, lambda _: [key_of(each) for each in self._sets]),
        )

    async def reconcile(self, obj: DaemonSet) -> Outcome:
        pods: dict[str, list[Pod]] = {}
        for pod in await self._pods.claimed(obj, obj.spec.selector):
            pods.setdefault(_node_of(pod), []).append(pod)
        revision = await self._revisions.current(obj)
        spec = _daemon_spec(obj)
        nodes = [node.metadata.name for node in self._nodes if fit.suits_daemon(spec, node)]
        scope = Scope(obj, pods, nodes, revisions.code_of(revision))
        cleared, missing = await self._clear(scope), [node for node in nodes if not pods.get(node)]
        wanted = [_pod(scope, node) for node in missing]
        has_room = await ownership.create_pods(self._site, obj, wanted, self.source)
        if cleared or (missing and has_room) or await self._renew(scope):
            return Outcome()
        counted = await self._counted(scope)
        return counted if has_room else replace(counted, again=ownership.FULL)

    async def _clear(self, scope: Scope) -> bool:
        """Delete the pods that should not be where they are. Answers whether there were any."""
        surplus = [pod for node in scope.nodes for pod in _surplus(scope, node)]
        stray = [pod for node in scope.pods if node not in scope.nodes for pod in self._strays(scope, node)]
        over = [pod for pods in scope.pods.values() for pod in pods if pod.status.phase in FINISHED]
        gone = [pod for pod in (*surplus, *stray, *over) if not pod.deleting]
        await ownership.delete_pods(self._site, scope.owner, gone, self.source)
        return bool(gone)

    def _strays(self, scope: Scope, node: str) -> Sequence[Pod]:
        """Pods of a node that is not for them; what ran on a node that is gone, its kubelet's end sees to."""
        known = self._nodes.get(node) is not None
        return [pod for pod in scope.running(node) if known or not pod.spec.node_name]

    async def _renew(self, scope: Scope) -> bool:
        strategy = scope.owner.spec.update_strategy
        if strategy.type == "OnDelete":
            return False
        rolling = strategy.rolling_update
        limit = max(1, share(rolling.max_unavailable, len(scope.nodes), up=True)) if rolling else 1
        missing = sum(1 for node in scope.nodes if not any(self._wait(scope, pod) == 0 for pod in scope.running(node)))
        outdated = [pod for node in scope.nodes for pod in scope.running(node) if not scope.is_updated(pod)]
        # What does not work anyway costs nothing.
        broken = [pod for pod in outdated if self._wait(scope, pod) != 0]
        sound = [pod for pod in outdated if pod not in broken]
        chosen = [*broken, *sound[: max(0, limit - missing)]]
        await ownership.delete_pods(self._site, scope.owner, chosen, self.source)
        return bool(chosen)

    def _wait(self, scope: Scope, pod: Pod) -> float | None:
        return ownership.available_in(pod, scope.owner.spec.min_ready_seconds, self._site.now())

    async def _counted(self, scope: Scope) -> Outcome:
        waits = {node: [self._wait(scope, pod) for pod in scope.running(node)] for node in scope.nodes}
        available = sum(1 for each in waits.values() if 0 in each)
        updated = sum(1 for node in scope.nodes if any(map(scope.is_updated, scope.running(node))))
        strays = [node for node in scope.pods if node not in scope.nodes and scope.running(node)]
        status = DaemonSetStatus(
            current_number_scheduled=sum(1 for each in waits.values() if each),
            desired_number_scheduled=len(scope.nodes),
            number_misscheduled=len(strays),
            number_ready=sum(1 for each in waits.values() if any(wait is not None for wait in each)),
            number_available=some(available),
            number_unavailable=some(len(scope.nodes) - available),
            updated_number_scheduled=some(updated),
        )
        if updated == len(scope.nodes):
            await self._revisions.forget(scope.owner, {scope.code})
        return Outcome(status, again=soonest(*(wait for each in waits.values() for wait in each if wait)))


def _surplus(scope: Scope, node: str) -> Sequence[Pod]:
    """All but the best pod of a node."""
    return sorted(scope.running(node), key=lambda pod: (scope.is_updated(pod), ownership.worth(pod, {})))[:-1]


def _daemon_spec(owner: DaemonSet) -> PodSpec:
    """The template as its pods will be scheduled."""
    spec = owner.spec.template.get("spec") or {}
    return msgspec.convert({**spec, "tolerations": _tolerations(spec)}, PodSpec)


def _tolerations(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    taints = (*_TOLERATED, _ON_HOST) if spec.get("hostNetwork") else _TOLERATED
    added = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect} for key, effect in taints]
    own = list(spec.get("tolerations") or ())
    return [*own, *(each for each in added if each not in own)]


def _pod(scope: Scope, node: str) -> dict[str, Any]:
    """A pod for one node, which the scheduler puts there because its affinity names nothing else."""
    owner = scope.owner
    name = f"{owner.metadata.name}-"
    pod = ownership.pod_from(owner.spec.template, owner, DaemonSet, generateName=name, labels={HASH: scope.code})
    spec = pod["spec"]
    only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = {
        **(spec.get("affinity") or {}),
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}},
    }
    pod["spec"] = {**spec, "affinity": affinity, "tolerations": _tolerations(spec)}
    return pod


def _node_of(pod: Pod) -> str:
    """The node a pod is on, or is for."""
    if pod.spec.node_name:
        return pod.spec.node_name
    rules = ((pod.spec.affinity or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    for term in (rules or {}).get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            return str(field["values"][0])
    return ""
