"""What is in one isolated API: its objects and its kinds, under its own clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from kubekit.clock import Chance, Clock
from kubekit.errors import ServiceUnavailable
from kubekit.model.resource import Object
from kubekit.server.objects import refusals
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.request import Target, object_key
from kubekit.server.objects.resource import Resource
from kubekit.server.store.changes import Change
from kubekit.server.store.rows import Row
from kubekit.server.store.store import Store

from .registry import Kinds

_NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_NAME_LIMIT = 63 - 5
_FEW = 20
"""Objects that are read together: few, since others wait until they are, and one of them may be large."""


class Contents:
    """Where objects are, what kinds there are, what time it is."""

    def __init__(self, name: str, store: Store, kinds: Kinds, clock: Clock, chance: Chance) -> None:
        self.name, self.store, self.kinds = name, store, kinds
        self.clock, self.chance = clock, chance
        self.namespaces: dict[str, bool] = {}
        """Every durable namespace, and whether it is terminating."""
        self.is_gone = False
        """Whether this API was removed: nothing is found in it any more, and nothing can be written."""
        self._buckets: dict[str, int] = {}
        self._now: tuple[int, str] = (0, "")
        """The second that was asked for last, and its text."""

    def bucket(self, resource: Resource) -> int:
        number = self._buckets.get(resource.storage_key)
        if number is None:
            if self.is_gone:
                raise ServiceUnavailable(f"the API of {self.name} is gone")
            number = self._buckets[resource.storage_key] = self.store.bucket(self.name, resource.storage_key)
        return number

    def vanish(self) -> None:
        """From now on there is nothing here."""
        self.is_gone = True
        self._buckets.clear()

    def latest(self, target: Target) -> Row | None:
        return self.store.latest(self.bucket(target.resource), target.key)

    def existing(self, target: Target) -> Row:
        """The newest version of an object. Raises NotFound."""
        row = self.latest(target)
        if row is None:
            raise refusals.not_found(target.resource, target.name)
        return row

    def stored(self, resource: str) -> Iterator[list[Row]]:
        """All durable objects of a kind, some at a time, as they are when they are asked for."""
        kind = self.kinds.stored_as(resource)
        assert kind is not None
        after, more = "", bool(self.store.newest_in(self.name, resource))
        while more:
            page = self.store.page(self.bucket(kind), after=after, limit=_FEW, size=LARGE, count=False)
            yield page.rows
            more, after = page.more, page.rows[-1].key if page.rows else ""

    def find(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """A stored object as a fresh dict, or None."""
        row = self.store.latest(self.bucket(resource), object_key(resource, namespace, name))
        return None if row is None else row.decode()

    def is_ending(self, namespace: str) -> bool | None:
        """Whether a namespace is on its way out, be that durable or not; None when there is no such namespace."""
        staged = self.store.staged(self.name, "/namespaces", namespace)
        if staged is None:
            return self.namespaces.get(namespace)
        return None if staged.change is Change.DELETED else staged.is_ending

    def namespace(self, name: str) -> Object | None:
        """A namespace as a fresh dict, or None."""
        namespaces = self.kinds.at("", "v1", "namespaces")
        return self.find(namespaces, "", name) if namespaces is not None else None

    def now(self) -> datetime:
        return self.clock.now()

    def timestamp(self) -> str:
        """Now, as it stands in metadata."""
        moment = self.clock.now()
        second = int(moment.timestamp())
        if self._now[0] != second:
            self._now = (second, moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
        return self._now[1]

    def timestamp_after(self, seconds: int) -> str:
        return (self.clock.now() + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_uid(self) -> str:
        """A UUID of version 4. Every new object has one, and the uuid module takes four times as long."""
        text = self.chance.bytes(16).hex()
        variant = "89ab"[int(text[16], 16) & 3]
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"

    def generated_name(self, base: str) -> str:
        """`base` and five letters that rarely spell anything."""
        return base[:_NAME_LIMIT] + "".join(_NAME_LETTERS[byte % len(_NAME_LETTERS)] for byte in self.chance.bytes(5))
