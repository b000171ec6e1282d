"""Deployment → ReplicaSets that follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubekit.errors import AlreadyExists, NotFound
from kubekit.runtime.objects import key, owner_reference, owners_of
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch, children

from ..context import Context
from ..kinds import Deployment, Pod, ReplicaSet, Template
from ..nodes.scheduler import FINISHED
from . import deployment_status, rollouts
from .hashes import short_hash
from .ownership import Children
from .rollouts import DESIRED, HISTORY, MOST, REVISION, Limits, revision_of

HASH = "pod-template-hash"
_NOT_COPIED = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MOST}
)  # fmt: skip


class Deployments(Reconciler[Deployment]):
    """Rolls a template out: the newest ReplicaSet grows and the older ones shrink, within the limits it sets."""

    kind = Deployment
    source = "deployment-controller"
    tells_conditions = False
    workers = 4

    def __init__(self, site: Context) -> None:
        self._site, self._deployments = site, site.informer(Deployment)
        self._sets: Children[ReplicaSet] = Children(site, ReplicaSet, Deployment)
        self._replica_sets, self._pods = site.informer(ReplicaSet), Children(site, Pod, ReplicaSet)
        self.watches = (
            children(ReplicaSet, of=Deployment),
            self._sets.watch_orphans(lambda deployment: deployment.spec.selector),
            Watch(Pod, self._recreating),
        )

    def _recreating(self, pod: Pod) -> Iterable[str]:
        """A Deployment that waits for its old pods to be gone wants to know when they are."""
        for owner in owners_of(pod):
            replica_set = self._replica_sets.get(key(pod.metadata.namespace, owner.name))
            for grand in owners_of(replica_set) if replica_set is not None else ():
                found = self._deployments.get(key(pod.metadata.namespace, grand.name))
                if found is not None and found.spec.strategy.type == "Recreate":
                    yield found.key

    async def reconcile(self, obj: Deployment) -> Outcome:
        sets = sorted(await self._sets.claimed(obj, obj.spec.selector), key=_age)
        new = _newest(obj, sets)
        olds = [each for each in sets if each is not new]
        revision = max([*map(revision_of, olds), 0]) + 1
        if new is not None and not obj.spec.paused and await self._note_revision(obj, new, revision):
            return Outcome()
        if _is_scaled(obj, sets):
            await self._scale(obj, new, sets)
            return Outcome()
        if obj.spec.paused:
            return deployment_status.outcome(obj, new, sets, self._site.now())
        if await self._roll(obj, new, olds, revision):
            return Outcome()
        outcome = deployment_status.outcome(obj, new, sets, self._site.now())
        if new is not None and deployment_status.is_complete(obj, outcome.status):
            await self._forget(obj, olds)
        return outcome

    async def _roll(
        self, deployment: Deployment, new: ReplicaSet | None, olds: Sequence[ReplicaSet], revision: int
    ) -> bool:
        """Take the next step, if there is one to take. Answers whether the world changed."""
        if deployment.spec.strategy.type == "Recreate":
            if await self._resize(deployment, olds, {each.metadata.name: 0 for each in olds}):
                return True
            if self._still_running(olds):
                return False
        if new is None:
            size = rollouts.grown(deployment, 0, rollouts.total(olds))
            await self._begin(deployment, size, revision)
            return True
        size = rollouts.grown(deployment, new.spec.replicas, rollouts.total(olds))
        if size != new.spec.replicas:
            return await self._resize(deployment, [new], {new.metadata.name: size})
        return await self._resize(deployment, olds, rollouts.shrunk(deployment, new, olds))

    def _still_running(self, olds: Sequence[ReplicaSet]) -> bool:
        return any(pod.status.phase not in FINISHED for each in olds for pod in self._pods.of(each))

    async def _begin(self, deployment: Deployment, size: int, revision: int) -> None:
        """Make the ReplicaSet of a template that has none."""
        made = _replica_set(deployment, size, revision)
        try:
            await self._site.client.create(made, ReplicaSet.address, manager=self.source)
        except AlreadyExists:
            # Made by an earlier visit whose answer was lost: the cache will show it.
            return
        name = made["metadata"]["name"]
        if size:
            self._site.tell(
                deployment, "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to {size}", self.source
            )
        await self._write_revision(deployment, revision)

    async def _resize(self, deployment: Deployment, sets: Iterable[ReplicaSet], sizes: Mapping[str, int]) -> bool:
        changed = False
        for each in sets:
            size, before = sizes[each.metadata.name], each.spec.replicas
            if size == before:
                continue
            changed = True
            change = {"metadata": {"annotations": _sizes(deployment)}, "spec": {"replicas": size}}
            await self._patch(each, change)
            direction = "up" if size > before else "down"
            told = f"Scaled {direction} replica set {each.metadata.name} from {before} to {size}"
            self._site.tell(deployment, "ScalingReplicaSet", told, self.source)
        return changed

    async def _patch(self, replica_set: ReplicaSet, change: dict[str, Any]) -> None:
        change["metadata"]["resourceVersion"] = replica_set.metadata.resource_version
        meta = replica_set.metadata
        await self._site.client.patch(ReplicaSet, meta.name, change, meta.namespace, manager=self.source)

    async def _scale(self, deployment: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet]) -> None:
        """The number of pods was changed: one ReplicaSet takes it, several share it."""
        active = [each for each in sets if each.spec.replicas > 0]
        if len(active) <= 1:
            chosen = active or [new or sets[-1]]
            sizes: Mapping[str, int] = {chosen[0].metadata.name: deployment.spec.replicas}
        elif deployment.spec.strategy.type == "RollingUpdate":
            chosen, sizes = active, rollouts.proportional(deployment, active)
        else:
            chosen, sizes = active, {each.metadata.name: each.spec.replicas for each in active}
        await self._resize(deployment, chosen, sizes)
        for each in active:
            if sizes.get(each.metadata.name, each.spec.replicas) == each.spec.replicas:
                await self._patch(each, {"metadata": {"annotations": _sizes(deployment)}})

    async def _note_revision(self, deployment: Deployment, new: ReplicaSet, revision: int) -> bool:
        """Number the newest ReplicaSet, which may have been an older one before. Answers whether anything changed."""
        current = revision_of(new)
        wanted = _copied(deployment)
        if current < revision:
            wanted[REVISION] = str(revision)
            history = [*filter(None, new.metadata.annotations.get(HISTORY, "").split(","))]
            if current:
                wanted[HISTORY] = ",".join([*history, str(current)])
        changed = {name: text for name, text in wanted.items() if new.metadata.annotations.get(name) != text}
        change: dict[str, Any] = {"metadata": {"annotations": changed}}
        if new.spec.min_ready_seconds != deployment.spec.min_ready_seconds:
            change["spec"] = {"minReadySeconds": deployment.spec.min_ready_seconds}
        if changed or "spec" in change:
            await self._patch(new, change)
        return await self._write_revision(deployment, max(revision, current)) or bool(changed or "spec" in change)

    async def _write_revision(self, deployment: Deployment, revision: int) -> bool:
        meta = deployment.metadata
        if meta.annotations.get(REVISION) == str(revision):
            return False
        change = {"metadata": {"annotations": {REVISION: str(revision)}, "resourceVersion": meta.resource_version}}
        await self._site.client.patch(Deployment, meta.name, change, meta.namespace, manager=self.source)
        return True

    async def _forget(self, deployment: Deployment, olds: Sequence[ReplicaSet]) -> None:
        """Delete the oldest of the ReplicaSets that nobody needs but a rollback."""
        limit = deployment.spec.revision_history_limit
        unused = [each for each in olds if not (each.spec.replicas or each.status.replicas or each.deleting)]
        if limit is None:
            return
        for each in sorted(unused, key=revision_of)[: max(0, len(unused) - limit)]:
            meta = each.metadata
            try:
                await self._site.client.delete(ReplicaSet, meta.name, meta.namespace, uid=meta.uid)
            except NotFound:
                continue


def _age(replica_set: ReplicaSet) -> tuple[str, str]:
    return str(replica_set.metadata.creation_timestamp), replica_set.metadata.name


def _newest(deployment: Deployment, sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    """The ReplicaSet of the Deployment's template, however old."""
    wanted = _unhashed(deployment.spec.template)
    return next((each for each in sets if _unhashed(each.spec.template) == wanted), None)


def _unhashed(template: Template) -> Template:
    """A template without what tells the ReplicaSets of one Deployment apart."""
    meta = template.get("metadata") or {}
    labels = {name: value for name, value in (meta.get("labels") or {}).items() if name != HASH}
    return {**template, "metadata": {**meta, "labels": labels}}


def _is_scaled(deployment: Deployment, sets: Sequence[ReplicaSet]) -> bool:
    """Whether the wanted number is another than when the ReplicaSets got theirs."""
    active, wanted = [each for each in sets if each.spec.replicas > 0], deployment.spec.replicas
    if not active:
        # A rollout would see to it, but there is none while it is paused.
        return bool(deployment.spec.paused and sets and wanted)
    return any(each.metadata.annotations.get(DESIRED, str(wanted)) != str(wanted) for each in active)


def _sizes(deployment: Deployment) -> dict[str, str]:
    wanted = deployment.spec.replicas
    return {DESIRED: str(wanted), MOST: str(wanted + Limits.of(deployment).surge)}


def _copied(deployment: Deployment) -> dict[str, str]:
    return {name: text for name, text in deployment.metadata.annotations.items() if name not in _NOT_COPIED}


def _replica_set(deployment: Deployment, size: int, revision: int) -> dict[str, Any]:
    template, meta = deployment.spec.template, deployment.metadata
    code = short_hash(template)
    base = template.get("metadata") or {}
    labels = {**(base.get("labels") or {}), HASH: code}
    selector = deployment.spec.selector
    return {
        "metadata": {
            "name": f"{meta.name}-{code}",
            "namespace": meta.namespace,
            "labels": labels,
            "annotations": {**_copied(deployment), **_sizes(deployment), REVISION: str(revision)},
            "ownerReferences": [owner_reference(deployment, Deployment)],
        },
        "spec": {
            "replicas": size,
            "minReadySeconds": deployment.spec.min_ready_seconds,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH: code}},
            "template": {**template, "metadata": {**base, "labels": labels}},
        },
    }
