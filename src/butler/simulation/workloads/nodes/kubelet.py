"""Pod on a node → Running: the kubelets of simulated nodes, which run nothing."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from ipaddress import ip_network
from itertools import islice

from msgspec import structs

from butler.api.model import SIMULATED
from kubekit.errors import NotFound
from kubekit.runtime.objects import key_of
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch

from ..context import NODE, Context, seconds
from ..kinds import Node, Pod, PodAddress, PodStatus
from . import containers, fit
from .scheduler import FINISHED

_NETWORK = "10.244.0.0/16"
"""Where pods live on nodes that have no network of their own for them."""
_ADDRESS = "address"


class Kubelets(Reconciler[Pod]):
    """Lets pods seem to run, end and disappear; those of a node that is gone disappear too."""

    kind = Pod
    name = "kubelets"
    source = "kubelet"
    tells_conditions = False
    sees_ending = True

    def __init__(self, site: Context) -> None:
        self._site, self._pods, self._nodes = site, site.pods(), site.nodes()
        self._pods.index(_ADDRESS, _addresses)
        self._given: dict[str, tuple[Pod, str]] = {}
        """Addresses by the uid of the pod that got them, until the cache shows it."""
        self.watches = (Watch(Node, self._on),)

    def _on(self, node: Node) -> Iterable[str]:
        return self._pods.keys_by(NODE, node.metadata.name)

    async def reconcile(self, obj: Pod) -> Outcome:
        if not obj.spec.node_name:
            return Outcome()
        node = self._nodes.get(obj.spec.node_name)
        if node is None:
            await self._remove(obj)
            return Outcome()
        if not fit.is_ready(node):
            return Outcome(containers.unreachable(obj.status))
        if obj.deleting:
            return await self._end(obj)
        patience = self._patience(obj, node)
        if patience is not None and patience <= 0:
            await self._evict(obj)
            return Outcome()
        return await self._go_on(obj, node, patience)

    async def _go_on(self, pod: Pod, node: Node, patience: float | None) -> Outcome:
        if SIMULATED not in pod.metadata.annotations:
            meta = pod.metadata
            change = {"metadata": {"annotations": {SIMULATED: "true"}, "resourceVersion": meta.resource_version}}
            await self._site.client.patch(Pod, meta.name, change, meta.namespace, manager=self.source)
            return Outcome()
        made = containers.progress(pod, self._site.now(), self._site.delays)
        status = self._addressed(pod, made.status, node)
        waits = [wait for wait in (made.again, patience) if wait is not None]
        return Outcome(status, again=seconds(min(waits)) if waits else None, notes=made.notes)

    async def _end(self, pod: Pod) -> Outcome:
        """A pod that was told to go takes a moment, never longer than its grace period."""
        grace = pod.metadata.deletion_grace_period_seconds
        if not grace:
            # Only finalizers keep it, and those are not ours.
            return Outcome()
        assert pod.metadata.deletion_timestamp is not None
        told = pod.metadata.deletion_timestamp - timedelta(seconds=grace)
        left = min(self._site.delays.stop, grace) - (self._site.now() - told).total_seconds()
        if left > 0 and self._site.delays.stop:
            return Outcome(again=seconds(left))
        for each in pod.spec.containers:
            self._site.tell(pod, "Killing", f"Stopping container {each.name}", self.source)
        await self._remove(pod)
        return Outcome()

    async def _remove(self, pod: Pod) -> None:
        meta = pod.metadata
        with suppress(NotFound):
            await self._site.client.delete(Pod, meta.name, meta.namespace, uid=meta.uid, grace=0)

    def _patience(self, pod: Pod, node: Node) -> float | None:
        """Seconds until a taint drives the pod from its node; None when none does."""
        taints = [taint for taint in node.spec.taints if taint.effect == "NoExecute"]
        waits: list[float] = []
        for taint in taints:
            tolerations = [each for each in pod.spec.tolerations if fit.tolerates(each, taint)]
            if not tolerations:
                return 0.0
            limits = [each.toleration_seconds for each in tolerations if each.toleration_seconds is not None]
            if limits and taint.time_added is not None:
                waits.append(min(limits) - (self._site.now() - taint.time_added).total_seconds())
        return min(waits, default=None)

    async def _evict(self, pod: Pod) -> None:
        self._site.tell(pod, "TaintManagerEviction", f"Marking for deletion Pod {pod.key}", "taint-eviction-controller")
        await self._site.client.delete(Pod, pod.metadata.name, pod.metadata.namespace, uid=pod.metadata.uid)

    def _addressed(self, pod: Pod, status: PodStatus, node: Node) -> PodStatus:
        host = next((each.address for each in node.status.addresses if each.type == "InternalIP"), None)
        address = status.pod_ip
        if address is None and status.phase != "Pending":
            address = host if pod.spec.host_network else self._free_address(pod, node)
        return structs.replace(
            status,
            host_ip=host,
            host_ips=(PodAddress(ip=host),) if host else (),
            pod_ip=address,
            pod_ips=(PodAddress(ip=address),) if address else (),
        )

    def _free_address(self, pod: Pod, node: Node) -> str | None:
        """The first address of the node's network that no pod has or is about to have."""
        for uid, (other, _) in list(self._given.items()):
            shown = self._pods.get(key_of(other))
            if shown is None or shown.metadata.uid != uid or shown.status.pod_ip:
                del self._given[uid]
        given = {address for uid, (_, address) in self._given.items() if uid != pod.metadata.uid}
        # The first two belong to the network and to its bridge.
        candidates = (str(each) for each in islice(ip_network(node.spec.pod_cidr or _NETWORK), 2, None))
        free = (each for each in candidates if each not in given and not self._pods.keys_by(_ADDRESS, each))
        address = next(free, None)
        if address is not None:
            self._given[pod.metadata.uid] = (pod, address)
        return address


def _addresses(pod: Pod) -> list[str]:
    """A pod that is over, or shares its node's address, takes none away."""
    return [] if pod.status.phase in FINISHED or pod.spec.host_network else [pod.status.pod_ip or ""]
