"""Where steps look things up: in the caches of a controller, or in what was fetched for one question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from kubekit.client.protocol import EVERYTHING, Client, Selection
from kubekit.errors import NotFound
from kubekit.runtime.informer import Informers
from kubekit.runtime.objects import Kind, key_of


class Lookup(Protocol):
    """Objects as they are, without asking anyone."""

    def get(self, kind: Kind, key: str) -> Any | None: ...

    def within(self, kind: Kind, namespace: str) -> Sequence[Any]:
        """Everything of a kind in a namespace; everything at all when that is empty."""
        ...


class Caches:
    """The caches a manager keeps up to date."""

    def __init__(self, informers: Informers, selections: dict[Kind, Selection]) -> None:
        self._informers, self._selections = informers, selections

    def get(self, kind: Kind, key: str) -> Any | None:
        return self._informers.of(kind, self._selections.get(kind)).get(key)

    def within(self, kind: Kind, namespace: str) -> Sequence[Any]:
        cache = self._informers.of(kind, self._selections.get(kind))
        return cache.by(BY_NAMESPACE, namespace) if namespace else tuple(cache)


BY_NAMESPACE = "namespace"
"""Index of the caches by namespace."""


class Snapshot:
    """What was fetched once; for commands."""

    def __init__(self) -> None:
        self._objects: dict[Kind, dict[str, Any]] = {}

    async def fetch(self, client: Client, kind: Kind, namespace: str = "") -> None:
        """Take in every object of a kind; none where the API does not know the kind."""
        try:
            found = await client.list(kind, Selection(namespace) if namespace else EVERYTHING)
        except NotFound:
            found = None
        self.put(kind, found.items if found else ())

    async def fetch_one(self, client: Client, kind: Kind, name: str, namespace: str = "") -> None:
        """Take in one object if it is there."""
        try:
            self.put(kind, [await client.get(kind, name, namespace)])
        except NotFound:
            self.put(kind, ())

    def put(self, kind: Kind, objects: Iterable[Any]) -> None:
        self._objects.setdefault(kind, {}).update({key_of(one): one for one in objects})

    def get(self, kind: Kind, key: str) -> Any | None:
        return self._objects.get(kind, {}).get(key)

    def within(self, kind: Kind, namespace: str) -> Sequence[Any]:
        prefix = f"{namespace}/" if namespace else ""
        return [one for key, one in self._objects.get(kind, {}).items() if key.startswith(prefix)]
