"""ImageSync → an operating system image where machines of a provider find it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any

from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.machine import ImagePhase, ImageSync
from butler.api.model import GROUP
from butler.errors import MachineRejected
from butler.providers import registry
from butler.providers.images import Image, ImageOrder, Images, Progress
from kubekit.runtime.conditions import condition
from kubekit.runtime.controller import Controller
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key_of
from kubekit.runtime.reconciler import Note, Outcome, Watch

from .accounts import Account, Accounts
from .loadbalancer import Unsupported
from .requests import PROGRESSING, READY, Requests, changed, config_of, halted, known_of

FINALIZER = f"{GROUP}/imagesync"

_CHECK = timedelta(minutes=10)
"""How often it is seen whether an image is still there."""
_SOON = timedelta(seconds=15)
"""How often one that is coming or going is looked at."""
_NAME_LIMIT = 63


class NoFactory(MachineRejected):
    """There is no Image Factory to get the image from."""

    reason = "ImageFactoryNotConfigured"


class ProxyUnsupported(MachineRejected):
    """Butler was asked to carry the image itself."""

    reason = "UnsupportedTransferMode"


def add_images(manager: Manager, accounts: Accounts, only: Collection[str] | None = None) -> Controller:
    """Run the controller; `only` names the providers it is for, left out all of them."""
    images = ImageSyncs(manager, accounts, only)
    controller = manager.add(images)
    images.attend(controller)
    return controller


class ImageSyncs(Requests[ImageSync]):
    """Lets an infrastructure fetch an image, and removes it when nobody asks for it any more."""

    kind = ImageSync
    finalizer = FINALIZER

    def __init__(self, manager: Manager, accounts: Accounts, only: Collection[str] | None = None) -> None:
        self._platform: Informer[ButlerConfig] = manager.informers.of(ButlerConfig)
        self._syncs: Informer[ImageSync] = manager.informers.of(ImageSync)
        self.watches = (Watch(ButlerConfig, self._unsettled, matters=lambda config: config.spec.image_factory),)
        super().__init__(manager, accounts, only)

    def _unsettled(self, _: ButlerConfig) -> Iterable[str]:
        return [key_of(one) for one in self._syncs if not self.is_settled(one)]

    def name_of(self, request: ImageSync) -> str:
        return f"Image {image_name(request)}"

    def begun(self, obj: ImageSync) -> Any:
        progress = condition(PROGRESSING, True, "Pending", "The image is about to be asked for.")
        return changed(obj.status, progress, phase=ImagePhase.PENDING)

    async def advance(self, request: ImageSync, account: Account) -> Outcome:
        order = self._order(request)
        known = known_of(request.status.provider_image_ref, request.status.provider_task_id)
        image = await _of(account).ensure(order, known)
        is_ready = image.progress is Progress.READY
        phase, told = _STATES[image.progress]
        status = changed(
            request.status,
            *told,
            phase=phase,
            artifact_url=order.url,
            **_facts(image),
        )
        is_news = status.phase is not request.status.phase
        notes = (Note(told[0].reason, f"{self.name_of(request)}: {told[0].message}"),) if is_news else ()
        return Outcome(status, self.varied(_CHECK) if is_ready else _SOON, notes)

    def _order(self, request: ImageSync) -> ImageOrder:
        factory, spec = request.spec.factory_ref, request.spec
        platform = self._platform.get(BUTLER_CONFIG_NAME)
        source = platform.spec.image_factory if platform is not None else None
        if source is None:
            raise NoFactory("butler", "", "there is no Image Factory; set imageFactory.url in ButlerConfig butler")
        if spec.transfer_mode == "proxy":
            raise ProxyUnsupported("butler", "", "transferMode proxy is not offered; use direct")
        path = f"image/{factory.schematic_id}/{factory.version}/{factory.platform}-{factory.arch}.{spec.format}"
        url = f"{source.url.rstrip('/')}/{path}"
        return ImageOrder(image_name(request), request.metadata.uid, url, spec.format, factory.arch)

    async def undo(self, request: ImageSync, account: Account) -> Outcome:
        offered = registry.images(account.infrastructure, account.provider)
        known = known_of(request.status.provider_image_ref, request.status.provider_task_id)
        if offered is None or self._is_wanted_by_others(request):
            return Outcome(request.status)
        if not await offered.delete(image_name(request), known):
            return Outcome(self.ending(request), _SOON)
        self.tell(request, Note("Deleted", f"{self.name_of(request)} is gone."))
        return Outcome(request.status)

    def _is_wanted_by_others(self, request: ImageSync) -> bool:
        place, name = config_of(request), image_name(request)
        return any(
            one.metadata.uid != request.metadata.uid
            and not one.deleting
            and (config_of(one), image_name(one)) == (place, name)
            for one in self._syncs
        )

    def ending(self, obj: ImageSync) -> Any:
        return changed(obj.status, condition(READY, False, "Deleting", "The image is going."))

    def failed(self, obj: ImageSync, reason: str, message: str) -> Any:
        if obj.status.phase is ImagePhase.READY:
            # That nobody can look at it does not mean that it is not there.
            return changed(obj.status, condition(READY, "Unknown", reason, message))
        return changed(
            obj.status,
            condition(READY, False, reason, message),
            *halted(obj.status, "ImageSyncFailed"),
            phase=ImagePhase.FAILED,
            failure_reason=reason,
            failure_message=message,
            provider_task_id=None,
        )

    def is_settled(self, obj: ImageSync) -> bool:
        ready = obj.status.condition(READY)
        return obj.status.phase is ImagePhase.READY and ready is not None and ready.status == "True"


_STATES = {
    Progress.WAITING: (
        ImagePhase.PENDING,
        (
            condition(READY, False, "Pending", "The infrastructure has not begun to fetch it."),
            condition(PROGRESSING, True, "Pending", "The infrastructure has not begun to fetch it."),
        ),
    ),
    Progress.FETCHING: (
        ImagePhase.DOWNLOADING,
        (
            condition(READY, False, "ImageDownloading", "The infrastructure is fetching it."),
            condition(PROGRESSING, True, "ImageDownloading", "The infrastructure is fetching it."),
        ),
    ),
    Progress.READY: (
        ImagePhase.READY,
        (
            condition(READY, True, "ImageReady", "Machines can boot from it."),
            condition(PROGRESSING, False, "ImageReady", "There is nothing left to do."),
        ),
    ),
}
"""What is shown of an image, by how far it is."""


def image_name(request: ImageSync) -> str:
    """What it is called on the infrastructure."""
    ref = request.spec.factory_ref
    version = ref.version.replace(".", "-")
    name = request.spec.display_name or f"{ref.platform}-{version}-{ref.arch}-{ref.schematic_id[:8]}-butler"
    return re.sub(r"[^a-z0-9.-]+", "-", name.lower())[:_NAME_LIMIT].strip("-.")


def _of(account: Account) -> Images:
    offered = registry.images(account.infrastructure, account.provider)
    if offered is None:
        raise Unsupported(account.infrastructure, "", "takes no images; bring it there yourself and name it")
    return offered


def _facts(image: Image) -> dict[str, Any]:
    return {
        "provider_image_ref": image.reference or None,
        "provider_task_id": image.task or None,
        "failure_reason": None,
        "failure_message": None,
    }
