"""StatefulSet → pods with names and claims that stay, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from butler.api.model import MOST_PODS
from kubekit.errors import AlreadyExists
from kubekit.runtime.objects import key, owner_reference
from kubekit.runtime.reconciler import Outcome, Reconciler, children

from ..context import Context, seconds, some
from ..kinds import ControllerRevision, Pod, StatefulSet, StatefulSetStatus, Template
from ..nodes.scheduler import FINISHED
from ..service_kinds import PersistentVolumeClaim
from . import ownership, revisions
from .ownership import Census, Children
from .revisions import HASH, Revisions

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


@dataclass(frozen=True, slots=True)
class Scope:
    """A StatefulSet with what there is of it."""

    owner: StatefulSet
    pods: dict[int, Pod]
    current: ControllerRevision
    update: ControllerRevision

    @property
    def wanted(self) -> range:
        start = self.owner.spec.ordinals.start
        return range(start, start + min(self.owner.spec.replicas, MOST_PODS))

    @property
    def is_ordered(self) -> bool:
        return self.owner.spec.pod_management_policy != "Parallel"

    @property
    def partition(self) -> int:
        """The first ordinal that gets the new template."""
        rolling = self.owner.spec.update_strategy.rolling_update
        return (rolling.partition or 0) if rolling is not None else 0

    def revision_for(self, ordinal: int) -> ControllerRevision:
        """What a pod that is missing is made of: those an update has not come to yet keep their template."""
        behind = self.partition or sum(1 for pod in self.pods.values() if self._is_behind(pod))
        return self.current if ordinal - self.owner.spec.ordinals.start < behind else self.update

    def _is_behind(self, pod: Pod) -> bool:
        return self.is_of(pod, self.current) and not pod.deleting and self.current is not self.update

    def is_of(self, pod: Pod, revision: ControllerRevision) -> bool:
        return pod.metadata.labels.get(HASH) == revision.metadata.name


class StatefulSets(Reconciler[StatefulSet]):
    """Pods in their order: each waits for the one before it to be ready, and goes before the one before it."""

    kind = StatefulSet
    source = "statefulset-controller"
    tells_conditions = False
    workers = 2

    def __init__(self, site: Context) -> None:
        self._site = site
        self._pods: Children[Pod] = Children(site, Pod, StatefulSet)
        self._claims = site.informer(PersistentVolumeClaim)
        self._revisions = Revisions(site, StatefulSet)
        self.watches = (
            children(Pod, of=StatefulSet),
            children(ControllerRevision, of=StatefulSet),
            self._pods.watch_orphans(lambda stateful_set: stateful_set.spec.selector),
        )

    async def reconcile(self, obj: StatefulSet) -> Outcome:
        claimed = await self._pods.claimed(obj, obj.spec.selector)
        pods = {ordinal: pod for pod in claimed if (ordinal := _ordinal(obj, pod)) is not None}
        update = await self._revisions.current(obj)
        known = {each.metadata.name: each for each in self._revisions.of(obj)}
        scope = Scope(obj, pods, known.get(obj.status.current_revision or "", update), update)
        if await self._step(scope):
            return Outcome()
        return await self._counted(scope)

    async def _step(self, scope: Scope) -> bool:
        """Do what comes next. Answers whether the world changed, and will say so."""
        changed = False
        for ordinal in scope.wanted:
            pod = scope.pods.get(ordinal)
            if pod is None:
                await self._create(scope, ordinal)
                changed = True
            elif pod.status.phase in FINISHED and not pod.deleting:
                await ownership.delete_pods(self._site, scope.owner, [pod], self.source)
                changed = True
            if scope.is_ordered and (changed or not self._is_available(scope, pod)):
                return changed
        return changed or await self._shrink(scope) or await self._renew(scope)

    def _is_available(self, scope: Scope, pod: Pod | None) -> bool:
        minimum = scope.owner.spec.min_ready_seconds
        return pod is not None and ownership.available_in(pod, minimum, self._site.now()) == 0

    async def _shrink(self, scope: Scope) -> bool:
        """Delete what is beyond the wanted number, the last first."""
        beyond = sorted((ordinal for ordinal in scope.pods if ordinal not in scope.wanted), reverse=True)
        for ordinal in beyond:
            if not scope.pods[ordinal].deleting:
                await ownership.delete_pods(self._site, scope.owner, [scope.pods[ordinal]], self.source)
            if scope.is_ordered:
                return True
        return bool(beyond)

    async def _renew(self, scope: Scope) -> bool:
        """Delete the last pod that is not of the newest template, so that it is made anew."""
        if scope.owner.spec.update_strategy.type == "OnDelete":
            return False
        for ordinal in reversed(scope.wanted):
            pod = scope.pods.get(ordinal)
            if ordinal - scope.owner.spec.ordinals.start < scope.partition or pod is None:
                return False
            if not scope.is_of(pod, scope.update) and not pod.deleting:
                await ownership.delete_pods(self._site, scope.owner, [pod], self.source)
                return True
            if not self._is_available(scope, pod):
                return False
        return False

    async def _create(self, scope: Scope, ordinal: int) -> None:
        owner, revision = scope.owner, scope.revision_for(ordinal)
        name = f"{owner.metadata.name}-{ordinal}"
        for claim in self._claims_for(owner, ordinal):
            await self._create_claim(owner, claim)
        template = _with_claims(revisions.template_of(revision), owner, ordinal)
        labels = {POD_NAME: name, POD_INDEX: str(ordinal), HASH: revision.metadata.name}
        pod = ownership.pod_from(template, owner, StatefulSet, name=name, labels=labels)
        pod["spec"] = {**pod["spec"], "hostname": name, "subdomain": owner.spec.service_name}
        try:
            await self._site.client.create(pod, Pod.address, manager=self.source)
        except AlreadyExists:
            # Another's, or one of ours that has not gone yet: it is made when that has.
            return
        told = f"create Pod {name} in StatefulSet {owner.metadata.name} successful"
        self._site.tell(owner, "SuccessfulCreate", told, self.source)

    def _claims_for(self, owner: StatefulSet, ordinal: int) -> Iterable[dict[str, Any]]:
        """The claims of one pod that are not there yet."""
        keeps = owner.spec.persistent_volume_claim_retention_policy.when_deleted != "Delete"
        for template in owner.spec.volume_claim_templates:
            name = _claim_name(template.metadata["name"], owner, ordinal)
            if self._claims.get(key(owner.metadata.namespace, name)) is not None:
                continue
            labels = {**(template.metadata.get("labels") or {}), **(owner.spec.selector.get("matchLabels") or {})}
            meta: dict[str, Any] = {"name": name, "namespace": owner.metadata.namespace, "labels": labels}
            if template.metadata.get("annotations"):
                meta["annotations"] = template.metadata["annotations"]
            if not keeps:
                meta["ownerReferences"] = [{**owner_reference(owner, StatefulSet), "controller": False}]
            yield {"metadata": meta, "spec": template.spec}

    async def _create_claim(self, owner: StatefulSet, claim: dict[str, Any]) -> None:
        try:
            await self._site.client.create(claim, PersistentVolumeClaim.address, manager=self.source)
        except AlreadyExists:
            return
        told = f"create Claim {claim['metadata']['name']} in StatefulSet {owner.metadata.name} success"
        self._site.tell(owner, "SuccessfulCreate", told, self.source)

    async def _counted(self, scope: Scope) -> Outcome:
        owner, pods = scope.owner, list(scope.pods.values())
        census = Census(pods, owner.spec.min_ready_seconds, self._site.now())
        staying = [pod for pod in pods if not pod.deleting]
        updated = sum(1 for pod in staying if scope.is_of(pod, scope.update))
        current = sum(1 for pod in staying if scope.is_of(pod, scope.current))
        newest = scope.current.metadata.name
        if updated == len(pods) == owner.spec.replicas and census.ready == owner.spec.replicas:
            newest, current = scope.update.metadata.name, updated
            await self._revisions.forget(owner, {revisions.code_of(scope.update)})
        status = StatefulSetStatus(
            replicas=len(pods),
            ready_replicas=some(census.ready),
            current_replicas=some(current),
            updated_replicas=some(updated),
            available_replicas=census.available,
            current_revision=newest,
            update_revision=scope.update.metadata.name,
            collision_count=owner.status.collision_count or 0,
        )
        return Outcome(status, again=seconds(census.again) if census.again is not None else None)


def _ordinal(owner: StatefulSet, pod: Pod) -> int | None:
    base, _, number = pod.metadata.name.rpartition("-")
    return int(number) if base == owner.metadata.name and number.isdigit() else None


def _claim_name(template: str, owner: StatefulSet, ordinal: int) -> str:
    return f"{template}-{owner.metadata.name}-{ordinal}"


def _with_claims(template: Template, owner: StatefulSet, ordinal: int) -> Template:
    """The template with the volumes of this pod's own claims."""
    names = [each.metadata["name"] for each in owner.spec.volume_claim_templates]
    if not names:
        return template
    own = [{"name": name, "persistentVolumeClaim": {"claimName": _claim_name(name, owner, ordinal)}} for name in names]
    others = [volume for volume in template["spec"].get("volumes") or () if volume["name"] not in names]
    return {**template, "spec": {**template["spec"], "volumes": [*others, *own]}}
