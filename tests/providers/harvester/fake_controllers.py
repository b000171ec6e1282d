"""What KubeVirt and Harvester do with objects, by a clock that is moved by hand."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from butler.providers.harvester import kinds
from butler.providers.harvester.vm import CLAIM_TEMPLATES
from kubekit.client.protocol import Client, Selection
from kubekit.errors import NotFound
from kubekit.model.resource import Address, Object

BOOT, REMOVAL, DETACHING, DOWNLOAD = 20.0, 10.0, 5.0, 20.0
VM_FINALIZER = "kubevirt.io/virtualMachineControllerFinalize"
CLAIM_FINALIZER = "harvesterhci.io/detaching"
GIB = 2**30


class Controllers:
    """One round at a time. All that is kept between rounds is since when something has been so."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client, self.namespace = client, namespace
        self.now = 0.0
        self.unschedulable = False
        """Let no host have room for a VM that is started."""
        self.guest_agent = True
        """Let machines tell their addresses."""
        self.failing_imports = False
        self._since: dict[tuple[str, str], float] = {}
        self._numbers: dict[str, int] = {}

    async def pass_time(self, seconds: float) -> None:
        self.now += seconds
        await self.round()

    async def round(self) -> None:
        """Bring everything up to date. What follows from what was done is done as well."""
        instances = {one["metadata"]["name"]: one for one in await self._all(kinds.INSTANCE)}
        for vm in await self._all(kinds.VIRTUAL_MACHINE):
            await self._machine(vm, instances.get(vm["metadata"]["name"]))
        for volume in await self._all(kinds.DATA_VOLUME):
            await self._data_volume(volume)
        for claim in await self._all(kinds.CLAIM):
            await self._claim(claim)
        for image in await self._all(kinds.IMAGE):
            await self._image(image)

    async def _all(self, kind: Address) -> tuple[Object, ...]:
        return (await self.client.list(kind, Selection(self.namespace))).items

    async def _machine(self, vm: Object, instance: Object | None) -> None:
        meta = vm["metadata"]
        if meta.get("deletionTimestamp"):
            await self._remove(vm, instance)
            return
        if VM_FINALIZER not in meta.get("finalizers", ()):
            await self._change(kinds.VIRTUAL_MACHINE, vm, {"metadata": {"finalizers": [VM_FINALIZER]}})
        await self._make_disks(vm)
        if vm["spec"].get("runStrategy") == "Halted":
            if instance is not None:
                await self._delete(kinds.INSTANCE, instance)
            await self._show(vm, "Stopped")
        elif self.unschedulable:
            message = "0/1 nodes are available: 1 Insufficient memory."
            await self._show(vm, "ErrorUnschedulable", [_condition("PodScheduled", "False", message)])
        elif instance is None:
            await self._start(vm)
            await self._show(vm, "Starting")
        elif self._age("booting", instance) >= BOOT:
            await self._boot(instance)
            await self._show(vm, "Running")

    async def _start(self, vm: Object) -> None:
        meta, template = vm["metadata"], vm["spec"]["template"]
        labels = (template.get("metadata") or {}).get("labels") or {}
        owner = _owner(kinds.VIRTUAL_MACHINE, vm)
        made = {
            "apiVersion": kinds.INSTANCE.api_version,
            "kind": kinds.INSTANCE.kind,
            "metadata": {
                "name": meta["name"],
                "namespace": self.namespace,
                "labels": labels,
                "ownerReferences": [owner],
            },
            "spec": template["spec"],
        }
        self._age("booting", await self.client.create(made, kinds.INSTANCE))

    async def _boot(self, instance: Object) -> None:
        if (instance.get("status") or {}).get("phase") == "Running":
            return
        number = self._numbers.setdefault(instance["metadata"]["uid"], len(self._numbers) + 1)
        networks = instance["spec"].get("networks") or ()
        interfaces = [self._interface(one["name"], number) for one in networks]
        if self.guest_agent:
            interfaces.append({"interfaceName": "cilium_host", "ipAddress": "10.244.0.7", "infoSource": "guest-agent"})
        status = {"phase": "Running", "interfaces": interfaces, "nodeName": "harvester-0"}
        await self._change(kinds.INSTANCE, instance, {"status": status}, "status")

    def _interface(self, name: str, number: int) -> Object:
        mac = f"52:54:00:00:{number // 256:02x}:{number % 256:02x}"
        if not self.guest_agent:
            return {"name": name, "mac": mac, "infoSource": "domain"}
        address = f"10.40.{number // 256}.{number % 256}"
        listed = [address, "fe80::5054:ff:fe00:1", f"203.0.113.{number % 256}"]
        told = {"ipAddress": address, "ipAddresses": listed, "interfaceName": "eth0"}
        return {"name": name, "mac": mac, "infoSource": "domain, guest-agent", **told}

    async def _remove(self, vm: Object, instance: Object | None) -> None:
        if self._age("going", vm) < REMOVAL:
            await self._show(vm, "Terminating")
            return
        if instance is not None:
            await self._delete(kinds.INSTANCE, instance)
        for volume in await self._all(kinds.DATA_VOLUME):
            if any(one["uid"] == vm["metadata"]["uid"] for one in volume["metadata"].get("ownerReferences") or ()):
                await self._delete(kinds.DATA_VOLUME, volume)
        await self._change(kinds.VIRTUAL_MACHINE, vm, {"metadata": {"finalizers": None}})

    async def _show(self, vm: Object, status: str, conditions: list[Object] | None = None) -> None:
        if (vm.get("status") or {}).get("printableStatus") != status:
            change = {"status": {"printableStatus": status, "conditions": conditions or []}}
            await self._change(kinds.VIRTUAL_MACHINE, vm, change, "status")

    async def _make_disks(self, vm: Object) -> None:
        if (vm.get("status") or {}).get("printableStatus"):
            return
        templates = json.loads((vm["metadata"].get("annotations") or {}).get(CLAIM_TEMPLATES, "[]"))
        for template in templates:
            await self._make(kinds.CLAIM, template["metadata"], template["spec"], [CLAIM_FINALIZER])
        for template in vm["spec"].get("dataVolumeTemplates") or ():
            meta = {**template["metadata"], "ownerReferences": [_owner(kinds.VIRTUAL_MACHINE, vm)]}
            await self._make(kinds.DATA_VOLUME, meta, template["spec"])

    async def _data_volume(self, volume: Object) -> None:
        """CDI: a claim of the same name and labels, for as long as the data volume is there."""
        meta, storage = volume["metadata"], volume["spec"].get("storage") or volume["spec"]["pvc"]
        claim = {
            "name": meta["name"],
            "labels": meta.get("labels", {}),
            "ownerReferences": [_owner(kinds.DATA_VOLUME, volume)],
        }
        spec = {"accessModes": ["ReadWriteOnce"], "volumeMode": "Block", **storage}
        if not await self._exists(kinds.CLAIM, meta["name"]):
            await self._make(kinds.CLAIM, claim, spec, [CLAIM_FINALIZER])

    async def _claim(self, claim: Object) -> None:
        meta = claim["metadata"]
        for owner in meta.get("ownerReferences") or ():
            is_orphan = not await self._exists(kinds.DATA_VOLUME, owner["name"])
            if is_orphan and not meta.get("deletionTimestamp"):
                await self._delete(kinds.CLAIM, claim)
        if meta.get("deletionTimestamp") and self._age("going", claim) >= DETACHING:
            await self._change(kinds.CLAIM, claim, {"metadata": {"finalizers": None}})

    async def _image(self, image: Object) -> None:
        age = self._age("downloading", image)
        conditions = (image.get("status") or {}).get("conditions") or ()
        if {one["status"] for one in conditions} & {"True"}:
            return
        status: Object = imported(image)
        if self.failing_imports:
            said = _condition("Imported", "False", "the server answered 404")
            status = {"conditions": [said, _condition("RetryLimitExceeded", "True", "")]}
        elif age < DOWNLOAD:
            status = {"progress": int(100 * age / DOWNLOAD), "conditions": [_condition("Imported", "Unknown", "")]}
        await self._change(kinds.IMAGE, image, {"status": status}, "status")

    def _age(self, what: str, obj: Object) -> float:
        """Seconds for which something has been so; the first look begins it."""
        return self.now - self._since.setdefault((what, obj["metadata"]["uid"]), self.now)

    async def _exists(self, kind: Address, name: str) -> bool:
        try:
            await self.client.get(kind, name, self.namespace)
        except NotFound:
            return False
        return True

    async def _make(self, kind: Address, meta: Object, spec: Object, finalizers: list[str] | None = None) -> None:
        if not await self._exists(kind, meta["name"]):
            meta = {**meta, "namespace": self.namespace, "finalizers": finalizers or []}
            made = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
            await self.client.create(made, kind)

    async def _change(self, kind: Address, obj: Object, change: Any, subresource: str = "") -> None:
        # A garbage collector may have been quicker.
        with suppress(NotFound):
            await self.client.patch(kind, obj["metadata"]["name"], change, self.namespace, subresource=subresource)

    async def _delete(self, kind: Address, obj: Object) -> None:
        with suppress(NotFound):
            await self.client.delete(kind, obj["metadata"]["name"], self.namespace)


def imported(image: Object) -> Object:
    """The status of an image that is there."""
    name = "" if image["spec"].get("backend") == "cdi" else f"lh-{image['metadata']['uid']}"
    facts = {"progress": 100, "size": GIB, "virtualSize": 10 * GIB, "storageClassName": name}
    return {**facts, "conditions": [_condition("Imported", "True", "")]}


def _owner(kind: Address, obj: Object) -> Object:
    meta = obj["metadata"]
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }


def _condition(kind: str, status: str, message: str) -> Object:
    return {"type": kind, "status": status, "message": message}
