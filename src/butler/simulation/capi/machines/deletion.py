"""Taking a machine down: drain its node, delete its infrastructure, then its bootstrap data, then the node itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from msgspec import structs

from butler.engines.capi.kinds import Machine, MachineDeletion, MachineDeletionStatus, Ref
from kubekit.errors import ApiError, NotFound, ServiceUnavailable
from kubekit.runtime.reconciler import Outcome

from .. import names
from ..external import External
from ..shared import WAITING, Shared
from . import drain
from .nodes import Node
from .status import Ending, MachineView, status_of

_LOOK_AGAIN = timedelta(seconds=1)
"""While pods leave a node: nobody tells when they have gone."""
_NODE_PATIENCE = 10
"""Seconds to try to delete a Node before its machine goes without."""
SOURCE = "machine-controller"


class Deletion:
    """One machine that is being deleted; each call takes it as far as it gets."""

    def __init__(self, shared: Shared, drain_takes: float) -> None:
        self._shared = shared
        self._drain_takes = timedelta(seconds=drain_takes)

    async def advance(self, sight: MachineView) -> Outcome:
        """Without `again` when the machine may go."""
        machine = sight.machine
        if _hooked(machine, names.PRE_DRAIN):
            return self._wait(sight, Ending("WaitingForPreDrainHook", "Waiting for pre-drain hooks to succeed"))
        if self._drains(sight):
            if (waiting := await self._drained(sight)) is not None:
                return waiting
            sight = replace(sight, machine=self._noted(machine))
        if _hooked(machine, names.PRE_TERMINATE):
            ending = Ending("WaitingForPreTerminateHook", "Waiting for pre-terminate hooks to succeed")
            return self._wait(sight, ending)
        if not await self._is_gone(machine, machine.spec.infrastructure_ref, sight.infrastructure):
            return self._wait(sight, Ending("WaitingForInfrastructureDeletion"))
        sight = replace(sight, infrastructure=None)
        if not await self._is_gone(machine, machine.spec.bootstrap.config_ref, sight.config):
            return self._wait(sight, Ending("WaitingForBootstrapDeletion"))
        return await self._without_node(replace(sight, config=None))

    def _wait(self, sight: MachineView, ending: Ending, again: timedelta = WAITING) -> Outcome:
        return Outcome(status_of(sight, self._shared.clock.now(), ending), again=again)

    async def _is_gone(self, machine: Machine, ref: Ref | None, seen: External | None) -> bool:
        """Whether an object is gone, having asked for that; by the API, for a cache may be behind."""
        if ref is None:
            return True
        if seen is not None:
            await self._shared.externals.delete(seen)
        return not await self._shared.externals.exists(machine.metadata.namespace, ref)

    def _drains(self, sight: MachineView) -> bool:
        """Whether there is a node to be emptied: not if its whole cluster goes, nor if it was emptied before."""
        machine = sight.machine
        if names.EXCLUDE_DRAIN in machine.metadata.annotations or not _may_have_node(sight):
            return False
        # Once the infrastructure is on its way, its node has been drained.
        if sight.infrastructure is None or sight.infrastructure.deleting:
            return False
        limit = (machine.spec.deletion or MachineDeletion()).node_drain_timeout_seconds
        began = (machine.status.deletion or MachineDeletionStatus()).node_drain_start_time
        return not limit or began is None or self._shared.since(began) < timedelta(seconds=limit)

    async def _drained(self, sight: MachineView) -> Outcome | None:
        """None when the node is empty; else how to wait for that."""
        machine, node = sight.machine, sight.node
        client = await self._shared.workloads.client(machine.metadata.namespace, machine.spec.cluster_name)
        if client is None or node is None:
            return self._wait(sight, Ending("DrainingNode", "Waiting for a connection to the Cluster"), _LOOK_AGAIN)
        began = (machine.status.deletion or MachineDeletionStatus()).node_drain_start_time or self._shared.clock.now()
        try:
            await drain.cordon(client, node)
            left = await drain.drain(client, node)
        except NotFound:
            # The node went by itself.
            left = drain.Drained()
        pause = self._drain_takes - self._shared.since(began)
        if left.is_done and pause <= timedelta(0):
            self._tell_drained(machine, node)
            return None
        return self._draining(sight, began, left, max(pause, _LOOK_AGAIN if not left.is_done else pause))

    def _draining(self, sight: MachineView, began: datetime, left: drain.Drained, again: timedelta) -> Outcome:
        message = "" if left.is_done else left.message
        status = status_of(sight, self._shared.clock.now(), Ending("DrainingNode", message))
        started = MachineDeletionStatus(node_drain_start_time=began.replace(microsecond=0))
        return Outcome(structs.replace(status, deletion=started), again=again)

    def _noted(self, machine: Machine) -> Machine:
        """A machine that knows when it was emptied; its volumes are detached as soon as someone asks."""
        now = self._shared.clock.now().replace(microsecond=0)
        old = machine.status.deletion or MachineDeletionStatus()
        new = MachineDeletionStatus(
            node_drain_start_time=old.node_drain_start_time or now,
            wait_for_node_volume_detach_start_time=old.wait_for_node_volume_detach_start_time or now,
        )
        return structs.replace(machine, status=structs.replace(machine.status, deletion=new))

    def _tell_drained(self, machine: Machine, node: Node) -> None:
        name = node.metadata.name
        say = self._shared.say
        say(machine, SOURCE, "SuccessfulDrainNode", f'success draining Machine\'s node "{name}"')
        say(
            machine, SOURCE, "NodeVolumesDetached",
            f'success waiting for node volumes detaching Machine\'s node "{name}"',
        )  # fmt: skip

    async def _without_node(self, sight: MachineView) -> Outcome:
        """The last step: nothing of the machine is left, and so its node must not be either."""
        machine = sight.machine
        if not _lives_on(sight) or not machine.spec.provider_id:
            return Outcome()
        try:
            await self._delete_node(sight)
        except NotFound:
            return Outcome()
        except ApiError as error:
            if not self._patience_ends(machine):
                status = status_of(sight, self._shared.clock.now(), Ending("DeletingNode", error.message))
                return Outcome(status, again=_LOOK_AGAIN)
        return Outcome()

    async def _delete_node(self, sight: MachineView) -> None:
        """Also one that no cache shows yet. Raises NotFound, and ApiError when the tenant's API does not answer."""
        machine, node = sight.machine, sight.node
        client = await self._shared.workloads.client(machine.metadata.namespace, machine.spec.cluster_name)
        if client is None:
            raise ServiceUnavailable(f"cluster {machine.spec.cluster_name} has no kubeconfig")
        if node is None and machine.status.node_ref is not None:
            await client.delete(Node, machine.status.node_ref.name)
            return
        found = [node] if node is not None else (await client.list(Node)).items
        for one in found:
            if one.spec.provider_id == machine.spec.provider_id:
                await client.delete(Node, one.metadata.name, uid=one.metadata.uid)

    def _patience_ends(self, machine: Machine) -> bool:
        """After a second attempt at least, and when there was time enough."""
        limit = (machine.spec.deletion or MachineDeletion()).node_deletion_timeout_seconds
        asked = machine.metadata.deletion_timestamp
        told = machine.status.condition("Deleting")
        if limit == 0 or asked is None or told is None or told.reason != "DeletingNode":
            return False
        return self._shared.since(asked) > timedelta(seconds=limit or _NODE_PATIENCE)


def _hooked(machine: Machine, prefix: str) -> bool:
    """Whether someone wants to do something before the machine goes on to go."""
    return any(name.partition("/")[0] == prefix for name in machine.metadata.annotations)


def _may_have_node(sight: MachineView) -> bool:
    """Whether there is a node, or may be one for all that is known, in a cluster that outlives the machine."""
    unknown = not sight.connected and sight.machine.status.node_ref is not None
    return (sight.node is not None or unknown) and _lives_on(sight)


def _lives_on(sight: MachineView) -> bool:
    """Whether the cluster of a machine outlives it."""
    return sight.cluster is not None and not sight.cluster.deleting
