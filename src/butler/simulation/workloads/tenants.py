"""Controllers for the tenants whose workloads want them, for as long as they do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from butler.api.shared import IPRange
from kubekit.client.protocol import Client
from kubekit.clock import Chance, Clock, SystemChance, SystemClock
from kubekit.runtime.logs import say
from kubekit.runtime.manager import Manager

from ..delays import REALISTIC, Delays
from .manager import crew


class Activity(Protocol):
    """What is known of tenants' workloads without asking their APIs."""

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Call `heard` with a tenant's name whenever its controllers may have something to do; the answer ends that.
        It is called often and must be quick."""

    def tenants(self) -> Iterable[str]:
        """Those that have workloads now."""


def _no_pool(_: str) -> tuple[IPRange, ...]:
    return ()


class Workloads:
    """`run` lets tenants' workloads live.

    A tenant's controllers start when something happens to a workload of its, and stop when nothing has happened for a
    while and nothing is due: what they do follows from what there is, so that they can always begin anew. Tenants that
    have workloads when it begins are looked after at once."""

    def __init__(
        self,
        client_of: Callable[[str], Client | None],
        activity: Activity,
        *,
        delays: Delays = REALISTIC,
        pool_of: Callable[[str], tuple[IPRange, ...]] = _no_pool,
        linger: float = 60.0,
        clock: Clock | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._client_of, self._activity, self._pool_of = client_of, activity, pool_of
        self._delays, self._linger = delays, linger
        self._clock, self._chance = clock or SystemClock(), chance or SystemChance()
        self._group: asyncio.TaskGroup | None = None
        self._crews: dict[str, TenantControllers] = {}

    @property
    def active(self) -> set[str]:
        """The tenants whose controllers run."""
        return set(self._crews)

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            stop_listening = self._activity.listen(self.wake)
            try:
                for tenant in self._activity.tenants():
                    self.wake(tenant)
                await asyncio.get_running_loop().create_future()
            finally:
                stop_listening()
                self._group = None

    def wake(self, tenant: str) -> None:
        """Let a tenant's controllers look after everything that is there; nothing happens while they do."""
        crew = self._crews.get(tenant)
        if crew is not None:
            crew.heard = True
        elif self._group is not None and (client := self._client_of(tenant)) is not None:
            self._crews[tenant] = self._crew(tenant, client)
            self._group.create_task(self._serve(tenant, self._crews[tenant]))

    async def remove(self, tenant: str) -> None:
        """The tenant is about to go: nothing of its controllers runs any more when this returns."""
        crew = self._crews.get(tenant)
        if crew is not None:
            crew.removed = True
            crew.manager.stop()
            await crew.ended.wait()

    def _crew(self, tenant: str, client: Client) -> TenantControllers:
        return TenantControllers(crew(client, self._clock, self._chance, self._delays, lambda: self._pool_of(tenant)))

    async def _serve(self, tenant: str, crew: TenantControllers) -> None:
        say(logging.DEBUG, "workloads wake", tenant=tenant)
        try:
            async with asyncio.TaskGroup() as group:
                waiting = group.create_task(self._until_quiet(crew))
                await crew.manager.run()
                waiting.cancel()
        except* Exception as error:
            # One tenant's trouble is not another's; the next thing that happens there begins anew.
            say(logging.ERROR, "workloads failed", trace=error, tenant=tenant, error=error)
        finally:
            del self._crews[tenant]
            crew.ended.set()
        say(logging.DEBUG, "workloads rest", tenant=tenant)
        if crew.heard and not crew.removed:
            self.wake(tenant)

    async def _until_quiet(self, crew: TenantControllers) -> None:
        """Stop the controllers once nothing has happened for a while and nothing is due."""
        while crew.heard or not crew.manager.is_quiet:
            crew.heard = False
            await self._clock.sleep(self._linger)
        crew.manager.stop()


class TenantControllers:
    """The controllers of one tenant while they run."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self.ended = asyncio.Event()
        self.heard = True
        """Whether something happened since it was last asked."""
        self.removed = False
