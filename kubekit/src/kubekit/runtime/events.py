"""Events about objects: repeated ones counted, similar ones put together, too many left out, and never an error."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kubekit.client.protocol import Client, address_of
from kubekit.clock import Chance, Clock
from kubekit.errors import ApiError, KubeError, NotFound
from kubekit.model.resource import Address

from .logs import say
from .metrics import Metrics
from .objects import Kind, identity_of, version_of
from .queue import Backoff
from .reconciler import Note

EVENT = Address("", "v1", "Event", "events", True)

_MESSAGE_LIMIT = 1024
_NAME_LIMIT = 253 - 17
_SIMILAR = 10
"""So many different messages about one thing, and the rest is put together."""
_WINDOW = 600.0
"""Seconds after which counting begins anew."""
_BURST, _REFILL = 50.0, 1 / 60
"""Events an object may have at once, and per second in the long run."""
_REMEMBERED = 4096
_PENDING = 1000
_ATTEMPTS = 4
_RETRY = Backoff(first=0.5, longest=10.0)

Value = TypeVar("Value")


class Remembered(OrderedDict[Any, Value], Generic[Value]):
    """The values used last; older ones are forgotten."""

    def recall(self, key: Any) -> Value | None:
        found = self.get(key)
        if found is not None:
            self.move_to_end(key)
        return found

    def remember(self, key: Any, value: Value) -> Value:
        self[key] = value
        self.move_to_end(key)
        if len(self) > _REMEMBERED:
            self.popitem(last=False)
        return value


@dataclass(slots=True)
class Bucket:
    """Tokens of one object."""

    tokens: float
    at: float

    def take(self, now: float) -> bool:
        self.tokens = min(_BURST, self.tokens + (now - self.at) * _REFILL)
        self.at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


@dataclass(slots=True)
class Told:
    """One Event object: what was said, how often, since when."""

    about: dict[str, Any]
    note: Note
    first: str
    last: str
    seen_at: float
    name: str
    source: str
    count: int = 1
    stored: bool = False


@dataclass(slots=True)
class Similar:
    """The different messages of one reason about one object, lately."""

    at: float
    messages: set[str] = field(default_factory=set)


class Recorder:
    """`record` never waits and never fails; `run` does the writing."""

    def __init__(self, component: str, clock: Clock, chance: Chance, metrics: Metrics | None = None) -> None:
        self._component, self._clock, self._chance = component, clock, chance
        self._metrics = metrics or Metrics()
        self._buckets: Remembered[Bucket] = Remembered()
        self._similar: Remembered[Similar] = Remembered()
        self._told: Remembered[Told] = Remembered()
        self._pending: dict[int, Told] = {}
        self._wake = asyncio.Event()

    def record(self, obj: Any, kind: Kind, note: Note, source: str = "") -> None:
        """Say that something happened to an object; `source` is who says so, if not this recorder's component."""
        about, now = _reference(obj, kind), self._clock.monotonic()
        uid = about["uid"]
        bucket = self._buckets.recall(uid) or self._buckets.remember(uid, Bucket(_BURST, now))
        if not bucket.take(now):
            self._metrics.dropped_events.add("rate")
            return
        note = self._combined(about, Note(note.reason, note.message[:_MESSAGE_LIMIT], note.type), now)
        if len(self._pending) >= _PENDING:
            self._metrics.dropped_events.add("backlog")
            return
        told = self._counted(about, note, now, source or self._component)
        self._pending[id(told)] = told
        self._wake.set()

    async def run(self, client: Client) -> None:
        """Write what was recorded, until cancelled; what cannot be written is left out."""
        while True:
            while self._pending:
                told = self._pending.pop(next(iter(self._pending)))
                await self._write(client, told)
            self._wake.clear()
            await self._wake.wait()

    def _combined(self, about: dict[str, Any], note: Note, now: float) -> Note:
        key = (about["uid"], note.type, note.reason)
        similar = self._similar.recall(key)
        if similar is None or now - similar.at > _WINDOW:
            similar = self._similar.remember(key, Similar(now))
        similar.messages.add(note.message)
        if len(similar.messages) <= _SIMILAR:
            return note
        similar.messages.discard(note.message)
        return Note(note.reason, f"(combined from similar events): {note.message}", note.type)

    def _counted(self, about: dict[str, Any], note: Note, now: float, source: str) -> Told:
        combined = note.message.startswith("(combined")
        key = (about["uid"], note.type, note.reason, "" if combined else note.message)
        told = self._told.recall(key)
        stamp = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        if told is None or now - told.seen_at > _WINDOW:
            name = f"{about['name'][:_NAME_LIMIT]}.{self._chance.bytes(8).hex()}"
            return self._told.remember(key, Told(about, note, stamp, stamp, now, name, source))
        told.note, told.last, told.seen_at, told.count = note, stamp, now, told.count + 1
        return told

    async def _write(self, client: Client, told: Told) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                await self._store(client, told)
                return
            except KubeError as error:
                if not error.retryable or attempt == _ATTEMPTS - 1:
                    say(logging.DEBUG, "event not recorded", object=told.about["name"], error=error.reason)
                    self._metrics.dropped_events.add("refused")
                    return
                await self._clock.sleep(_RETRY.delay(attempt, self._chance))

    async def _store(self, client: Client, told: Told) -> None:
        if told.stored:
            change = {"count": told.count, "lastTimestamp": told.last, "message": told.note.message}
            try:
                await client.patch(EVENT, told.name, change, _namespace(told), manager=self._component)
            except NotFound:
                # Events live for an hour; this one has ended and begins anew.
                told.stored = False
        if not told.stored:
            try:
                await client.create(self._object(told), EVENT, manager=self._component)
            except ApiError as error:
                if error.reason != "AlreadyExists":
                    raise
            told.stored = True

    def _object(self, told: Told) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": told.name, "namespace": _namespace(told)},
            "involvedObject": told.about,
            "reason": told.note.reason,
            "message": told.note.message,
            "type": told.note.type,
            "source": {"component": told.source},
            "firstTimestamp": told.first,
            "lastTimestamp": told.last,
            "count": told.count,
            "reportingComponent": told.source,
            "reportingInstance": "",
        }


def _reference(obj: Any, kind: Kind) -> dict[str, Any]:
    address, identity = address_of(kind), identity_of(obj)
    about = {
        "apiVersion": address.api_version,
        "kind": address.kind,
        "name": identity.name,
        "namespace": identity.namespace,
        "uid": identity.uid,
        "resourceVersion": version_of(obj),
    }
    return {name: value for name, value in about.items() if value or name == "uid"}


def _namespace(told: Told) -> str:
    """Where the event goes: to its object, or to `default` when that has no namespace."""
    return str(told.about.get("namespace") or "default")
