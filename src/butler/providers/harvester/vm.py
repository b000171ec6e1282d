"""The objects that a machine is made of."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import msgspec

from butler.api.model import GROUP
from butler.api.units import GIB
from butler.errors import MachineRejected
from kubekit.model.resource import Address, Object

from ..contract import MachineOrder
from . import kinds
from .network_data import static_addresses
from .section import NAME, ObjectName, Settings

MARK = f"{GROUP}/token"
"""The label that says for whom something was made."""
ADDRESSES = f"{GROUP}/addresses"
"""The annotation with the addresses a machine gives itself, for when nothing in it tells them."""
CLAIM_TEMPLATES = "harvesterhci.io/volumeClaimTemplates"
IMAGE_ID = "harvesterhci.io/imageId"
NIC = "default"
CLOUD_INIT = "cloudinitdisk"
"""What Harvester's own pages call that disk; they show it as such by its name."""
RUN_STRATEGY = "RerunOnFailure"
"""Harvester's own: a machine that is switched off stays off, one that fails is started again."""
USER_DATA_LIMIT = 1024 * 1024
"""Bytes a Secret may have; userData in the VM itself could have no more than 2048."""
_RESERVED_MB = 256
"""Memory for the emulator. Harvester takes it off the limit, and gives what is left to the machine."""


@dataclass(frozen=True, slots=True)
class Boot:
    """An image that machines can boot from."""

    place: ObjectName
    storage_class: str
    """Of a disk that comes from it."""
    is_cloned: bool
    """By CDI, from the image's own volume; else Longhorn knows the image by the storage class."""
    size: int
    """Bytes a disk needs at least; 0 when nobody knows."""


def marks(token: str) -> Object:
    return {MARK: token, "app.kubernetes.io/managed-by": "butler"}


def part_name(name: str, token: str, part: str) -> str:
    """What something is called that belongs to a machine. With the token, so that nothing old is taken for new."""
    return f"{name}-{token[:8]}-{part}"


def secret(order: MachineOrder, settings: Settings) -> Object | None:
    """What the machine boots with; None when that is nothing. Raises MachineRejected when it is too large."""
    given = {"userdata": order.user_data.encode(), "networkdata": order.network_data.encode()}
    data = {key: base64.b64encode(value).decode() for key, value in given.items() if value}
    size = sum(len(value) for value in given.values())
    if size > USER_DATA_LIMIT:
        message = f"userData and networkData have {size} bytes, and no more than {USER_DATA_LIMIT} are possible"
        raise MachineRejected(NAME, order.name, message)
    if not data:
        return None
    place = ObjectName(settings.namespace, part_name(order.name, order.token, "init"))
    return _object(kinds.SECRET, place, order.token, type="Opaque", data=data)


def machine(order: MachineOrder, settings: Settings, boot: Boot) -> Object:
    """The VM. Raises MachineRejected when it cannot be."""
    if order.disk_gb * GIB < boot.size:
        message = f"image {boot.place} needs a disk of {-(-boot.size // GIB)} GB, and {order.disk_gb} GB were asked for"
        raise MachineRejected(NAME, order.name, message)
    labels = {**order.labels, **marks(order.token), "harvesterhci.io/creator": "butler"}
    disks = _disks(order, settings, boot)
    annotations = reserved()
    if addresses := static_addresses(order.network_data):
        annotations[ADDRESSES] = ",".join(addresses)
    spec: Object = {"runStrategy": RUN_STRATEGY, "template": _template(order, settings, disks)}
    if boot.is_cloned:
        spec["dataVolumeTemplates"] = [disk.data_volume(order) for disk in disks]
    else:
        annotations[CLAIM_TEMPLATES] = msgspec.json.encode([disk.claim(order) for disk in disks]).decode()
    made = _object(kinds.VIRTUAL_MACHINE, ObjectName(settings.namespace, order.name), order.token, spec=spec)
    made["metadata"] |= {"labels": labels, "annotations": annotations}
    return made


def owned_by(vm: Object) -> Object:
    """A change that lets something go when the VM goes, also when people delete that by hand."""
    meta = vm["metadata"]
    owner = {
        "apiVersion": kinds.VIRTUAL_MACHINE.api_version,
        "kind": kinds.VIRTUAL_MACHINE.kind,
        "name": meta["name"],
        "uid": meta["uid"],
    }
    return {"metadata": {"ownerReferences": [owner]}}


def _template(order: MachineOrder, settings: Settings, disks: list[_Disk]) -> Object:
    has_secret = bool(order.user_data or order.network_data)
    devices: list[Object] = [{"name": disk.name, "disk": {"bus": "virtio"}} for disk in disks]
    devices[0]["bootOrder"] = 1
    volumes = [disk.volume(order) for disk in disks]
    if has_secret:
        devices.append({"name": CLOUD_INIT, "disk": {"bus": "virtio"}})
        volumes.append({"name": CLOUD_INIT, "cloudInitNoCloud": _cloud_init(order)})
    labels = {**order.labels, **marks(order.token), "harvesterhci.io/vmName": order.name}
    return {
        "metadata": {"labels": labels},
        "spec": {
            "hostname": order.name,
            "evictionStrategy": "LiveMigrateIfPossible",
            "terminationGracePeriodSeconds": 120,
            "domain": {
                **sizes(order.cpu, order.memory_mb),
                "machine": {"type": "q35"},
                "devices": {"disks": devices, "interfaces": [{"name": NIC, "model": "virtio", "bridge": {}}]},
            },
            "networks": [{"name": NIC, "multus": {"networkName": str(settings.network)}}],
            "volumes": volumes,
        },
    }


def reserved() -> dict[str, str]:
    """The annotation by which Harvester knows how much of the limit is not for the machine."""
    return {"harvesterhci.io/reservedMemory": f"{_RESERVED_MB}Mi"}


def sizes(cpu: int, memory_mb: int) -> Object:
    """Cores and memory. From the limits Harvester reckons what it reserves, by how far it overcommits."""
    return {
        "cpu": {"cores": cpu, "sockets": 1, "threads": 1},
        "memory": {"guest": f"{memory_mb}Mi"},
        "resources": {"limits": {"cpu": str(cpu), "memory": f"{memory_mb + _RESERVED_MB}Mi"}},
    }


def _cloud_init(order: MachineOrder) -> Object:
    reference = {"name": part_name(order.name, order.token, "init")}
    user = {"secretRef": reference} if order.user_data else {}
    network = {"networkDataSecretRef": reference} if order.network_data else {}
    return {**user, **network}


@dataclass(frozen=True, slots=True)
class _Disk:
    """A disk of a machine, as Harvester makes it from a template or CDI from a data volume."""

    name: str
    size_gb: int
    storage_class: str
    is_cloned: bool
    image: ObjectName | None = None

    def claim(self, order: MachineOrder) -> Object:
        annotations = {"annotations": {IMAGE_ID: str(self.image)}} if self.image is not None else {}
        spec = {"accessModes": ["ReadWriteMany"], "volumeMode": "Block", **self._storage()}
        return {"metadata": {**self._metadata(order), **annotations}, "spec": spec}

    def data_volume(self, order: MachineOrder) -> Object:
        """How it can be read and written is left to what CDI knows about the storage."""
        source: Object = {"pvc": self.image._asdict()} if self.image is not None else {"blank": {}}
        return {"metadata": self._metadata(order), "spec": {"source": source, "storage": self._storage()}}

    def volume(self, order: MachineOrder) -> Object:
        claim = part_name(order.name, order.token, self.name)
        if self.is_cloned:
            return {"name": self.name, "dataVolume": {"name": claim}}
        return {"name": self.name, "persistentVolumeClaim": {"claimName": claim}}

    def _metadata(self, order: MachineOrder) -> Object:
        return {"name": part_name(order.name, order.token, self.name), "labels": marks(order.token)}

    def _storage(self) -> Object:
        named = {"storageClassName": self.storage_class} if self.storage_class else {}
        return {"resources": {"requests": {"storage": f"{self.size_gb}Gi"}}, **named}


def _disks(order: MachineOrder, settings: Settings, boot: Boot) -> list[_Disk]:
    further = [
        _Disk(f"disk-{number}", disk.size_gb, disk.storage_class or settings.storage_class, boot.is_cloned)
        for number, disk in enumerate(order.extra_disks, 1)
    ]
    return [_Disk("root", order.disk_gb, boot.storage_class, boot.is_cloned, boot.place), *further]


def _object(kind: Address, place: ObjectName, token: str, **content: Any) -> Object:
    meta = {"name": place.name, "namespace": place.namespace, "labels": marks(token)}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}
