"""Harvester's Kubernetes API for one account: every call is one request, every failure a ProviderError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from butler.api.model import AGENT
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Selection
from kubekit.errors import AlreadyExists, ApiError, NotFound
from kubekit.model.resource import Address, Object

from .errors import in_the_way, translated
from .section import ObjectName, Settings


class Api:
    """The verbs that machines need. `about` is the machine, for errors; `hidden` are texts that no error may show."""

    def __init__(self, settings: Settings, patience: float) -> None:
        self._secrets = settings.secrets
        self._client = HttpClient(settings.account, patience=patience, agent=AGENT, warn=lambda _: None, resends=False)

    async def version(self) -> str:
        with self._asking("", "ask for the version"):
            return (await self._client.version()).git_version

    async def get(self, kind: Address, place: ObjectName, about: str = "") -> Object | None:
        """None when there is no such object, or no such kind."""
        with self._asking(about, f"get {kind.kind} {place}"):
            try:
                found: Object = await self._client.get(kind, place.name, place.namespace)
                return found
            except NotFound:
                return None

    async def list(self, kind: Address, namespace: str = "", labels: str = "", about: str = "") -> tuple[Object, ...]:
        """All of them, however many pages that are."""
        with self._asking(about, f"list {kind.plural}"):
            return (await self._client.list(kind, Selection(namespace, labels))).items

    async def create(self, obj: Object, kind: Address, about: str = "", hidden: tuple[str, ...] = ()) -> Object | None:
        """None when there is one of that name."""
        with self._asking(about, f"create {kind.kind}", hidden):
            try:
                made: Object = await self._client.create(obj, kind, manager=AGENT)
                return made
            except AlreadyExists:
                return None

    async def apply(self, obj: Object, kind: Address, about: str = "", hidden: tuple[str, ...] = ()) -> None:
        """Make it so, whether it is there or not."""
        with self._asking(about, f"apply {kind.kind}", hidden):
            await self._client.apply(obj, kind, manager=AGENT)

    async def patch(self, kind: Address, place: ObjectName, change: Object, about: str = "") -> None:
        """One that is gone stays so."""
        with self._asking(about, f"change {kind.kind} {place}"):
            try:
                await self._client.patch(kind, place.name, change, place.namespace, manager=AGENT)
            except NotFound:
                return

    async def delete(self, kind: Address, place: ObjectName, about: str = "", uid: str = "") -> bool:
        """Ask for its end; answers whether it is gone already. `uid` is a precondition."""
        try:
            await self._client.delete(kind, place.name, place.namespace, propagation="Background", uid=uid)
        except NotFound:
            return True
        except ApiError as error:
            raise in_the_way(error, about, f"delete {kind.kind} {place}", self._secrets) from None
        return False

    async def close(self) -> None:
        await self._client.close()

    @contextmanager
    def _asking(self, about: str, doing: str, hidden: tuple[str, ...] = ()) -> Iterator[None]:
        try:
            yield
        except ApiError as error:
            raise translated(error, about, doing, (*self._secrets, *hidden)) from None
