"""Volumes that would be lost with what serves them."""

from __future__ import annotations

import asyncio

from butler.engines.helm.objects import manifest
from butler.engines.helm.protocol import Cluster, Place
from butler.engines.helm.records import Record
from kubekit.model.resource import Address, Object

from ..errors import VolumesInUse

_VOLUMES = Address.of("v1", "PersistentVolume", namespaced=False)
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


async def check(cluster: Cluster, place: Place, record: Record) -> None:
    """Raises VolumesInUse while there are volumes of the drivers that the release names. Some name theirs only when
    they run; then all volumes count that a driver serves."""
    own = await asyncio.to_thread(_drivers_in, record, place)
    listed = await cluster.client.list(_VOLUMES)
    names = [
        one["metadata"]["name"] for one in listed.items if (served := _drivers_of(one)) and (not own or own & served)
    ]
    if names:
        count = f"{len(names)} volumes, such as {names[0]}, are" if len(names) > 1 else f"volume {names[0]} is"
        raise VolumesInUse(place.name, f"{count} still there, and nothing would serve them any more")


def _drivers_in(record: Record, place: Place) -> set[str]:
    found = set()
    for one in manifest.objects(record.manifest, str(place)):
        if one.get("kind") == "CSIDriver":
            found.add(manifest.ref_of(one).name)
        elif one.get("kind") == "StorageClass":
            found.add(str(one.get("provisioner", "")))
    return found - {""}


def _drivers_of(volume: Object) -> set[str]:
    driver = ((volume.get("spec") or {}).get("csi") or {}).get("driver")
    provisioner = (volume["metadata"].get("annotations") or {}).get(_PROVISIONED_BY)
    return {one for one in (driver, provisioner) if one}
