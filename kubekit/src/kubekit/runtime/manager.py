"""One process with any number of controllers: shared caches, one leadership, one way to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from kubekit.client.protocol import Client
from kubekit.clock import Chance, Clock, SystemChance, SystemClock
from kubekit.errors import LeadershipLost

from .controller import Controller, Tools
from .events import Recorder
from .guarded_client import GuardedClient
from .informer import Informer, Informers
from .leader import Election, Leadership
from .logs import say
from .metrics import Metrics
from .queue import USUAL_BACKOFF, Backoff
from .reconciler import Reconciler

_STALE = 300.0
"""Seconds of silence after which a watch is not believed any more; a bookmark comes every minute."""


@dataclass(frozen=True, slots=True)
class ManagerSettings:
    """How a manager runs; the defaults are for production."""

    name: str = "controller"
    """Who writes, in events and logs."""
    election: Election | None = None
    """With it, controllers run only while this process leads."""
    identity: str = ""
    """Which replica this is; left out, a random one."""
    backoff: Backoff = USUAL_BACKOFF
    grace: float = 30.0
    """Seconds for what is under way when asked to stop."""
    namespace: str = ""
    """The only one whose objects it looks at; left out, all."""


class _Stopped(Exception):
    """Ends everything that runs together."""


class Manager:
    """Make one, `add` reconcilers built on its `client` and `informers`, `run` it, `stop` it."""

    def __init__(
        self,
        client: Client,
        settings: ManagerSettings | None = None,
        *,
        clock: Clock | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._settings = settings or ManagerSettings()
        self._clock, self._chance = clock or SystemClock(), chance or SystemChance()
        self.namespace = self._settings.namespace
        self.metrics = Metrics()
        self.leadership = self._candidate(client)
        self.client = GuardedClient(client, self._clock, self.metrics, self._may_write)
        """For controllers: what it refuses to write, another replica will."""
        self.informers = Informers(self._clock, self._chance, self.metrics, self.namespace)
        self.recorder = Recorder(self._settings.name, self._clock, self._chance, self.metrics)
        self.controllers: list[Controller] = []
        self._companions: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._working = False
        self._may_follow = asyncio.Event()
        self._asked_to_stop = asyncio.Event()

    def _candidate(self, client: Client) -> Leadership | None:
        election = self._settings.election
        if election is None:
            return None
        identity = self._settings.identity or f"{self._settings.name}-{self._chance.bytes(8).hex()}"
        counted = GuardedClient(client, self._clock, self.metrics, lambda: True)
        leadership = Leadership(counted, election, identity, self._clock, self._chance)
        self.metrics.leader.watch(lambda: float(leadership.holds()), election.name)
        return leadership

    def add(self, reconciler: Reconciler[Any]) -> Controller:
        """Run this reconciler too."""
        tools = Tools(
            self.client, self.informers, self.recorder, self._clock, self._chance, self.metrics, self._settings.backoff
        )
        controller = Controller(reconciler, tools)
        if any(controller.name == other.name for other in self.controllers):
            raise ValueError(f"there is a controller called {controller.name!r} already")
        self.controllers.append(controller)
        return controller

    def accompany(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run this beside the controllers, and cancel it when they have ended."""
        self._companions.append(work)

    async def run(self) -> None:
        """Follow, lead if that is asked for, and work, until `stop`; then finish what is under way and return."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._follow())
                group.create_task(self._terms())
        except* _Stopped:
            say(logging.INFO, "stopped", manager=self._settings.name)

    def stop(self) -> None:
        """Ask `run` to finish."""
        self._asked_to_stop.set()

    @property
    def is_quiet(self) -> bool:
        """Whether no controller has anything to do, now or later, unless something happens."""
        return all(controller.queue.is_quiet for controller in self.controllers)

    def alive(self) -> dict[str, str]:
        """Each thing that only a restart would mend, with what is wrong or nothing."""
        return {f"queue-{controller.name}": controller.problem() for controller in self.controllers}

    def ready(self) -> dict[str, str]:
        """Each thing that must hold for this process to be of use, with what is wrong or nothing."""
        checks = {f"informer-{informer.name}": self._informer_problem(informer) for informer in self.informers}
        if self.leadership is not None:
            checks["leadership"] = self._leadership_problem(self.leadership)
        return {**checks, **self.alive()}

    def _informer_problem(self, informer: Informer[Any]) -> str:
        if not informer.synced:
            return "has not listed yet"
        silent = self._clock.monotonic() - informer.heard
        return f"has heard nothing for {silent:.0f}s" if silent > _STALE else ""

    def _leadership_problem(self, leadership: Leadership) -> str:
        """A replica that waits for its turn is well; one that cannot see whose turn it is, is not."""
        election = self._settings.election
        assert election is not None
        silent = self._clock.monotonic() - leadership.heard
        return f"lease not reached for {silent:.0f}s" if silent > 2 * election.lease_duration else ""

    def _may_write(self) -> bool:
        return self._working and (self.leadership is None or self.leadership.holds())

    async def _follow(self) -> None:
        await self._may_follow.wait()
        await self.informers.run(self.client)

    async def _terms(self) -> None:
        """Term after term of leading, or one that never ends where there is no election."""
        while not self._asked_to_stop.is_set():
            if self.leadership is not None and not await self._unless_stopped(self._win(self.leadership)):
                break
            await self._term()
        if self.leadership is not None:
            await self.leadership.release()
        raise _Stopped

    async def _win(self, leadership: Leadership) -> None:
        """Lead at once if that is possible; else fill the caches meanwhile."""
        if not await leadership.attempt():
            self._may_follow.set()
            await leadership.campaign()

    async def _term(self) -> None:
        """Work until stopped or no longer leading. Then nothing of it runs any more."""
        self._working = True
        try:
            async with asyncio.TaskGroup() as group:
                if self.leadership is not None:
                    group.create_task(self._until_lost(self.leadership))
                # Whoever led before may have done what caches that were filled before do not show yet.
                fresh = self.informers.synced() if self.leadership is None else self.informers.refresh()
                self._may_follow.set()
                if await self._unless_stopped(fresh):
                    group.create_task(self.recorder.run(self.client))
                    for work in self._companions:
                        group.create_task(work())
                    workers = [group.create_task(controller.run()) for controller in self.controllers]
                    await self._asked_to_stop.wait()
                    await self._finish(workers)
                raise _Stopped
        except* (LeadershipLost, _Stopped):
            pass
        finally:
            self._working = False

    async def _until_lost(self, leadership: Leadership) -> None:
        await leadership.keep()
        raise LeadershipLost("the lease could not be renewed in time")

    async def _finish(self, workers: list[asyncio.Task[None]]) -> None:
        """Begin nothing more and wait for what is under way, as long as patience lasts."""
        for controller in self.controllers:
            controller.stop()
        if workers:
            await asyncio.wait(workers, timeout=self._settings.grace)

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Whether it was finished and nobody asked to stop meanwhile."""
        async with asyncio.TaskGroup() as group:
            done = group.create_task(work)
            stopped = group.create_task(self._asked_to_stop.wait())
            await asyncio.wait((done, stopped), return_when=asyncio.FIRST_COMPLETED)
            finished = done.done() and not self._asked_to_stop.is_set()
            done.cancel()
            stopped.cancel()
        return finished
