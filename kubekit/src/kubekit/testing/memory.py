"""An API in memory for tests: every built-in kind, custom ones, and what Kubernetes itself does in the background."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from typing import Any, cast

from kubekit import definitions
from kubekit.clock import Chance, Clock
from kubekit.model.crd import definition
from kubekit.model.resource import Address, Resource
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.objects import Kind
from kubekit.runtime.program import Maker, add
from kubekit.server.client import DirectClient
from kubekit.server.kinds import crds
from kubekit.server.kinds.registry import Kinds
from kubekit.server.objects.resource import Resource as Served
from kubekit.server.pipeline.space import Space
from kubekit.server.pipeline.watches import Hub
from kubekit.server.spaces.background.definitions import Definitions
from kubekit.server.spaces.background.garbage import GarbageCollector
from kubekit.server.spaces.background.namespaces import Namespaces
from kubekit.server.spaces.served_space import ServedSpace, built_in
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.store import Store

from .deterministic_loop import Loop
from .faults import Faults, FaultyClient

_NAMESPACE = Address("", "v1", "Namespace", "namespaces", namespaced=False)
_DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"
_NO_CHANGE = ("/events", "events.k8s.io/events", "coordination.k8s.io/leases")
"""What is written while nothing changes."""
_STORM = 10_000
"""So many changes without a pause are a loop that never ends."""


class Restless(AssertionError):
    """Something goes on changing, where it was expected to come to rest."""


class MemorySpace(Space):
    """An API with the built-in kinds and the given ones, in which nothing happens by itself."""

    def __init__(
        self,
        clock: Clock,
        chance: Chance,
        *,
        kinds: Iterable[type[Resource]] = (),
        namespaces: Iterable[str] = ("default",),
    ) -> None:
        served = (one for kind in kinds for one in _served(kind))
        super().__init__("memory", Store(None), Kinds((*built_in(), *served)), clock, chance)
        self.hub = Hub(self.store)
        self.namespaces |= dict.fromkeys(namespaces, False)

    def client(self) -> DirectClient:
        # It uses no more of a space than there is here.
        return DirectClient(cast(ServedSpace, self))


@cache
def _served(kind: type[Resource]) -> tuple[Served, ...]:
    """A kind as the API serves it once its definition is established."""
    crd: Any = definition(kind)
    crds.default_crd(crd)
    crds.prepare_create(crd)
    crd["status"] = crds.established_status(crd, crds.TakenNames(), "2030-01-01T00:00:00Z")
    return tuple(crds.resources_of(crd))


class MemoryApi:
    """An API on the virtual time of a loop, with custom definitions, garbage collection and namespaces that work.

    `client` is the test's own way to it. `start` runs controllers, whose calls `disturbed` can make fail."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.clock, self.chance = loop, loop.clock, loop.chance
        self.space = MemorySpace(loop.clock, loop.chance, namespaces=())
        self.client = self.space.client()
        self.faults = Faults(on=False)
        """How likely the calls of controllers fail."""
        self._definitions = Definitions(self.space, lambda resource: self.space.hub.end(self.space.bucket(resource)))
        self._garbage, self._namespaces = GarbageCollector(self.space), Namespaces(self.space, authority="")
        self._running: list[tuple[Manager, asyncio.Task[None]]] = []
        self._changes: Counter[str] = Counter()
        self._storm = asyncio.Event()
        self.space.store.listen(self._see)

    async def open(self) -> None:
        """Make the namespace that everybody expects."""
        await self.namespace("default")

    async def close(self) -> None:
        await self.stop()
        for background in (self._definitions, self._garbage, self._namespaces):
            await background.worker.stop()

    async def namespace(self, name: str) -> None:
        """Make a namespace."""
        await self.client.create({"metadata": {"name": name}}, _NAMESPACE)

    async def define(self, *kinds: type[Resource]) -> None:
        """Install the CustomResourceDefinitions of these kinds."""
        await definitions.install(self.client, *kinds)

    async def start(self, *reconcilers: Maker, settings: ManagerSettings | None = None) -> Manager:
        """Run reconcilers under a manager of their own, until the test ends or `stop`.

        What `kubekit.run` takes, this takes too. Typed kinds that are missing are defined; for others, raises
        LookupError."""
        client = FaultyClient(self.space.client(), self.faults, self.clock, self.chance)
        manager = Manager(client, settings, clock=self.clock, chance=self.chance)
        add(manager, reconcilers)
        await self.define(*self._missing(informer.kind for informer in manager.informers))
        self._running.append((manager, self.loop.create_task(manager.run())))
        await manager.informers.synced()
        return manager

    async def stop(self) -> None:
        """Let all controllers finish what they are at, and end."""
        running, self._running = self._running, []
        for manager, _ in running:
            manager.stop()
        for _, task in running:
            await task

    async def crash(self) -> None:
        """End all controllers wherever they are."""
        running, self._running = self._running, []
        for _, task in running:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def advance(self, time: float | timedelta) -> None:
        """Let so much time pass, in seconds; what is due in it happens."""
        await self.clock.sleep(time.total_seconds() if isinstance(time, timedelta) else time)

    async def settle(self, *, quiet: float = 60.0, within: float = 3600.0) -> None:
        """Let time pass until no object has changed for `quiet` seconds; events and leases are not counted.

        Raises Restless when that does not happen `within` so many seconds."""
        self._changes.clear()
        until = self.clock.monotonic() + within
        while True:
            before = self._changes.total()
            with suppress(TimeoutError):
                async with asyncio.timeout(quiet):
                    await self._storm.wait()
            if self._changes.total() == before:
                return
            if self._storm.is_set() or self.clock.monotonic() >= until:
                raise Restless(self._restless())

    @contextmanager
    def disturbed(self, **likelihoods: float) -> Iterator[None]:
        """Meanwhile, the calls of controllers fail as often as said; see `kubekit.testing.faults.Faults`."""
        self.faults.become(**likelihoods)
        try:
            yield
        finally:
            self.faults.on = False

    def _see(self, event: Event) -> None:
        _, resource = self.space.store.names_of(event.bucket)
        if resource == "/namespaces":
            self._namespaces.see_namespace(event)
        elif resource == "/configmaps":
            self._namespaces.see_config_map(event)
        elif resource == _DEFINITIONS:
            self._definitions.see(event)
        self._garbage.see(event)
        if event.change is Change.DELETED:
            self._namespaces.see_gone(event)
            self._definitions.see_gone(resource)
        if resource not in _NO_CHANGE:
            self._changes[f"{resource.lstrip('/')} {event.key}"] += 1
            if self._changes.total() > _STORM:
                self._storm.set()

    def _missing(self, kinds: Iterable[Kind]) -> Iterator[type[Resource]]:
        for kind in kinds:
            address = kind if isinstance(kind, Address) else kind.address
            if self.space.kinds.at(address.group, address.version, address.plural) is not None:
                continue
            if isinstance(kind, Address) or not issubclass(kind, Resource):
                raise LookupError(f"{address.name} in version {address.version}: define it first")
            yield kind

    def _restless(self) -> str:
        often = ", ".join(f"{key} ({count} times)" for key, count in self._changes.most_common(3))
        return f"after {self.clock.monotonic():.0f}s, these still change: {often}"
