"""Emptying a node before its machine goes: cordon it, evict its pods, and see whether they are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kubekit.client.protocol import Client, Selection
from kubekit.errors import NotFound, TooManyRequests
from kubekit.model.resource import Address, Model, ObjectMeta
from kubekit.runtime.objects import owners_of

from .. import names
from .nodes import Node

_MIRROR = "kubernetes.io/config.mirror"
"""Annotation of a pod that its kubelet runs from a file, whatever the API says."""
_NAMED = 5


class Pod(Model):
    """A pod, as far as it says whether it can go."""

    address: ClassVar[Address] = Address("", "v1", "Pod", "pods", namespaced=True)

    metadata: ObjectMeta


@dataclass(frozen=True, slots=True)
class Drained:
    """What is still on a node."""

    leaving: tuple[str, ...] = ()
    """Pods that are on their way."""
    held: tuple[str, ...] = ()
    """Pods that a disruption budget keeps for now."""

    @property
    def is_done(self) -> bool:
        return not self.leaving and not self.held

    @property
    def message(self) -> str:
        parts = [("waiting for", self.leaving), ("kept by a disruption budget:", self.held)]
        told = [f"* {what} {_listed(pods)}" for what, pods in parts if pods]
        return "\n".join(["Drain not completed yet:", *told])


def _listed(pods: tuple[str, ...]) -> str:
    more = len(pods) - _NAMED
    return ", ".join(pods[:_NAMED]) + (f" and {more} more" if more > 0 else "")


async def cordon(client: Client, node: Node) -> None:
    """Let no new pods come."""
    if not node.spec.unschedulable:
        change = {"spec": {"unschedulable": True}}
        await client.patch(Node, node.metadata.name, change, manager="capi-machine")


async def drain(client: Client, node: Node) -> Drained:
    """Evict what can be evicted and answer what is left. Pods of DaemonSets and of the kubelet itself stay."""
    on_node = Selection(fields=f"spec.nodeName={node.metadata.name}")
    leaving, held = [], []
    for pod in (await client.list(Pod, on_node)).items:
        meta = pod.metadata
        if _stays(pod) or (meta.deletion_timestamp is not None and node.unreachable):
            # On a node nobody hears of, nobody will ever say that a pod has ended.
            continue
        name = f"{meta.namespace}/{meta.name}"
        if meta.deletion_timestamp is not None:
            leaving.append(name)
            continue
        try:
            await client.evict(meta.name, meta.namespace)
            leaving.append(name)
        except TooManyRequests:
            held.append(name)
        except NotFound:
            continue
    return Drained(tuple(sorted(leaving)), tuple(sorted(held)))


def _stays(pod: Pod) -> bool:
    meta = pod.metadata
    of_daemon = any(owner.controls and owner.kind == "DaemonSet" for owner in owners_of(pod))
    return of_daemon or _MIRROR in meta.annotations or meta.labels.get(names.SKIP_DRAIN) == "skip"
