"""A cluster on its way, step by step, until it is where it should be."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from typing import TypeVar

from butler.api.cluster import ClusterPhase, TenantCluster
from kubekit.client.endless_watch import follow as follow_kind
from kubekit.client.protocol import Client, Listed, Selection, Signal
from kubekit.clock import Clock, SystemChance, SystemClock
from kubekit.model.ages import human
from kubekit.model.resource import Resource

from ..lazy import TIMED_OUT, Failure
from .screen import Screen, is_of_before

R = TypeVar("R", bound=Resource)
Until = Callable[[TenantCluster | None], bool]
"""Whether a cluster, or its absence, is what was waited for."""

_TICK = 0.1
"""Seconds between two pictures of something that moves."""


def gone(cluster: TenantCluster | None) -> bool:
    """Waits for the end of a cluster."""
    return cluster is None


def settled(generation: int) -> Until:
    """Waits until what was asked for in this generation of the spec is done, or cannot be done."""

    def is_settled(cluster: TenantCluster | None) -> bool:
        if cluster is None or problem_of(cluster, generation):
            return True
        status = cluster.status
        ready = status.condition("Ready")
        is_current = (status.observed_generation or 0) >= generation
        return is_current and status.phase is not None and status.phase.is_usable and _holds(ready)

    return is_settled


def problem_of(cluster: TenantCluster | None, generation: int = 0) -> str:
    """Why a cluster will not become what was asked for; empty while it may."""
    if cluster is None:
        return "it was deleted meanwhile"
    if (cluster.status.observed_generation or 0) < generation:
        return ""
    if refusal := refusal_of(cluster):
        return refusal
    ready = cluster.status.condition("Ready")
    if cluster.status.phase is ClusterPhase.FAILED:
        return (ready.message or ready.reason) if ready else "it has failed"
    return ""


def refusal_of(cluster: TenantCluster) -> str:
    """Why what is asked for is not done, unless it changes; empty while nothing is against it."""
    for gate in ("Accepted", "QuotaSatisfied"):
        said = cluster.status.condition(gate)
        if said is not None and said.status == "False" and cluster.status.phase is not ClusterPhase.PENDING:
            return said.message or said.reason
    return ""


def _holds(condition: object) -> bool:
    return condition is None or getattr(condition, "status", "") == "True"


async def follow(
    client: Client,
    namespace: str,
    name: str,
    until: Until,
    screen: Screen,
    patience: float | None = None,
    clock: Clock | None = None,
    uid: str = "",
) -> TenantCluster | None:
    """Show a cluster until it is as waited for; answers it, or None when it is gone.

    Raises Failure with the exit code for that when `patience` seconds have passed. Another cluster of the same name
    that is made later, or has another uid, does not count."""
    clock = clock or SystemClock()
    seen: list[TenantCluster | None] = []
    try:
        with screen, told(screen):
            clusters = states(client, TenantCluster, namespace, name, clock, uid)
            async with asyncio.timeout(patience), _ticking(screen, clock), aclosing(clusters):
                return await _until(clusters, until, screen, seen)
    except TimeoutError:
        after = human(int(timedelta(seconds=patience or 0).total_seconds()))
        raise Failure(f"cluster {namespace}/{name}: not done after {after}{_waiting(seen)}", TIMED_OUT) from None


async def _until(
    clusters: AsyncIterator[TenantCluster | None], until: Until, screen: Screen, seen: list[TenantCluster | None]
) -> TenantCluster | None:
    async for cluster in clusters:
        seen[:] = [cluster]
        screen.show(cluster)
        if until(cluster):
            return cluster
    return None


async def states(
    client: Client, kind: type[R], namespace: str, name: str, clock: Clock, uid: str = ""
) -> AsyncGenerator[R | None, None]:
    """An object whenever it changes, and at last None; whatever happens to the connection."""
    selection = Selection(namespace, fields=f"metadata.name={name}")
    events = follow_kind(client, kind, selection, clock=clock, chance=SystemChance())
    async with aclosing(events) as changes:
        async for change in changes:
            if isinstance(change, Listed):
                found = change.items[0] if change.items else None
            elif change.signal is Signal.BOOKMARK:
                continue
            else:
                found = None if change.signal is Signal.DELETED else change.item
            if found is not None and uid not in ("", found.metadata.uid):
                found = None
            uid = found.metadata.uid if found is not None else uid
            yield found
            if found is None:
                return


def _waiting(seen: list[TenantCluster | None]) -> str:
    """What a cluster was waiting for when it was last seen."""
    cluster = seen[0] if seen else None
    if cluster is None:
        return ""
    if is_of_before(cluster):
        return "; the platform has not looked at the change yet"
    ready = cluster.status.condition("Ready")
    phase = cluster.status.phase.value if cluster.status.phase else "Pending"
    return f"; it is {phase}" + (f": {ready.message}" if ready and ready.message else "")


@asynccontextmanager
async def _ticking(screen: Screen, clock: Clock) -> AsyncIterator[None]:
    """Keep what moves on the screen moving."""
    if not screen.moves:
        yield
        return

    async def tick() -> None:
        while True:
            await clock.sleep(_TICK)
            screen.tick()

    task = asyncio.ensure_future(tick())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class told(logging.Handler):  # noqa: N801 -- used like a function
    """Puts warnings of the connection on the screen instead of across it."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.WARNING)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        error = record.args[-1] if isinstance(record.args, tuple) and record.args else record.getMessage()
        self._screen.note(f"the API does not answer, trying again: {error}")

    def __enter__(self) -> None:
        logger = logging.getLogger("kubekit.client")
        logger.addHandler(self)
        # Whoever wants to see everything sees the rest as well.
        self._propagated, logger.propagate = logger.propagate, logger.isEnabledFor(logging.DEBUG)

    def __exit__(self, *_: object) -> None:
        logger = logging.getLogger("kubekit.client")
        logger.removeHandler(self)
        logger.propagate = self._propagated
