"""Images of Nutanix: Prism Central fetches them by itself."""

from __future__ import annotations

from ..contract import NOTHING_KNOWN, Known, Provider
from ..images import Image, ImageOrder, Progress
from .api import Api, Kind, TaskState, Thing
from .provider import Nutanix
from .vm import token_of


def connect(provider: Provider) -> NutanixImages:
    assert isinstance(provider, Nutanix)
    return NutanixImages(provider)


class NutanixImages:
    """Images of one account."""

    def __init__(self, account: Nutanix) -> None:
        self._account = account

    async def ensure(self, order: ImageOrder, known: Known = NOTHING_KNOWN) -> Image:
        api = await self._account.api(order.name)
        task = await api.task(known.task, order.name) if known.task else None
        if task is not None and task.state is TaskState.RUNNING:
            return Image(known.id, order.name, Progress.FETCHING, known.task)
        image = await self._found(api, order.name, task.entity if task is not None else "")
        failure = (task.failure if task is not None else "") or (image.failure if image is not None else "")
        if failure:
            if image is not None and token_of(image.description):
                await api.end_image(image, order.name)
            raise self._account.failed(order.name, failure)
        if image is not None:
            return Image(image.uuid, order.name, Progress.READY if image.is_ready else Progress.FETCHING)
        begun = await api.make_image(order, await self._account.cluster(api, order.name))
        if begun.failure:
            raise self._account.failed(order.name, begun.failure)
        return Image(begun.uuid, order.name, Progress.FETCHING, begun.task)

    async def delete(self, name: str, known: Known = NOTHING_KNOWN) -> bool:
        api = await self._account.api(name)
        task = await api.task(known.task, name) if known.task else None
        if task is not None and task.state is TaskState.RUNNING:
            # It does not show yet, and what does not show cannot be removed.
            return False
        images = [one for one in await api.things(Kind.IMAGE, name, name) if token_of(one.description)]
        for image in images:
            await api.end_image(image, name)
        return not images

    async def _found(self, api: Api, name: str, uuid: str) -> Thing | None:
        if uuid and (image := await api.thing(Kind.IMAGE, uuid, name)) is not None and image.name == name:
            return image
        found = await api.things(Kind.IMAGE, name, name)
        return min(found, key=lambda one: (not one.is_ready, one.uuid), default=None)
