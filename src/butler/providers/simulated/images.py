"""Images of the simulated infrastructure: it remembers that it has them, and fetches nothing."""

from __future__ import annotations

from ..contract import NOTHING_KNOWN, Known, Provider
from ..images import Image, ImageOrder, Progress
from .provider import SCHEME, Simulated

_KIND = "image"


def connect(provider: Provider) -> SimulatedImages:
    assert isinstance(provider, Simulated)
    return SimulatedImages(provider)


class SimulatedImages:
    """Images of one account; they take as long as a machine takes to boot."""

    def __init__(self, account: Simulated) -> None:
        self._account = account

    async def ensure(self, order: ImageOrder, known: Known = NOTHING_KNOWN) -> Image:
        account = self._account
        item = await account.desk.ask(
            "ensure image",
            order.name,
            account.knobs,
            lambda: account.shelf.put(account.account, _KIND, order.name, "", order.url, account.knobs.boot),
        )
        is_ready = account.shelf.is_ready(item)
        return Image(SCHEME + item.id, item.name, Progress.READY if is_ready else Progress.FETCHING)

    async def delete(self, name: str, known: Known = NOTHING_KNOWN) -> bool:
        account = self._account
        return await account.desk.ask(
            "delete image",
            name,
            account.knobs,
            lambda: account.shelf.remove(account.account, _KIND, name, "", account.knobs.removal),
        )
