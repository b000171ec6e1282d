"""A client that makes trouble: everything that goes wrong between a controller and a real API, by seeded chance."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, fields
from typing import Any

from kubekit.client.protocol import EVERYTHING, Client, Selection, Watched
from kubekit.clock import Chance, Clock, fraction
from kubekit.errors import Conflict, Expired, InternalError, ServiceUnavailable
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.objects import Kind


@dataclass(slots=True)
class Faults:
    """How likely each fault is, per call or per event; set `on` to False and there are none."""

    on: bool = True
    slow: float = 0.2
    """A call takes a while, up to `longest` seconds, before the API has it or before its answer arrives."""
    longest: float = 3.0
    refused: float = 0.05
    """A call does not reach the API."""
    lost: float = 0.05
    """A call takes effect, but its answer is lost."""
    conflict: float = 0.05
    """A write is refused as if someone had been quicker."""
    late: float = 0.2
    """An event, and all behind it, comes late."""
    twice: float = 0.1
    """An event comes twice."""
    cut: float = 0.03
    """The stream ends, and events are lost until someone asks again."""
    mute: float = 0.02
    """The stream stays open but says nothing any more, until whoever waits for it loses patience or `longest` ends."""
    expired: float = 0.1
    """The version to watch from is said to be too old."""

    def become(self, **likelihoods: float) -> None:
        """From now on these happen, and nothing else goes wrong. Raises TypeError for what is no fault."""
        names = {one.name for one in fields(self)} - {"on", "longest"}
        if unknown := likelihoods.keys() - names - {"longest"}:
            raise TypeError(f"no such fault: {', '.join(sorted(unknown))}; there are {', '.join(sorted(names))}")
        self.on = True
        for name, likelihood in {**dict.fromkeys(names, 0.0), **likelihoods}.items():
            setattr(self, name, likelihood)


class FaultyClient(WrappedClient):
    """Disturbs every call to `inner`; what gets through is unchanged."""

    def __init__(self, inner: Client, faults: Faults, clock: Clock, chance: Chance) -> None:
        super().__init__(inner)
        self._faults, self._clock, self._chance = faults, clock, chance

    async def around(self, call: Call, go: Go) -> Any:
        faults = self._faults
        if self._happens(faults.slow):
            await self._wait()
        if self._happens(faults.refused):
            raise ServiceUnavailable(f"{call.verb} {call.address.plural}: connection refused")
        if call.writes and self._happens(faults.conflict):
            raise Conflict(f"{call.verb} {call.address.plural} {call.name!r}: the object has been modified")
        answer = await go()
        if self._happens(faults.slow):
            await self._wait()
        if self._happens(faults.lost):
            raise InternalError(f"{call.verb} {call.address.plural}: connection reset")
        return answer

    async def watch(
        self, kind: Kind, selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[Any], None]:
        faults = self._faults
        if self._happens(faults.refused):
            raise ServiceUnavailable("watch: connection refused")
        if version and self._happens(faults.expired):
            raise Expired(f"too old resource version: {version}")
        async with aclosing(self.inner.watch(kind, selection, version=version)) as events:
            async for event in events:
                if self._happens(faults.late):
                    await self._wait()
                if self._happens(faults.cut):
                    return
                if self._happens(faults.mute):
                    await self._clock.sleep(faults.longest * 10)
                    raise ServiceUnavailable("watch: connection reset")
                yield event
                if self._happens(faults.twice):
                    yield event

    def _happens(self, likelihood: float) -> bool:
        return self._faults.on and fraction(self._chance) < likelihood

    async def _wait(self) -> None:
        await self._clock.sleep(fraction(self._chance) * self._faults.longest)
