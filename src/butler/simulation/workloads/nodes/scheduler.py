"""Pod → node: the scheduler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from butler.api.model import SIMULATED
from kubekit.errors import Conflict, NotFound
from kubekit.runtime.objects import key, key_of
from kubekit.runtime.reconciler import Note, Outcome, Reconciler, Watch

from ..context import NODE, Context, condition, controllers_of, with_conditions
from ..kinds import BINDING, Node, Pod
from ..service_kinds import PersistentVolumeClaim
from . import fit
from .fit import Offer

FINISHED = frozenset({"Succeeded", "Failed"})
_WAITING = "waiting"


class Scheduler(Reconciler[Pod]):
    """Puts every pod that has no node on one that takes it, or says why there is none."""

    kind = Pod
    name = "scheduler"
    source = "default-scheduler"
    tells_conditions = False
    workers = 2

    def __init__(self, site: Context) -> None:
        self._site, self._pods, self._nodes = site, site.pods(), site.nodes()
        self._claims = site.informer(PersistentVolumeClaim)
        self._pods.index(_WAITING, _waiting)
        self._promised: dict[str, tuple[Pod, str]] = {}
        """Pods that were put on a node, by uid, and whose cache does not show it yet."""
        self.watches = (
            Watch(Node, lambda _: self._pods.keys_by(_WAITING, "")),
            Watch(Pod, self._made_room),
            Watch(PersistentVolumeClaim, self._waiting_for),
        )

    def _made_room(self, pod: Pod) -> Iterable[str]:
        """A pod that goes leaves room for one that waits."""
        going = pod.spec.node_name and (pod.deleting or pod.status.phase in FINISHED)
        return self._pods.keys_by(_WAITING, "") if going else ()

    def _waiting_for(self, claim: PersistentVolumeClaim) -> Iterable[str]:
        waiting = self._pods.by(_WAITING, "")
        return [key_of(pod) for pod in waiting if claim.key in _claims_of(pod)]

    async def reconcile(self, obj: Pod) -> Outcome:
        if obj.spec.node_name or obj.spec.scheduling_gates:
            self._promised.pop(obj.metadata.uid, None)
            return Outcome()
        if obj.metadata.uid in self._promised:
            return Outcome()
        problem = self._problem_of_claims(obj)
        if problem:
            return self._unschedulable(obj, f"0/{len(self._nodes)} nodes are available: {problem}.")
        offers = self._offers()
        refusals = [fit.refusal(obj, offer, offers) for offer in offers]
        fitting_ones = [offer for offer, refusal in zip(offers, refusals, strict=True) if refusal is None]
        if not fitting_ones:
            return self._unschedulable(obj, fit.explained([one for one in refusals if one is not None]))
        await self._bind(obj, min(fitting_ones, key=lambda offer: _preference(obj, offer)).node)
        return Outcome()

    def _offers(self) -> list[Offer]:
        """Every node with its pods, those included that are about to be shown there."""
        for uid, (pod, _) in list(self._promised.items()):
            shown = self._pods.get(key_of(pod))
            if shown is None or shown.metadata.uid != uid or shown.spec.node_name:
                del self._promised[uid]
        promised: dict[str, list[Pod]] = {}
        for pod, node in self._promised.values():
            promised.setdefault(node, []).append(pod)
        return [Offer(node, (*self._running_on(node), *promised.get(node.metadata.name, ()))) for node in self._nodes]

    def _running_on(self, node: Node) -> list[Pod]:
        return [pod for pod in self._pods.by(NODE, node.metadata.name) if pod.status.phase not in FINISHED]

    def _problem_of_claims(self, pod: Pod) -> str:
        for name in _claims_of(pod):
            claim = self._claims.get(name)
            if claim is None:
                return f'persistentvolumeclaim "{name.rpartition("/")[2]}" not found'
            if claim.status.phase != "Bound":
                return "pod has unbound immediate PersistentVolumeClaims"
        return ""

    def _unschedulable(self, pod: Pod, message: str) -> Outcome:
        why = condition("PodScheduled", "False", "Unschedulable", message, lastProbeTime=None)
        status = structs.replace(pod.status, conditions=with_conditions(pod.status.conditions, why))
        return Outcome(status, notes=(Note("FailedScheduling", message, "Warning"),))

    async def _bind(self, pod: Pod, node: Node) -> None:
        meta = pod.metadata
        self._promised[meta.uid] = (pod, node.metadata.name)
        named: dict[str, Any] = {"name": meta.name, "namespace": meta.namespace, "annotations": {SIMULATED: "true"}}
        target = {"kind": "Node", "name": node.metadata.name}
        try:
            await self._site.client.create({"metadata": named, "target": target}, BINDING, manager="kube-scheduler")
        except (Conflict, NotFound):
            # Someone else placed it, or it is gone: what the cache shows next tells.
            self._promised.pop(meta.uid, None)
            return
        except BaseException:
            self._promised.pop(meta.uid, None)
            raise
        told = f"Successfully assigned {pod.key} to {node.metadata.name}"
        self._site.tell(pod, "Scheduled", told, self.source)


def _waiting(pod: Pod) -> list[str]:
    return [] if pod.spec.node_name or pod.deleting or pod.status.phase in FINISHED else [""]


def _claims_of(pod: Pod) -> list[str]:
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [key(pod.metadata.namespace, source.claim_name) for source in sources if source is not None]


def _preference(pod: Pod, offer: Offer) -> tuple[int, float, int, str]:
    """Away from pods of the same owner, then where most is free."""
    owners = controllers_of(pod)
    alike = sum(1 for other in offer.pods if owners and controllers_of(other) == owners)
    node = offer.node.status
    offered = fit.amount("cpu", (node.allocatable or node.capacity).get("cpu", 0))
    share = offer.used().get("cpu", 0) / offered if offered else 0.0
    return alike, share, len(offer.pods), offer.node.metadata.name
