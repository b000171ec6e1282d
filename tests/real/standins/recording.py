"""Everything that happens to a cluster's objects, in order, and what there is now and then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from kubekit.client.protocol import Client, Selection, Signal
from kubekit.model.resource import Address
from tests.real.standins.objects import NODES, WATCHED, Json

Snapshot = dict[str, list[Json]]
"""Objects by kind."""
KINDS = (*(one.kind for one in WATCHED), NODES.kind)


@dataclass(frozen=True)
class Happening:
    """One event of a watch, and in which stage it came."""

    stage: str
    signal: Signal
    kind: str
    object: Json

    @property
    def name(self) -> str:
        meta = self.object["metadata"]
        return f"{meta.get('namespace', '')}/{meta['name']}"


@dataclass
class Record:
    """Lives as they were lived."""

    happenings: list[Happening] = field(default_factory=list)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    """What there was at the end of each stage."""

    def add(self, other: Record) -> None:
        """The lives of another record too."""
        self.happenings += other.happenings
        self.snapshots |= other.snapshots


class Recorder:
    """Watches while its context lasts."""

    def __init__(self, namespace: str) -> None:
        self.record, self.stage, self._namespace = Record(), "", namespace
        self._now: dict[tuple[str, str], Json] = {}
        self.news = asyncio.Event()

    def snapshot(self) -> Snapshot:
        found: Snapshot = {kind: [] for kind in KINDS}
        for (kind, _), obj in sorted(self._now.items()):
            found[kind].append(obj)
        return found

    def note_stage(self) -> None:
        """The stage is over."""
        self.record.snapshots[self.stage] = self.snapshot()

    @asynccontextmanager
    async def watching(self, management: Client, tenant: Client) -> AsyncIterator[None]:
        here = Selection(namespace=self._namespace)
        wanted = [*((management, kind, here) for kind in WATCHED), (tenant, NODES, Selection())]
        # Whatever happens from now on is seen, even before the watches have begun.
        versions = [(await client.list(kind, which)).version for client, kind, which in wanted]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._follow(*one, version)) for one, version in zip(wanted, versions, strict=True)
            ]
            yield
            for task in tasks:
                task.cancel()

    async def _follow(self, client: Client, kind: Address, which: Selection, version: str) -> None:
        while True:
            async with aclosing(client.watch(kind, which, version=version)) as events:
                async for event in events:
                    version = event.version
                    if event.item is not None:
                        self._note(event.signal, kind.kind, event.item)

    def _note(self, signal: Signal, kind: str, obj: Json) -> None:
        place = (kind, obj["metadata"]["name"])
        self.record.happenings.append(Happening(self.stage, signal, kind, obj))
        if signal is Signal.DELETED:
            self._now.pop(place, None)
        else:
            self._now[place] = obj
        self.news.set()


async def quiet(recorder: Recorder, reached: Callable[[Snapshot], bool], silence: float, patience: float) -> None:
    """Wait until something is reached, and then until so many seconds go by without anything happening."""
    async with asyncio.timeout(patience):
        while True:
            recorder.news.clear()
            try:
                async with asyncio.timeout(silence):
                    await recorder.news.wait()
            except TimeoutError:
                if reached(recorder.snapshot()):
                    return
