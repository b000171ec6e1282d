"""Images that machines boot from: finding one, and judging whether it does."""

from __future__ import annotations

import re
from typing import Any

from butler.errors import MachineRejected, ProviderUnavailable
from kubekit.model.resource import Object

from . import kinds
from .api import Api
from .section import NAME, ObjectName
from .vm import Boot

_CLONED = "cdi"
_TALOS = re.compile(r"/image/[0-9a-f]{64}/v[^/]+/([a-z]+)-(?:amd64|arm64)")
"""How the Image Factory calls an image of Talos; in brackets the platform that it is for."""
_TALOS_PLATFORM = "nocloud"


async def image(api: Api, place: ObjectName, about: str = "") -> Object | None:
    """By its name, or by the one that Harvester's pages show. Raises MachineRejected when that means several."""
    if found := await api.get(kinds.IMAGE, place, about):
        return found
    listed = await api.list(kinds.IMAGE, place.namespace, about=about)
    shown = [one for one in listed if (one.get("spec") or {}).get("displayName") == place.name]
    if len(shown) > 1:
        names = ", ".join(sorted(one["metadata"]["name"] for one in shown))
        raise MachineRejected(NAME, about, f"several images are shown as {place}: {names}; name one of these")
    return shown[0] if shown else None


def boot(found: Object, about: str, default_class: str) -> Boot:
    """What a disk is made from. Raises MachineRejected, and ProviderUnavailable while the image is on its way."""
    place, status = place_of(found), found.get("status") or {}
    if problem := unfit(found):
        raise MachineRejected(NAME, about, f"image {place} {problem}")
    if failure := failed(found):
        raise MachineRejected(NAME, about, f"image {place} could not be imported: {failure}")
    is_cloned = (found.get("spec") or {}).get("backend") == _CLONED
    target = default_class or (found["spec"].get("targetStorageClassName") or "" if is_cloned else "")
    storage_class = target if is_cloned else status.get("storageClassName") or ""
    if not is_ready(found) or not (storage_class or is_cloned):
        raise ProviderUnavailable(NAME, about, f"image {place} is still being imported: {progress(found)} %")
    size = status.get("virtualSize") or status.get("size") or 0
    return Boot(place, storage_class, is_cloned, int(size))


def place_of(found: Object) -> ObjectName:
    return ObjectName(found["metadata"]["namespace"], found["metadata"]["name"])


def unfit(found: Object) -> str:
    """Why machines could not boot from it, whatever else; empty when they could."""
    spec = found.get("spec") or {}
    url, shown = str(spec.get("url") or ""), str(spec.get("displayName") or "")
    if url.partition("?")[0].endswith(".iso") or shown.endswith(".iso"):
        return "is a CD; machines boot from a disk image, qcow2 or raw"
    talos = _TALOS.search(url)
    if talos and talos[1] != _TALOS_PLATFORM:
        return f"is Talos for {talos[1]}; here Talos gets its configuration only when it is for {_TALOS_PLATFORM}"
    return ""


def is_ready(found: Object) -> bool:
    return _condition(found, "Imported").get("status") == "True"


def failed(found: Object) -> str:
    """Why the import has ended without an image; empty when it has not."""
    limit = _condition(found, "RetryLimitExceeded")
    if limit.get("status") == "True":
        told = _condition(found, "Imported").get("message") or limit.get("message")
        return " ".join(str(told or "too many attempts").split())[:300]
    return ""


def progress(found: Object) -> int:
    return int((found.get("status") or {}).get("progress") or 0)


def _condition(found: Object, kind: str) -> dict[str, Any]:
    conditions = (found.get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == kind), {})
