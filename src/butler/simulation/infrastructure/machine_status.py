"""What a SimulatedMachine shows of its VM and of its Node."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import structs

from butler.engines.capi.kinds import MachineAddress
from butler.providers.contract import Machine as Vm
from butler.providers.contract import Power
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition, merged

from .kinds import Initialization, SimulatedMachine, SimulatedMachineStatus

VM_PROVISIONED, NODE_PROVISIONED = "VMProvisioned", "NodeProvisioned"


@dataclass(frozen=True, slots=True)
class Fact:
    """What a condition says."""

    holds: bool
    reason: str
    message: str = ""


PROVISIONED = Fact(True, "Provisioned")
NO_DATA = Fact(False, "WaitingForBootstrapData", "The machine waits for the data of its first boot.")
BOOTING = Fact(False, "WaitingForStartupTimeout", "The machine is booting.")
JOINING = Fact(False, "WaitingForStartupTimeout", "The kubelet is starting.")
NO_MACHINE = Fact(False, "WaitingForVMProvisioned", "The kubelet needs a machine that runs.")
NO_TENANT = Fact(False, "WaitingForControlPlane", "The kubelet is not let into its cluster yet.")
SILENT = Fact(False, "NodeNotReady", "Nothing is heard of the kubelet.")
NOT_RUNNING = {
    None: Fact(False, "VMNotFound", "The machine has disappeared from the data centre."),
    Power.STOPPED: Fact(False, "VMStopped", "The machine is switched off."),
    Power.DELETING: Fact(False, "VMDeleted", "Someone has deleted the machine in the data centre."),
}


def with_facts(obj: SimulatedMachine, vm: Fact, node: Fact) -> SimulatedMachineStatus:
    """The status with other conditions."""
    return structs.replace(obj.status, conditions=merged(obj.status.conditions, *_conditions(vm, node)))


def running(obj: SimulatedMachine, vm: Vm, node: Fact) -> SimulatedMachineStatus:
    """The status of a machine that runs and whose providerID is known."""
    addresses = [MachineAddress(type="InternalIP", address=address) for address in vm.addresses]
    return structs.replace(
        with_facts(obj, PROVISIONED, node),
        initialization=Initialization(provisioned=True),
        addresses=(MachineAddress(type="Hostname", address=obj.metadata.name), *addresses),
        failure_domain=obj.spec.failure_domain,
    )


def _conditions(vm: Fact, node: Fact) -> tuple[Condition, ...]:
    parts = ((VM_PROVISIONED, vm), (NODE_PROVISIONED, node))
    wrong = [f"{name}: {fact.message}" for name, fact in parts if not fact.holds]
    return (
        condition("Ready", not wrong, "NotReady" if wrong else "Ready", "; ".join(wrong)),
        *(condition(name, fact.holds, fact.reason, fact.message) for name, fact in parts),
        condition("Paused", False, "NotPaused"),
    )


def holds(obj: SimulatedMachine, name: str) -> bool:
    found = obj.status.condition(name)
    return found is not None and found.status == "True"
