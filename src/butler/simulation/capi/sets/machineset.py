"""MachineSet → as many equal machines as it asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from msgspec import structs

from butler.engines.capi.kinds import SET_NAME, Cluster, Machine, MachineSet, SetStatus
from kubekit.client.protocol import Selection
from kubekit.errors import NotFound
from kubekit.runtime.conditions import merged
from kubekit.runtime.objects import owners_of
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, Watch, children

from .. import names, templates
from ..conditions import completed
from ..external import Definition
from ..shared import BY_CLUSTER, BY_OWNER, WAITING, Shared, has_controller, owned_by, pause_of, paused
from . import clones, counts, preflight
from .deletion_order import first_to_go

SOURCE = "machineset-controller"
_LOOK_AGAIN = timedelta(seconds=10)
"""When a template is missing: nobody tells when it comes."""
_SHOWN = ("Ready", "Available", "UpToDate")


class MachineSets(Reconciler[MachineSet]):
    """MachineSet → Machines."""

    kind = MachineSet
    finalizer = names.SET_FINALIZER
    tells_conditions = False
    source = SOURCE
    permissions = (
        Permission(MachineSet, ("patch",)),
        Permission(Machine, ("get", "list", "create", "patch", "delete")),
        Permission(Definition, ("list",)),
    )

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.watches = (
            replace(children(Machine, of=MachineSet), matters=_news_of),
            Watch(Cluster, self._of_cluster, matters=_state_of_cluster),
        )

    def _of_cluster(self, cluster: Cluster) -> Iterable[str]:
        return self._shared.sets.keys_by(BY_CLUSTER, cluster.key)

    async def reconcile(self, machines: MachineSet) -> Outcome:
        cluster = self._shared.cluster_of(machines.metadata.namespace, machines.spec.cluster_name)
        if cluster is None:
            return Outcome()
        if why := pause_of(cluster, machines):
            return Outcome(_paused(machines, why))
        if not has_controller(machines) and not machines.metadata.owner_references:
            await self._belong_to(machines, cluster)
            return Outcome()
        have = self._machines(machines)
        await self._pass_on(machines, have)
        blocked, again = await self._scale(machines, cluster, have)
        if blocked is None and self._shared.hold:
            # The caches have yet to show what was made, and then it is time for another visit.
            return Outcome()
        return self._outcome(machines, have, blocked or (), again)

    async def finalize(self, machines: MachineSet) -> Outcome:
        cluster = self._shared.cluster_of(machines.metadata.namespace, machines.spec.cluster_name)
        if why := pause_of(cluster, machines):
            return Outcome(_paused(machines, why), again=WAITING)
        have = await self._machines_now(machines)
        for machine in have:
            await self._delete(machine)
        if not have:
            return Outcome()
        return Outcome(self._status(machines, have, ()), again=WAITING)

    async def _scale(
        self, machines: MachineSet, cluster: Cluster, have: Sequence[Machine]
    ) -> tuple[Sequence[str] | None, timedelta | None]:
        """Create or delete what is missing or too much. Answers what is in the way, None if machines were made, and
        when to look again."""
        more = (machines.spec.replicas or 0) - len(have)
        if more < 0:
            await self._shrink(machines, have, -more)
            return (), None
        unfinished = [one for one in have if await clones.lacks_parts(self._shared, one)]
        if not unfinished and (more == 0 or machines.metadata.annotations.get(names.DISABLE_CREATE) == "true"):
            return (), None
        ref = cluster.spec.control_plane_ref
        control_plane = None if ref is None else await self._shared.externals.find(cluster.metadata.namespace, ref)
        if blocked := preflight.problems(machines, control_plane):
            return blocked, None
        return await self._grow(machines, more, unfinished)

    async def _grow(
        self, machines: MachineSet, more: int, unfinished: Sequence[Machine]
    ) -> tuple[Sequence[str] | None, timedelta | None]:
        try:
            parts = await clones.templates_of(self._shared, machines)
        except NotFound as error:
            return [str(error)], _LOOK_AGAIN
        for machine in unfinished:
            await clones.create_parts(self._shared, machines, machine, parts)
        if more > 0:
            # A machine whose creation was not acknowledged may be there all the same.
            more = (machines.spec.replicas or 0) - len(await self._machines_now(machines))
        for _ in range(more):
            made = await clones.create_machine(self._shared, machines, parts)
            self._shared.say(machines, SOURCE, "SuccessfulCreate", f'Created Machine "{made.metadata.name}"')
        return None if more > 0 else (), None

    async def _shrink(self, machines: MachineSet, have: Sequence[Machine], fewer: int) -> None:
        order = machines.spec.deletion.order if machines.spec.deletion is not None else None
        for machine in first_to_go(have, order)[:fewer]:
            if await self._delete(machine):
                name = machine.metadata.name
                self._shared.say(machines, SOURCE, "SuccessfulDelete", f'Deleted Machine "{name}"')

    async def _delete(self, machine: Machine) -> bool:
        """Whether it was not being deleted before."""
        if machine.deleting:
            return False
        meta = machine.metadata
        try:
            await self._shared.client.delete(Machine, meta.name, meta.namespace, uid=meta.uid)
        except NotFound:
            return False
        return True

    def _machines(self, machines: MachineSet) -> list[Machine]:
        return self._shared.machines.by(BY_OWNER, machines.metadata.uid)

    async def _machines_now(self, machines: MachineSet) -> list[Machine]:
        """By the API and not by a cache."""
        meta = machines.metadata
        named = Selection(namespace=meta.namespace, labels=f"{SET_NAME}={meta.name}")
        listed = await self._shared.client.list(Machine, named)
        return [one for one in listed.items if any(owner.uid == meta.uid for owner in owners_of(one))]

    async def _belong_to(self, machines: MachineSet, cluster: Cluster) -> None:
        """A set of no deployment belongs to its cluster."""
        meta = machines.metadata
        change = {"resourceVersion": meta.resource_version, "ownerReferences": [owned_by(cluster)]}
        await self._shared.client.patch(
            MachineSet, meta.name, {"metadata": change}, meta.namespace, manager=clones.MANAGER
        )

    async def _pass_on(self, machines: MachineSet, have: Sequence[Machine]) -> None:
        """Bring to the machines what changes without new ones; nothing does unless the set has changed."""
        if machines.status.observed_generation == machines.metadata.generation:
            return
        annotations = machines.spec.template.metadata.annotations
        for machine in have:
            if change := _passed_on(machines, machine):
                meta = machine.metadata
                await self._shared.client.patch(
                    Machine, meta.name, {"spec": change}, meta.namespace, manager=clones.MANAGER
                )
            await clones.mark(self._shared, machine, clones.labels_of(machines), annotations)

    def _outcome(
        self, machines: MachineSet, have: Sequence[Machine], blocked: Sequence[str], again: timedelta | None
    ) -> Outcome:
        waits = [left for one in have if _is_on_its_way(one) and (left := self._shared.held_back(one.metadata))]
        missing = len(have) < (machines.spec.replicas or 0)
        if missing and (left := self._shared.held_back(machines.metadata)):
            waits.append(left)
        if waits:
            return Outcome(again=max(waits))
        return Outcome(self._status(machines, have, blocked), again=again)

    def _status(self, machines: MachineSet, have: Sequence[Machine], blocked: Sequence[str]) -> SetStatus:
        want = 0 if machines.deleting else machines.spec.replicas or 0
        conditions = [
            counts.not_remediating(),
            counts.scaling_down(len(have), want),
            counts.scaling_up(len(have), want, blocked),
            counts.machines_ready("MachinesReady", have),
            counts.machines_up_to_date("MachinesUpToDate", have, self._shared.clock.now()),
            paused(""),
            counts.deleting(machines.deleting, f"Deleting {len(have)} Machines"),
        ]
        meta = machines.metadata
        return structs.replace(
            machines.status,
            selector=counts.selector_text(machines.spec.selector.match_labels),
            replicas=len(have),
            ready_replicas=counts.count(have, "Ready"),
            available_replicas=counts.count(have, "Available"),
            up_to_date_replicas=counts.count(have, "UpToDate"),
            conditions=completed(machines.status.conditions, conditions, meta.generation),
        )


def _is_on_its_way(machine: Machine) -> bool:
    """Whether a machine has not been heard of yet."""
    return machine.status.phase is None and not machine.deleting


def _passed_on(machines: MachineSet, machine: Machine) -> dict[str, Any]:
    """What of a machine's spec is to be changed in place, because its set says so; empty if nothing."""
    wanted = templates.passed_on(machines.spec.template.spec)
    if wanted["deletion"]["nodeDeletionTimeoutSeconds"] is None:
        del wanted["deletion"]["nodeDeletionTimeoutSeconds"]
    have = templates.passed_on(machine.spec)
    have["deletion"] = {name: have["deletion"][name] for name in wanted["deletion"]}
    return {} if have == wanted else wanted


def _paused(machines: MachineSet, why: str) -> SetStatus:
    return structs.replace(machines.status, conditions=merged(machines.status.conditions, paused(why)))


def _news_of(machine: Machine) -> tuple[Any, ...]:
    """What of a machine its set tells of."""
    told = [(one.type, one.status, one.message) for one in machine.status.conditions if one.type in _SHOWN]
    return machine.deleting, machine.status.node_ref is None, told


def _state_of_cluster(cluster: Cluster) -> tuple[Any, ...]:
    return cluster.spec.paused, cluster.spec.control_plane_ref
