"""Images of Harvester: it fetches them itself."""

from __future__ import annotations

from butler.api.model import GROUP
from butler.errors import ProviderError
from kubekit.model.resource import Object

from ..contract import NOTHING_KNOWN, Known, Provider
from ..images import Image, ImageOrder, Progress
from . import boot_image, kinds, vm, vm_state
from .provider import Harvester
from .section import NAME, ObjectName

_ATTEMPTS = 3


def connect(provider: Provider) -> HarvesterImages:
    assert isinstance(provider, Harvester)
    return HarvesterImages(provider)


class HarvesterImages:
    """VirtualMachineImages in the namespace of an account."""

    def __init__(self, account: Harvester) -> None:
        self._api, self._settings = account.api, account.settings

    async def ensure(self, order: ImageOrder, known: Known = NOTHING_KNOWN) -> Image:
        place = self._place(order.name)
        found = await self._api.get(kinds.IMAGE, place, order.name)
        if found is None:
            made = await self._api.create(_wanted(order, place), kinds.IMAGE, order.name)
            return Image(str(place), order.name, Progress.WAITING if made is not None else Progress.FETCHING)
        if failure := boot_image.failed(found):
            # Gone, it can be asked for again.
            if vm_state.token_of(found):
                await self._api.delete(kinds.IMAGE, place, order.name, found["metadata"]["uid"])
            raise ProviderError(NAME, order.name, f"the image could not be imported: {failure}")
        return Image(str(place), order.name, _progress(found))

    async def delete(self, name: str, known: Known = NOTHING_KNOWN) -> bool:
        place = self._place(name)
        found = await self._api.get(kinds.IMAGE, place, name)
        if found is None or not vm_state.token_of(found):
            return True
        if not vm_state.is_going(found):
            await self._api.delete(kinds.IMAGE, place, name, found["metadata"]["uid"])
        return False

    def _place(self, name: str) -> ObjectName:
        return ObjectName(self._settings.namespace, name)


def _wanted(order: ImageOrder, place: ObjectName) -> Object:
    # Harvester checks SHA-512 sums and no others, so this one is only written down.
    annotations = {"annotations": {f"{GROUP}/sha256": order.sha256}} if order.sha256 else {}
    meta = {"name": place.name, "namespace": place.namespace, "labels": vm.marks(order.token), **annotations}
    spec = {"displayName": order.name, "sourceType": "download", "url": order.url, "retry": _ATTEMPTS}
    return {"apiVersion": kinds.IMAGE.api_version, "kind": kinds.IMAGE.kind, "metadata": meta, "spec": spec}


def _progress(found: Object) -> Progress:
    if vm_state.is_going(found):
        return Progress.WAITING
    if boot_image.is_ready(found):
        return Progress.READY
    return Progress.FETCHING if boot_image.progress(found) else Progress.WAITING
