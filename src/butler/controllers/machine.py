"""MachineRequest → VM, for every provider."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from butler.api.machine import MachinePhase, MachineRequest, MachineStatus
from butler.api.model import GROUP
from butler.providers.contract import ExtraDisk, Machine, MachineOrder, Power
from kubekit.runtime.conditions import condition
from kubekit.runtime.controller import Controller
from kubekit.runtime.manager import Manager
from kubekit.runtime.reconciler import Note, Outcome

from .accounts import Account, Accounts
from .requests import PROGRESSING, READY, Requests, changed, halted, known_of

FINALIZER = f"machinerequest.{GROUP}/finalizer"
VM_DELETED, VM_STOPPED, VM_NOT_FOUND = "VMDeleted", "VMStopped", "VMNotFound"

CHECK = timedelta(seconds=30)
"""How often a running machine is looked at."""
_SOONEST, _LATEST = timedelta(seconds=2), timedelta(seconds=10)
"""How often one that is coming or going is looked at: the longer it takes, the less often."""
_LONG = timedelta(minutes=20)
"""When a machine without an address is worth a warning."""


def add_machines(manager: Manager, accounts: Accounts, only: Collection[str] | None = None) -> Controller:
    """Run the controller; `only` names the providers it is for, left out all of them."""
    machines = Machines(manager, accounts, only)
    controller = manager.add(machines)
    machines.attend(controller)
    return controller


class Machines(Requests[MachineRequest]):
    """Asks for a VM, waits for its address, watches over it, and never replaces one that is gone."""

    kind = MachineRequest
    finalizer = FINALIZER

    def name_of(self, request: MachineRequest) -> str:
        return f"Machine {request.spec.machine_name}"

    def begun(self, obj: MachineRequest) -> MachineStatus:
        progress = condition(PROGRESSING, True, "Creating", "The machine is about to be asked for.")
        return changed(obj.status, progress, phase=MachinePhase.PENDING, failure_reason=None, failure_message=None)

    async def advance(self, request: MachineRequest, account: Account) -> Outcome:
        if _has_run(request.status):
            return await self._watch_over(request, account)
        machine = await account.provider.create(order_for(request), _known(request))
        if machine.power is Power.RUNNING and machine.addresses:
            return Outcome(_running(request, machine), self.varied(CHECK), _notes(request, machine))
        return self._coming(request, machine)

    def _coming(self, request: MachineRequest, machine: Machine) -> Outcome:
        age = self.age_of(request, PROGRESSING)
        ready = condition(READY, False, "Creating", "The machine has no address yet.")
        if age > _LONG:
            message = f"After more than {_LONG.seconds // 60} minutes the machine has no address: look at its console."
            ready = condition(READY, False, "ProvisioningTimeout", message)
        reason = "WaitingForIP" if machine.id else "Creating"
        status = changed(
            request.status,
            condition(PROGRESSING, True, reason, "The infrastructure is making the machine."),
            ready,
            phase=MachinePhase.CREATING,
            provider_id=machine.id or request.status.provider_id,
            provider_task_id=machine.task or None,
            failure_reason=None,
            failure_message=None,
        )
        late = (Note(ready.reason, ready.message, "Warning"),) if age > _LONG else ()
        return Outcome(status, min(max(age / 3, _SOONEST), _LATEST), (*_notes(request, machine), *late))

    async def _watch_over(self, request: MachineRequest, account: Account) -> Outcome:
        spec = request.spec
        machine = await account.provider.find(spec.machine_name, request.metadata.uid, _known(request))
        if machine is None:
            return self._lost(request)
        if machine.power is Power.RUNNING:
            return Outcome(_running(request, machine), self.varied(CHECK), _notes(request, machine))
        message = f"The machine is {machine.power.value.lower()}, and nobody here asked for that."
        reason = VM_STOPPED if machine.power is Power.STOPPED else f"VM{machine.power.value}"
        status = changed(request.status, condition(READY, False, reason, message))
        return Outcome(status, self.varied(CHECK), (Note(reason, message, "Warning"),))

    def _lost(self, request: MachineRequest) -> Outcome:
        """Said, and not put right: what was on it is gone, and only its owner knows what that means."""
        before = request.status.condition(READY)
        if before is None or before.reason not in (VM_NOT_FOUND, VM_DELETED):
            # Some infrastructures overlook a machine once in a while.
            doubt = condition(READY, "Unknown", VM_NOT_FOUND, "The infrastructure does not show the machine.")
            return Outcome(changed(request.status, doubt), _SOONEST)
        message = (
            f"The machine {request.status.provider_id} is gone from the infrastructure, and nobody asked for that."
        )
        status = self.failed(request, VM_DELETED, message)
        return Outcome(status, self.varied(CHECK), (Note(VM_DELETED, message, "Warning"),))

    async def undo(self, request: MachineRequest, account: Account) -> Outcome:
        provider, spec = account.provider, request.spec
        is_gone = await provider.delete(spec.machine_name, request.metadata.uid, _known(request))
        if is_gone and not (rest := self._unsettled(request, provider.settles_in)):
            self.tell(request, Note("Deleted", f"Machine {spec.machine_name} is gone."))
            return Outcome(_gone(request))
        if is_gone:
            return Outcome(self.ending(request), rest)
        age = self.age_of(request, PROGRESSING)
        return Outcome(self.ending(request), min(max(age / 3, _SOONEST), _LATEST))

    def _unsettled(self, request: MachineRequest, settles_in: float) -> timedelta:
        """How long the absence of a machine that was never seen proves nothing."""
        since = request.metadata.deletion_timestamp
        if request.status.provider_id or since is None:
            return timedelta(0)
        return max(since + timedelta(seconds=settles_in) - self.clock.now(), timedelta(0))

    def ending(self, obj: MachineRequest) -> MachineStatus:
        if obj.status.phase is MachinePhase.DELETING:
            return obj.status
        return changed(
            obj.status,
            condition(PROGRESSING, True, "Deleting", "The machine is going."),
            condition(READY, False, "Deleting", "The machine is going."),
            phase=MachinePhase.DELETING,
        )

    def never_begun(self, obj: MachineRequest) -> MachineStatus:
        return changed(obj.status, phase=MachinePhase.DELETED)

    def failed(self, obj: MachineRequest, reason: str, message: str) -> MachineStatus:
        if obj.status.phase is MachinePhase.RUNNING and reason != VM_DELETED:
            # That nobody can look at a machine does not mean that it does not run.
            return changed(obj.status, condition(READY, "Unknown", reason, message))
        return changed(
            obj.status,
            condition(READY, False, reason, message),
            *halted(obj.status),
            phase=MachinePhase.FAILED,
            failure_reason=reason,
            failure_message=message,
            provider_task_id=None,
        )

    def is_settled(self, obj: MachineRequest) -> bool:
        ready = obj.status.condition(READY)
        return obj.status.phase is MachinePhase.RUNNING and ready is not None and ready.status == "True"


def order_for(request: MachineRequest) -> MachineOrder:
    """What a normalised request asks of an infrastructure."""
    spec, meta = request.spec, request.metadata
    ours = {f"{GROUP}/managed-by": "butler", f"{GROUP}/role": spec.role.value}
    return MachineOrder(
        name=spec.machine_name,
        token=meta.uid,
        cpu=spec.cpu,
        memory_mb=spec.memory_mb,
        disk_gb=spec.disk_gb,
        user_data=spec.user_data or "",
        labels={**spec.labels, **ours},
        image=spec.image or "",
        network_data=spec.network_data or "",
        extra_disks=tuple(ExtraDisk(disk.size_gb, disk.storage_class or "") for disk in spec.extra_disks),
    )


def _known(request: MachineRequest) -> Any:
    return known_of(request.status.provider_id, request.status.provider_task_id)


def _has_run(status: MachineStatus) -> bool:
    return status.phase is MachinePhase.RUNNING or status.failure_reason == VM_DELETED


def _running(request: MachineRequest, machine: Machine) -> MachineStatus:
    addresses = machine.addresses or request.status.ip_addresses
    return changed(
        request.status,
        condition(READY, True, "VMRunning", "The machine runs and has an address."),
        condition(PROGRESSING, False, "Running", "There is nothing left to do."),
        phase=MachinePhase.RUNNING,
        provider_id=machine.id,
        provider_task_id=None,
        ip_address=_primary(addresses),
        ip_addresses=addresses,
        mac_address=next(iter(machine.mac_addresses), request.status.mac_address),
        failure_reason=None,
        failure_message=None,
    )


def _gone(request: MachineRequest) -> MachineStatus:
    return changed(
        request.status,
        condition(PROGRESSING, False, "Deleted", "There is nothing left to do."),
        condition(READY, False, "Deleted", "The machine is gone."),
        phase=MachinePhase.DELETED,
        provider_task_id=None,
    )


def _primary(addresses: tuple[str, ...]) -> str | None:
    """The first of IPv4 if there is one, for those who know nothing else."""
    return next((one for one in addresses if ip_address(one).version == 4), next(iter(addresses), None))


def _notes(request: MachineRequest, machine: Machine) -> tuple[Note, ...]:
    notes = []
    if machine.id and request.status.provider_id != machine.id:
        notes.append(Note("Created", f"Machine {machine.name} is {machine.id}."))
    if machine.power is Power.RUNNING and machine.addresses and request.status.phase is not MachinePhase.RUNNING:
        notes.append(Note("Ready", f"Machine {machine.name} runs at {machine.addresses[0]}."))
    return tuple(notes)
