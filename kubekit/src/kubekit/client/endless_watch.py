"""A kind's objects, for ever: what there is, then what changes, whatever happens to the connection."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol, overload

from kubekit.errors import ApiError, Expired, KubeError
from kubekit.model.resource import Address, Object
from kubekit.time_limit import TimeLimit

from .protocol import EVERYTHING, Client, Listed, Selection, T, Watched, address_of

log = logging.getLogger("kubekit.client")

Snapshot = Listed
"""Everything there is now; what is not in it is gone."""
Change = Watched
"""One thing that happened; also bookmarks, which say that nothing was missed up to their version."""

IDLE = 180.0
"""Seconds of silence after which a watch counts as dead; servers send bookmarks about once a minute."""
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_LIVELY = 1.0
"""Seconds a watch must last for the next one to begin at once."""


class Clock(Protocol):
    """Time that passes."""

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Chance(Protocol):
    """Where random bytes come from."""

    def bytes(self, count: int) -> bytes: ...


@overload
def follow(
    client: Client,
    kind: type[T],
    selection: Selection = EVERYTHING,
    *,
    clock: Clock,
    chance: Chance,
    idle: float = IDLE,
) -> AsyncGenerator[Snapshot[T] | Change[T], None]: ...
@overload
def follow(
    client: Client,
    kind: Address,
    selection: Selection = EVERYTHING,
    *,
    clock: Clock,
    chance: Chance,
    idle: float = IDLE,
) -> AsyncGenerator[Snapshot[Object] | Change[Object], None]: ...
async def follow(
    client: Client,
    kind: Any,
    selection: Selection = EVERYTHING,
    *,
    clock: Clock,
    chance: Chance,
    idle: float = IDLE,
) -> AsyncGenerator[Snapshot[Any] | Change[Any], None]:
    """A Snapshot, then every Change after it, in order and once; when that cannot be kept up, a Snapshot again.

    Ends only when it is closed or cancelled: refusals and failures are logged and tried again, less and less often."""
    pauses = _Pauses(clock, chance, address_of(kind).name)
    while True:
        try:
            listed = await client.list(kind, selection)
        except KubeError as error:
            await pauses.after(error)
            continue
        yield listed
        watching = _Watching(client, kind, selection, listed.version, idle)
        while not watching.lost:
            started = clock.monotonic()
            async with aclosing(watching.changes()) as changes:
                async for change in changes:
                    yield change
            await pauses.between(watching.problem, watching.progressed, clock.monotonic() - started)


class _Watching:
    """One position in the history of a kind, over as many watches as it takes."""

    def __init__(self, client: Client, kind: Any, selection: Selection, version: str, idle: float) -> None:
        self._client, self._kind, self._selection = client, kind, selection
        self._version, self._idle = version, idle
        self.problem: KubeError | None = None
        self.lost = False
        """Whether the position is of no use any more, and everything has to be listed again."""
        self.progressed = False
        """Whether the last watch said anything new."""

    async def changes(self) -> AsyncGenerator[Change[Any], None]:
        """What one watch has to say, until it ends for whatever reason."""
        self.problem, self.progressed = None, False
        watch = self._client.watch(self._kind, self._selection, version=self._version)
        limit = TimeLimit(self._idle)
        try:
            async with aclosing(watch) as events:
                while True:
                    with limit:
                        event = await anext(events, None)
                    if event is None:
                        return
                    self.progressed = self.progressed or event.version != self._version
                    self._version = event.version or self._version
                    yield event
        except TimeoutError:
            # Nothing is wrong that anyone could see: the connection has died silently.
            self.problem = None
        except KubeError as error:
            self.problem = error
            # What cannot be read, or is too old, is there again whenever one goes on from here.
            self.lost = isinstance(error, Expired) or not isinstance(error, ApiError)
        finally:
            limit.close()


class _Pauses:
    """How long to wait before trying again: not at all after success, longer and longer after failures."""

    def __init__(self, clock: Clock, chance: Chance, name: str) -> None:
        self._clock, self._chance, self._name = clock, chance, name
        self._failures = 0

    async def between(self, problem: KubeError | None, progressed: bool, lasted: float) -> None:
        """After a watch has ended."""
        if progressed or lasted >= _LIVELY:
            self._failures = 0
        if problem is not None and not (isinstance(problem, Expired) and progressed):
            await self.after(problem)
        elif lasted < _LIVELY:
            await self._clock.sleep(self._next())

    async def after(self, problem: KubeError) -> None:
        """After something went wrong."""
        asked = problem.retry_after if isinstance(problem, ApiError) else 0
        pause = max(self._next(), asked)
        log.warning("following failed kind=%s again_in=%.1f error=%s", self._name, pause, problem)
        await self._clock.sleep(pause)

    def _next(self) -> float:
        longest = min(_FIRST_PAUSE * (1 << self._failures), _LONGEST_PAUSE)
        self._failures = min(self._failures + 1, 16)
        share = int.from_bytes(self._chance.bytes(4), "big") / 2**32
        return longest * (0.5 + share / 2)
