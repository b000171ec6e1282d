"""PersistentVolumeClaim → a simulated PersistentVolume, and its end."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from msgspec import structs

from butler.api.model import GROUP, SIMULATED
from kubekit.errors import AlreadyExists, NotFound
from kubekit.runtime.objects import key, key_of
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch

from .context import PLACE, Context
from .kinds import Pod
from .nodes.fit import amount
from .service_kinds import ClaimStatus, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeStatus

_BOUND = "pv.kubernetes.io/bind-completed"
_PROVISIONER = f"simulated.{GROUP}"
_WAITING = "WaitForFirstConsumer"


class Claims(Reconciler[PersistentVolumeClaim]):
    """Binds claims: to a volume that fits, else to a new one of their class; no class is as good as the default."""

    kind = PersistentVolumeClaim
    source = "persistentvolume-controller"
    tells_conditions = False
    workers = 2

    def __init__(self, site: Context) -> None:
        self._site, self._pods = site, site.pods()
        self._volumes, self._classes = site.informer(PersistentVolume), site.informer(StorageClass)
        self._claims = site.informer(PersistentVolumeClaim)
        self.watches = (
            Watch(PersistentVolume, self._for_whom),
            Watch(StorageClass, lambda _: [key_of(each) for each in self._unbound()]),
            Watch(Pod, _used_by),
        )

    def _unbound(self) -> list[PersistentVolumeClaim]:
        return [each for each in self._claims if each.status.phase != "Bound"]

    def _for_whom(self, volume: PersistentVolume) -> Iterable[str]:
        reference = volume.spec.claim_ref
        if reference is not None:
            return [key(reference.namespace, reference.name)]
        return [key_of(each) for each in self._unbound()]

    async def reconcile(self, obj: PersistentVolumeClaim) -> Outcome:
        if obj.status.phase == "Bound":
            return Outcome()
        volume = self._volume_of(obj) or await self._provisioned(obj)
        if volume is None:
            return Outcome()
        if obj.spec.volume_name != volume.metadata.name or _BOUND not in obj.metadata.annotations:
            await self._bind(obj, volume)
            return Outcome()
        capacity, modes = volume.spec.capacity, volume.spec.access_modes
        return Outcome(ClaimStatus(phase="Bound", access_modes=modes, capacity=capacity))

    def _volume_of(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """The volume that is this claim's, or else the smallest that nobody has and that fits."""
        if claim.spec.volume_name:
            return self._volumes.get(claim.spec.volume_name)
        mine = (each for each in self._volumes if _is_for(each, claim))
        free = [each for each in self._volumes if each.spec.claim_ref is None and _fits(each, claim)]
        return next(mine, None) or min(free, key=lambda each: _size(each.spec.capacity), default=None)

    async def _provisioned(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        name = claim.spec.storage_class_name
        if name == "" or claim.spec.volume_name:
            return None
        found = self._classes.get(name) if name else None
        if name and found is None:
            told = f'storageclass.storage.k8s.io "{name}" not found'
            self._site.tell(claim, "ProvisioningFailed", told, self.source, warning=True)
            return None
        if found is not None and found.volume_binding_mode == _WAITING and not self._is_used(claim):
            told = "waiting for first consumer to be created before binding"
            self._site.tell(claim, "WaitForFirstConsumer", told, self.source)
            return None
        with suppress(AlreadyExists):
            await self._site.client.create(_volume(claim, found), PersistentVolume.address, manager=self.source)
        volume = await self._site.client.get(PersistentVolume, _volume_name(claim))
        told = f"Successfully provisioned volume {volume.metadata.name}"
        self._site.tell(claim, "ProvisioningSucceeded", told, _driver(found))
        return volume

    def _is_used(self, claim: PersistentVolumeClaim) -> bool:
        return any(claim.key in _used_by(pod) for pod in self._pods.by(PLACE, claim.metadata.namespace))

    async def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Each names the other; the volume first, so that no second claim takes it."""
        meta = claim.metadata
        if not _is_for(volume, claim):
            reference = {"claimRef": _reference(claim)}
            change = {"metadata": {"resourceVersion": volume.metadata.resource_version}, "spec": reference}
            await self._site.client.patch(PersistentVolume, volume.metadata.name, change, manager=self.source)
        marks = {"annotations": {_BOUND: "yes"}, "resourceVersion": meta.resource_version}
        change = {"metadata": marks, "spec": {"volumeName": volume.metadata.name}}
        await self._site.client.patch(PersistentVolumeClaim, meta.name, change, meta.namespace, manager=self.source)


class Volumes(Reconciler[PersistentVolume]):
    """Says what a volume is used for, and ends it with its claim unless it is to be kept."""

    kind = PersistentVolume
    source = "persistentvolume-controller"
    tells_conditions = False
    workers = 2

    def __init__(self, site: Context) -> None:
        self._site, self._claims = site, site.informer(PersistentVolumeClaim)
        self._volumes = site.informer(PersistentVolume)
        self.watches = (Watch(PersistentVolumeClaim, self._of),)

    def _of(self, claim: PersistentVolumeClaim) -> Iterable[str]:
        return [claim.spec.volume_name] if claim.spec.volume_name else []

    async def reconcile(self, obj: PersistentVolume) -> Outcome:
        reference = obj.spec.claim_ref
        if reference is None or not reference.uid:
            return Outcome(VolumeStatus(phase="Available"))
        claim = self._claims.get(key(reference.namespace, reference.name))
        if claim is not None and claim.metadata.uid == reference.uid:
            return Outcome(VolumeStatus(phase="Bound"))
        if not await self._is_gone(reference.namespace, reference.name, reference.uid):
            return Outcome()
        if obj.spec.persistent_volume_reclaim_policy != "Delete":
            return Outcome(structs.replace(obj.status, phase="Released"))
        with suppress(NotFound):
            await self._site.client.delete(PersistentVolume, obj.metadata.name, uid=obj.metadata.uid)
        return Outcome()

    async def _is_gone(self, namespace: str, name: str, uid: str) -> bool:
        """Asks the API, because a volume may be seen before the claim it was made for."""
        try:
            claim = await self._site.client.get(PersistentVolumeClaim, name, namespace)
        except NotFound:
            return True
        return bool(claim.metadata.uid != uid)


def _used_by(pod: Pod) -> list[str]:
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [key(pod.metadata.namespace, source.claim_name) for source in sources if source is not None]


def _is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    reference = volume.spec.claim_ref
    return reference is not None and reference.uid == claim.metadata.uid


def _size(amounts: Any) -> int:
    return amount("storage", amounts.get("storage", 0))


def _fits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return (
        volume.spec.storage_class_name == (claim.spec.storage_class_name or "")
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
        and _size(volume.spec.capacity) >= _size(claim.spec.resources.requests)
    )


def _volume_name(claim: PersistentVolumeClaim) -> str:
    return f"pvc-{claim.metadata.uid}"


def _reference(claim: PersistentVolumeClaim) -> dict[str, str]:
    meta = claim.metadata
    names = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": meta.name, "namespace": meta.namespace}
    return {**names, "uid": meta.uid}


def _volume(claim: PersistentVolumeClaim, storage_class: StorageClass | None) -> dict[str, Any]:
    name, driver = _volume_name(claim), _driver(storage_class)
    return {
        "metadata": {"name": name, "annotations": {SIMULATED: "true", "pv.kubernetes.io/provisioned-by": driver}},
        "spec": {
            "capacity": {"storage": claim.spec.resources.requests.get("storage", "1Gi")},
            "accessModes": list(claim.spec.access_modes) or ["ReadWriteOnce"],
            "volumeMode": claim.spec.volume_mode or "Filesystem",
            "persistentVolumeReclaimPolicy": (storage_class.reclaim_policy if storage_class else "") or "Delete",
            "storageClassName": claim.spec.storage_class_name or "",
            "claimRef": _reference(claim),
            "csi": {"driver": driver, "volumeHandle": name},
        },
    }


def _driver(storage_class: StorageClass | None) -> str:
    """Who would have made the volume."""
    return (storage_class.provisioner if storage_class else "") or _PROVISIONER
