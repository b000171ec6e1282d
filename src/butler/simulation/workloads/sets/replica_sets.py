"""ReplicaSet → pods."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kubekit.runtime.reconciler import Outcome, Reconciler, children

from ..context import Context, seconds, some
from ..kinds import Pod, ReplicaSet, ReplicaSetStatus
from . import ownership
from .ownership import Census, Children


class ReplicaSets(Reconciler[ReplicaSet]):
    """As many pods as wanted: makes those that are missing, deletes the least useful of those that are too many."""

    kind = ReplicaSet
    source = "replicaset-controller"
    tells_conditions = False
    workers = 4

    def __init__(self, site: Context) -> None:
        self._site = site
        self._pods: Children[Pod] = Children(site, Pod, ReplicaSet)
        self.watches = (
            children(Pod, of=ReplicaSet),
            self._pods.watch_orphans(lambda replica_set: replica_set.spec.selector),
        )

    async def reconcile(self, obj: ReplicaSet) -> Outcome:
        pods = await self._pods.claimed(obj, obj.spec.selector)
        active = [pod for pod in pods if ownership.is_active(pod)]
        missing = obj.spec.replicas - len(active)
        if missing > 0:
            one = ownership.pod_from(obj.spec.template, obj, ReplicaSet, generateName=f"{obj.metadata.name}-")
            if await ownership.create_pods(self._site, obj, [one] * missing, self.source):
                # What was made comes back as news, and then the status is written once.
                return Outcome()
            return replace(self._counted(obj, active, len(pods) - len(active)), again=ownership.FULL)
        if missing < 0:
            nodes = Counter(pod.spec.node_name for pod in active)
            least = sorted(active, key=lambda pod: ownership.worth(pod, nodes))[:-missing]
            await ownership.delete_pods(self._site, obj, least, self.source)
            return Outcome()
        return self._counted(obj, active, len(pods) - len(active))

    def _counted(self, replica_set: ReplicaSet, active: list[Pod], others: int) -> Outcome:
        labels = (replica_set.spec.template.get("metadata") or {}).get("labels") or {}
        whole = [pod for pod in active if labels.items() <= dict(pod.metadata.labels).items()]
        census = Census(active, replica_set.spec.min_ready_seconds, self._site.now())
        status = ReplicaSetStatus(
            replicas=len(active),
            fully_labeled_replicas=some(len(whole)),
            ready_replicas=some(census.ready),
            available_replicas=some(census.available),
            terminating_replicas=others,
        )
        return Outcome(status, again=seconds(census.again) if census.again is not None else None)
