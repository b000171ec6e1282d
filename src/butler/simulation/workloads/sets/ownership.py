"""What belongs to whom: children by owner, orphans that are taken in, strangers that are let go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from butler.api.model import MOST_PODS
from kubekit.errors import Forbidden, NotFound
from kubekit.model.selectors import from_label_selector
from kubekit.runtime.informer import Informer
from kubekit.runtime.objects import key_of, owner_reference
from kubekit.runtime.reconciler import Watch

from ..context import ORPHANS, OWNER, PLACE, Context, controllers_of, find_condition, holds, moment, selects
from ..kinds import Labels, Pod, Template
from ..nodes.scheduler import FINISHED

Child = TypeVar("Child", bound=Any)

AT_ONCE = 500
"""So many children are made or deleted in one visit."""
FULL = timedelta(minutes=1)
"""After so long it is asked again whether there is room."""


class Children(Generic[Child]):
    """The objects of one kind that objects of another own and select."""

    def __init__(self, site: Context, kind: type[Child], parent: type[Any]) -> None:
        self._site, self._kind, self._parent = site, kind, parent
        self._informer: Informer[Child] = site.informer(kind)
        self._parents: Informer[Any] = site.informer(parent)

    def of(self, owner: Any) -> list[Child]:
        """Those the owner controls, without asking what it selects."""
        return self._informer.by(OWNER, owner.metadata.uid)

    async def claimed(self, owner: Any, selector: Labels) -> list[Child]:
        """Those the owner controls after it took in orphans it selects and let go what it selects no longer."""
        mine, wanted = self.of(owner), from_label_selector(selector)
        for child in self._informer.by(ORPHANS, owner.metadata.namespace):
            if wanted.matches(child.metadata.labels) and not child.deleting:
                mine.append(await self._own(child, owner))
        strangers = [child for child in mine if not wanted.matches(child.metadata.labels) and not child.deleting]
        for child in strangers:
            await self._release(child, owner)
        gone = {child.metadata.uid for child in strangers}
        return [child for child in mine if child.metadata.uid not in gone] if gone else mine

    async def _own(self, child: Child, owner: Any) -> Child:
        references = [*child.metadata.owner_references, owner_reference(owner, self._parent)]
        return await self._write_owners(child, references)

    async def _release(self, child: Child, owner: Any) -> None:
        others = [one for one in child.metadata.owner_references if one.uid != owner.metadata.uid]
        with suppress(NotFound):
            await self._write_owners(child, others)

    async def _write_owners(self, child: Child, references: Sequence[Any]) -> Child:
        meta = {"ownerReferences": references, "resourceVersion": child.metadata.resource_version}
        written: Child = await self._site.client.patch(
            self._kind, child.metadata.name, {"metadata": meta}, child.metadata.namespace
        )
        return written

    def watch_orphans(self, selector: Callable[[Any], Labels]) -> Watch:
        """Wakes whoever would take in an orphan that comes or changes."""

        def keys(child: Child) -> Iterable[str]:
            if controllers_of(child):
                return ()
            near = self._parents.by(PLACE, child.metadata.namespace)
            return [key_of(one) for one in near if selects(selector(one), child)]

        return Watch(self._kind, keys)


def is_active(pod: Pod) -> bool:
    return not pod.deleting and pod.status.phase not in FINISHED


def is_ready(pod: Pod) -> bool:
    return holds(pod.status.conditions, "Ready")


def available_in(pod: Pod, minimum: int, now: datetime) -> float | None:
    """Seconds until a pod has been ready for long enough, 0 when it has; None when it is not ready."""
    if not is_ready(pod) or pod.deleting:
        return None
    ready = find_condition(pod.status.conditions, "Ready") or {}
    since = moment(ready.get("lastTransitionTime")) or now
    return max(minimum - (now - since).total_seconds(), 0.0) if minimum else 0.0


class Census:
    """How many of some pods are ready, and available after having been ready for a while."""

    def __init__(self, pods: Iterable[Pod], minimum: int, now: datetime) -> None:
        waits = [available_in(pod, minimum, now) for pod in pods]
        self.total = len(waits)
        self.ready = sum(1 for wait in waits if wait is not None)
        self.available = sum(1 for wait in waits if wait == 0)
        self.again = min((wait for wait in waits if wait), default=None)
        """Seconds until another one is available."""


def pod_from(template: Template, owner: Any, kind: type[Any], **meta: Any) -> dict[str, Any]:
    """A pod of a template; `meta` says how it is called and what labels and annotations it has beside."""
    base: Mapping[str, Any] = template.get("metadata") or {}
    merged = {name: {**(base.get(name) or {}), **(meta.pop(name, None) or {})} for name in ("labels", "annotations")}
    metadata = {
        "namespace": owner.metadata.namespace,
        **{name: value for name, value in merged.items() if value},
        **({"finalizers": list(base["finalizers"])} if base.get("finalizers") else {}),
        "ownerReferences": [owner_reference(owner, kind)],
        **meta,
    }
    return {"metadata": metadata, "spec": template.get("spec") or {}}


async def create_pods(site: Context, owner: Any, pods: Sequence[dict[str, Any]], source: str) -> bool:
    """Make as many as there is room for, all at once; each is told of. Says whether there was room."""
    refused: list[dict[str, Any]] = []

    async def create(pod: dict[str, Any]) -> None:
        try:
            made = await site.client.create(pod, Pod.address, manager=source)
        except Forbidden as error:
            # Others have made some meanwhile, or a quota of the tenant's own says so.
            site.tell(owner, "FailedCreate", f"Error creating: {error.message}", source, warning=True)
            refused.append(pod)
            return
        site.tell(owner, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}", source)

    room = max(MOST_PODS - len(site.pods()), 0)
    if pods and not room:
        used = f"requested: pods=1, used: pods={MOST_PODS}, limited: pods={MOST_PODS}"
        why = f"Error creating: pods is forbidden: exceeded quota: pods-of-the-cluster, {used}"
        site.tell(owner, "FailedCreate", why, source, warning=True)
        return False
    async with asyncio.TaskGroup() as group:
        for pod in pods[: min(room, AT_ONCE)]:
            group.create_task(create(pod))
    return not refused


async def delete_pods(site: Context, owner: Any, pods: Sequence[Pod], source: str) -> None:
    async def delete(pod: Pod) -> None:
        try:
            await site.client.delete(Pod, pod.metadata.name, pod.metadata.namespace, uid=pod.metadata.uid)
        except NotFound:
            return
        site.tell(owner, "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}", source)

    async with asyncio.TaskGroup() as group:
        for pod in pods[:AT_ONCE]:
            group.create_task(delete(pod))


def worth(pod: Pod, pods_per_node: Mapping[str, int]) -> tuple[Any, ...]:
    """Pods in the order in which they are given up: what runs, and has run longest, stays."""
    phase = {"Pending": 0, "Unknown": 1}.get(pod.status.phase, 2)
    cost = pod.metadata.annotations.get("controller.kubernetes.io/pod-deletion-cost", "0")
    created = pod.metadata.creation_timestamp
    return (
        bool(pod.spec.node_name), phase, is_ready(pod), int(cost) if cost.lstrip("-").isdigit() else 0,
        -pods_per_node.get(pod.spec.node_name, 0), -(created.timestamp() if created else 0), pod.metadata.name,
    )  # fmt: skip
