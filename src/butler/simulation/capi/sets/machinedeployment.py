"""MachineDeployment → one MachineSet for each revision, machines moving from the old to the new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import structs

from butler.engines.capi.kinds import (
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
    Cluster,
    LabelSelector,
    Machine,
    MachineDeployment,
    MachineSet,
    MachineSetDeletion,
    MachineSetSpec,
    MachineTemplateSpec,
    SetStatus,
)
from kubekit.client.protocol import Selection
from kubekit.errors import NotFound
from kubekit.model.resource import ObjectMeta
from kubekit.runtime.conditions import merged
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, Watch, children

from .. import names, templates
from ..shared import BY_CLUSTER, BY_OWNER, WAITING, Shared, is_owned, owned_by, pause_of, paused
from . import clones, counts, rollout
from .deployment_status import status_of
from .replicas import number_for
from .rollout import Bounds, Revision

SOURCE = "machinedeployment-controller"
MANAGER = "capi-machinedeployment"
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_PASSED_ON = ("kubectl.kubernetes.io/last-applied-configuration", names.REVISION, names.PAUSED)


@dataclass(frozen=True, slots=True)
class Revisions:
    """The sets of a deployment."""

    newest: MachineSet | None
    """The one that makes what is asked for."""
    older: tuple[MachineSet, ...]
    """The oldest first."""

    @property
    def all(self) -> tuple[MachineSet, ...]:
        return (*self.older, self.newest) if self.newest is not None else self.older


class MachineDeployments(Reconciler[MachineDeployment]):
    """MachineDeployment → MachineSets."""

    kind = MachineDeployment
    finalizer = names.DEPLOYMENT_FINALIZER
    tells_conditions = False
    source = SOURCE
    permissions = (
        Permission(MachineDeployment, ("patch",)),
        Permission(MachineSet, ("get", "list", "create", "patch", "delete")),
    )

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.watches = (
            replace(children(MachineSet, of=MachineDeployment), matters=_news_of),
            Watch(Cluster, self._of_cluster, matters=_state_of_cluster),
        )

    def _of_cluster(self, cluster: Cluster) -> Iterable[str]:
        return self._shared.deployments.keys_by(BY_CLUSTER, cluster.key)

    async def reconcile(self, deployment: MachineDeployment) -> Outcome:
        cluster = self._shared.cluster_of(deployment.metadata.namespace, deployment.spec.cluster_name)
        if cluster is None:
            return Outcome()
        if why := pause_of(cluster, deployment):
            return Outcome(_paused(deployment, why))
        if deployment.spec.replicas is None:
            await self._patch(deployment, {"spec": {"replicas": number_for(deployment)}})
            return Outcome()
        revisions = self._revisions(deployment, self._sets(deployment))
        revision = _revision_of(revisions)
        if revisions.newest is None and not deployment.spec.paused:
            await self._create(deployment, revisions, revision)
        elif revisions.newest is not None:
            await self._scale(deployment, revisions.newest, revisions.older, revision)
            await self._clean_up(deployment, revisions.newest, revisions.older)
        if change := _belonging(deployment, cluster, revision):
            await self._patch(deployment, {"metadata": change})
            return Outcome()
        return self._outcome(deployment, revisions.all)

    async def _patch(self, deployment: MachineDeployment, change: dict[str, Any]) -> None:
        """Change the deployment itself, which wakes its controller again."""
        meta = deployment.metadata
        await self._shared.client.patch(MachineDeployment, meta.name, change, meta.namespace, manager=MANAGER)

    async def finalize(self, deployment: MachineDeployment) -> Outcome:
        cluster = self._shared.cluster_of(deployment.metadata.namespace, deployment.spec.cluster_name)
        if why := pause_of(cluster, deployment):
            return Outcome(_paused(deployment, why), again=WAITING)
        left = await self._sets_now(deployment)
        for machines in left:
            await self._delete(machines)
        if not left:
            return Outcome()
        return Outcome(self._status(deployment, left), again=WAITING)

    def _sets(self, deployment: MachineDeployment) -> list[MachineSet]:
        return self._shared.sets.by(BY_OWNER, deployment.metadata.uid)

    async def _sets_now(self, deployment: MachineDeployment) -> list[MachineSet]:
        """By the API and not by a cache."""
        meta = deployment.metadata
        named = Selection(namespace=meta.namespace, labels=f"{DEPLOYMENT_NAME}={meta.name}")
        return [one for one in (await self._shared.client.list(MachineSet, named)).items if is_owned(one, deployment)]

    def _revisions(self, deployment: MachineDeployment, sets: Iterable[MachineSet]) -> Revisions:
        ordered = sorted(sets, key=lambda one: (one.metadata.creation_timestamp or _BEGINNING, one.metadata.name))
        now = self._shared.clock.now()
        fitting = [one for one in ordered if not one.deleting and templates.matches(one, deployment, now)]
        newest = max(fitting, key=lambda one: one.spec.replicas or 0) if fitting else None
        return Revisions(newest, tuple(one for one in ordered if one is not newest))

    async def _create(self, deployment: MachineDeployment, revisions: Revisions, revision: int) -> None:
        if self._revisions(deployment, await self._sets_now(deployment)).newest is not None:
            # It was created but never acknowledged; the cache will show it.
            return
        bounds = rollout.bounds_of(deployment)
        fresh = Revision("", 0, 0, 0)
        older = [self._numbers(one) for one in revisions.older]
        strategy = rollout.strategy_of(deployment)
        replicas = rollout.plan(bounds, fresh, older, on_delete=strategy.type == rollout.ON_DELETE).get("", 0)
        made = await self._shared.client.create(self._new_set(deployment, bounds, revision, replicas), manager=MANAGER)
        place = f"{made.metadata.namespace}/{made.metadata.name}"
        self._shared.say(deployment, SOURCE, "SuccessfulCreate", f"Created MachineSet {place} with {replicas} replicas")

    def _new_set(self, deployment: MachineDeployment, bounds: Bounds, revision: int, replicas: int) -> MachineSet:
        meta, spec = deployment.metadata, deployment.spec
        ending = names.suffix(self._shared.chance)
        unique = {names.TEMPLATE_HASH: f"{templates.fingerprint(spec.template.spec)}-{ending}"}
        return MachineSet(
            metadata=ObjectMeta(
                name=names.suffixed(meta.name, ending),
                namespace=meta.namespace,
                labels={**_labels(deployment), **unique},
                annotations=_annotations(deployment, bounds, revision, is_newest=True),
                finalizers=(names.SET_FINALIZER,),
                owner_references=(owned_by(deployment, controls=True),),
            ),
            spec=MachineSetSpec(
                cluster_name=spec.cluster_name,
                replicas=replicas,
                selector=LabelSelector(match_labels={**spec.selector.match_labels, **unique}),
                template=MachineTemplateSpec(
                    metadata=structs.replace(
                        spec.template.metadata, labels={**spec.template.metadata.labels, **unique}
                    ),
                    spec=spec.template.spec,
                ),
                deletion=spec.deletion,
            ),
        )

    async def _scale(
        self, deployment: MachineDeployment, newest: MachineSet, older: Sequence[MachineSet], revision: int
    ) -> None:
        bounds = rollout.bounds_of(deployment)
        on_delete = rollout.strategy_of(deployment).type == rollout.ON_DELETE
        if deployment.spec.paused:
            targets = {newest.metadata.name: bounds.replicas} if newest.spec.replicas != bounds.replicas else {}
        else:
            numbers = [self._numbers(one) for one in older]
            targets = rollout.plan(bounds, self._numbers(newest), numbers, on_delete=on_delete)
        for machines in (one for one in (newest, *older) if not one.deleting):
            target = targets.get(machines.metadata.name, machines.spec.replicas or 0)
            annotations = _annotations(deployment, bounds, revision, is_newest=machines is newest)
            await self._change(deployment, machines, target, annotations)

    async def _change(
        self, deployment: MachineDeployment, machines: MachineSet, target: int, annotations: dict[str, str]
    ) -> None:
        """Bring a set to what the deployment says of it, in one write if anything differs."""
        meta, before = machines.metadata, machines.spec.replicas or 0
        await self._take_back(deployment, machines)
        change = _in_place(deployment, machines)
        lacking = {name: value for name, value in annotations.items() if meta.annotations.get(name) != value}
        if lacking:
            change.setdefault("metadata", {}).setdefault("annotations", {}).update(lacking)
        if target != before:
            change.setdefault("spec", {})["replicas"] = target
        if not change:
            return
        # Only if nobody has changed its number meanwhile.
        change.setdefault("metadata", {})["resourceVersion"] = meta.resource_version
        await self._shared.client.patch(MachineSet, meta.name, change, meta.namespace, manager=MANAGER)
        if target != before:
            how = "up" if target > before else "down"
            message = f"Scaled {how} MachineSet {meta.name}: {before} -> {target}"
            self._shared.say(deployment, SOURCE, "SuccessfulScale", message)

    async def _take_back(self, deployment: MachineDeployment, machines: MachineSet) -> None:
        """Labels and annotations that the deployment no longer gives go from its machines before they go from the set,
        because afterwards nobody knows that there were any."""
        labels, annotations = _withdrawn(deployment, machines)
        if labels or annotations:
            for machine in self._shared.machines.by(BY_OWNER, machines.metadata.uid):
                await clones.mark(self._shared, machine, dict.fromkeys(labels), dict.fromkeys(annotations))

    def _numbers(self, machines: MachineSet) -> Revision:
        """A set by its numbers, as fresh as they can be had: from its machines, and from what it says of them."""
        have = self._shared.machines.by(BY_OWNER, machines.metadata.uid)
        lasting = [one for one in have if not one.deleting]
        return Revision(
            machines.metadata.name,
            wanted=0 if machines.deleting else machines.spec.replicas or 0,
            actual=max(len(have), machines.status.replicas or 0),
            available=counts.count(lasting, "Available"),
            going=len(have) - len(lasting),
        )

    async def _clean_up(self, deployment: MachineDeployment, newest: MachineSet, older: Sequence[MachineSet]) -> None:
        """Remove revisions that are of no use any more, once everything is as asked for."""
        wanted = deployment.spec.replicas or 0
        if newest.spec.replicas != wanted or newest.status.available_replicas != wanted:
            return
        for machines in older:
            numbers = self._numbers(machines)
            is_settled = machines.status.observed_generation == machines.metadata.generation
            if numbers.wanted == 0 and numbers.actual == 0 and is_settled and await self._delete(machines):
                name = machines.metadata.name
                self._shared.say(deployment, SOURCE, "SuccessfulDelete", f'Deleted MachineSet "{name}"')

    async def _delete(self, machines: MachineSet) -> bool:
        """Whether it was not being deleted before."""
        if machines.deleting:
            return False
        meta = machines.metadata
        try:
            await self._shared.client.delete(MachineSet, meta.name, meta.namespace, uid=meta.uid)
        except NotFound:
            return False
        return True

    def _outcome(self, deployment: MachineDeployment, sets: Sequence[MachineSet]) -> Outcome:
        unheard = not sets or any(one.status.replicas is None for one in sets)
        if deployment.status.phase is None and unheard and (left := self._shared.held_back(deployment.metadata)):
            return Outcome(again=left)
        return Outcome(self._status(deployment, sets), again=self._until_due(deployment))

    def _until_due(self, deployment: MachineDeployment) -> timedelta | None:
        """How long until all machines are to be replaced, if they are."""
        after = deployment.spec.rollout.after if deployment.spec.rollout is not None else None
        left = after - self._shared.clock.now() if after is not None else timedelta(0)
        return left if left > timedelta(0) else None

    def _status(self, deployment: MachineDeployment, sets: Sequence[MachineSet]) -> SetStatus:
        machines = self._machines(sets)
        return status_of(deployment, sets, machines, rollout.bounds_of(deployment), self._shared.clock.now())

    def _machines(self, sets: Iterable[MachineSet]) -> list[Machine]:
        return [one for machines in sets for one in self._shared.machines.by(BY_OWNER, machines.metadata.uid)]


def _revision_of(revisions: Revisions) -> int:
    """The number of the newest set: that of the last one, and one more if it is not the newest."""
    known = [_number(one) for one in revisions.older]
    last = max(known, default=0)
    return last + 1 if revisions.newest is None else max(_number(revisions.newest), last + 1 if known else 1)


def _number(machines: MachineSet) -> int:
    text = machines.metadata.annotations.get(names.REVISION, "")
    return int(text) if text.isdecimal() else 0


def _labels(deployment: MachineDeployment) -> dict[str, str]:
    return {**deployment.spec.template.metadata.labels, DEPLOYMENT_NAME: deployment.metadata.name}


def _annotations(deployment: MachineDeployment, bounds: Bounds, revision: int, *, is_newest: bool) -> dict[str, str]:
    passed = {name: value for name, value in deployment.metadata.annotations.items() if name not in _NOT_PASSED_ON}
    blocked = not is_newest and rollout.strategy_of(deployment).type == rollout.ON_DELETE
    return {
        **passed,
        names.DESIRED_REPLICAS: str(bounds.replicas),
        names.MAX_REPLICAS: str(bounds.most),
        names.DISABLE_CREATE: "true" if blocked else "false",
        **({names.REVISION: str(revision)} if is_newest else {}),
    }


def _in_place(deployment: MachineDeployment, machines: MachineSet) -> dict[str, Any]:
    """The patch that brings what changes without a new revision; empty when nothing does."""
    spec, template, wanted_meta = deployment.spec, machines.spec.template, deployment.spec.template.metadata
    unique = {names.TEMPLATE_HASH: machines.metadata.labels.get(names.TEMPLATE_HASH, "")}
    labels = {**wanted_meta.labels, **unique}
    change: dict[str, Any] = {}
    wanted = templates.passed_on(spec.template.spec)
    inner: dict[str, Any] = {} if wanted == templates.passed_on(template.spec) else {"spec": wanted}
    if dict(template.metadata.labels) != labels or template.metadata.annotations != wanted_meta.annotations:
        gone, forgotten = (dict.fromkeys(withdrawn) for withdrawn in _withdrawn(deployment, machines))
        inner["metadata"] = {
            "labels": {**gone, **labels}, "annotations": {**forgotten, **wanted_meta.annotations},
        }  # fmt: skip
        # The set itself has the labels of its machines too.
        change["metadata"] = {"labels": {**gone, **_labels(deployment), **unique}}
    if inner:
        change["spec"] = {"template": inner}
    if machines.spec.deletion != spec.deletion:
        order = (spec.deletion or MachineSetDeletion()).order
        change.setdefault("spec", {})["deletion"] = msgspec.to_builtins({"order": order})
    return change


def _withdrawn(deployment: MachineDeployment, machines: MachineSet) -> tuple[list[str], list[str]]:
    """Names of labels and annotations that machines of a set have and should no longer have."""
    have, wanted = machines.spec.template.metadata, deployment.spec.template.metadata
    labels = [name for name in have.labels if name not in wanted.labels and name != names.TEMPLATE_HASH]
    return labels, [name for name in have.annotations if name not in wanted.annotations]


def _belonging(deployment: MachineDeployment, cluster: Cluster, revision: int) -> dict[str, Any]:
    """What the deployment's own metadata lacks; empty when nothing."""
    meta, change = deployment.metadata, dict[str, Any]()
    if not is_owned(deployment, cluster):
        change["ownerReferences"] = [*meta.owner_references, owned_by(cluster)]
    if meta.labels.get(CLUSTER_NAME) != deployment.spec.cluster_name:
        change["labels"] = {CLUSTER_NAME: deployment.spec.cluster_name}
    if meta.annotations.get(names.REVISION) != str(revision) and not deployment.spec.paused:
        change["annotations"] = {names.REVISION: str(revision)}
    return {**change, "resourceVersion": meta.resource_version} if change else {}


def _paused(deployment: MachineDeployment, why: str) -> SetStatus:
    return structs.replace(deployment.status, conditions=merged(deployment.status.conditions, paused(why)))


def _news_of(machines: MachineSet) -> tuple[Any, ...]:
    """What of a set its deployment acts on."""
    return machines.spec, machines.status, machines.deleting


def _state_of_cluster(cluster: Cluster) -> tuple[Any, ...]:
    return cluster.spec.paused, cluster.metadata.uid
