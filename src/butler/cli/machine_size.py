"""How large a machine of Cluster API is, as the object of its infrastructure says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubekit.model.resource import Address, Object

_GROUP = "infrastructure.cluster.x-k8s.io"
_MIB_OF_A_GIB = 1024


def _simulated(spec: Object) -> str:
    return _shown(spec.get("cpu"), _mebibytes(spec.get("memoryMB")), _gibibytes(spec.get("diskGB")))


def _nutanix(spec: Object) -> str:
    cores = spec.get("vcpuSockets", 0) * spec.get("vcpusPerSocket", 1)
    return _shown(cores, spec.get("memorySize"), spec.get("systemDiskSize"))


def _proxmox(spec: Object) -> str:
    cores = (spec.get("numSockets") or 1) * (spec.get("numCores") or 0)
    disk = _below(spec, "disks", "bootVolume").get("sizeGb")
    return _shown(cores, _mebibytes(spec.get("memoryMiB")), _gibibytes(disk))


def _kubevirt(spec: Object) -> str:
    machine = _below(spec, "virtualMachineTemplate", "spec")
    domain = _below(machine, "template", "spec", "domain")
    volume = _below(next(iter(machine.get("dataVolumeTemplates") or ({},))), "spec")
    claim = volume.get("storage") or volume.get("pvc") or {}
    disk = _below(claim, "resources", "requests").get("storage")
    return _shown(_below(domain, "cpu").get("cores"), _below(domain, "memory").get("guest"), disk)


def _aws(spec: Object) -> str:
    return _named(spec.get("instanceType"), _below(spec, "rootVolume").get("size"))


def _azure(spec: Object) -> str:
    return _named(spec.get("vmSize"), _below(spec, "osDisk").get("diskSizeGB"))


def _gcp(spec: Object) -> str:
    return _named(spec.get("instanceType"), spec.get("rootDeviceSize"))


_KINDS: Mapping[str, tuple[str, Callable[[Object], str]]] = {
    "SimulatedMachine": ("v1beta2", _simulated),
    "NutanixMachine": ("v1beta1", _nutanix),
    "ProxmoxMachine": ("v1alpha2", _proxmox),
    "KubevirtMachine": ("v1alpha1", _kubevirt),
    "AWSMachine": ("v1beta2", _aws),
    "AzureMachine": ("v1beta1", _azure),
    "GCPMachine": ("v1beta1", _gcp),
}


def address_of(kind: str) -> Address | None:
    """Where objects of a kind of machine are; None for a kind nobody has told us of."""
    known = _KINDS.get(kind)
    return Address(_GROUP, known[0], kind, f"{kind.lower()}s", namespaced=True) if known else None


def size_of(machine: Object) -> str:
    """Cores, memory and disk, or the name under which the infrastructure sells them; empty if nothing says so."""
    known = _KINDS.get(machine.get("kind", ""))
    return known[1](machine.get("spec") or {}) if known else ""


def _shown(cores: Any, memory: Any, disk: Any) -> str:
    return ", ".join([*([f"{cores} cpu"] if cores else []), *(str(one) for one in (memory, disk) if one)])


def _named(name: Any, disk: Any) -> str:
    return ", ".join(str(one) for one in (name, _gibibytes(disk)) if one)


def _gibibytes(number: Any) -> str:
    return f"{number}Gi" if number else ""


def _mebibytes(number: Any) -> str:
    if not number:
        return ""
    return _gibibytes(number // _MIB_OF_A_GIB) if number % _MIB_OF_A_GIB == 0 else f"{number}Mi"


def _below(tree: Object, *names: str) -> Object:
    for name in names:
        tree = tree.get(name) or {}
    return tree
