"""An object on its way, told in a line whenever it says something else."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import aclosing
from datetime import timedelta
from typing import TypeVar

from butler import advice
from kubekit.model.ages import human
from kubekit.model.resource import Resource

from ..lazy import TIMED_OUT, Failure
from ..output import plain
from ..session import Session
from . import progress
from .screen import LineScreen

R = TypeVar("R", bound=Resource)


async def follow(
    session: Session,
    obj: R,
    patience: timedelta,
    is_done: Callable[[R], bool],
    saying: Callable[[R], str],
    subject: str,
) -> R | None:
    """Tell what an object says of itself until all is done; None when it is gone. Raises Failure when it takes too
    long."""
    screen, said, meta = LineScreen(sys.stderr, session.clock), "", obj.metadata
    states = progress.states(session.client, type(obj), meta.namespace, meta.name, session.clock, meta.uid)
    try:
        async with asyncio.timeout(patience.total_seconds()), aclosing(states):
            with progress.told(screen):
                async for found in states:
                    if found is None or is_done(found):
                        return found
                    if (news := plain(saying(found))) and news != said:
                        said = news
                        screen.note(said)
    except TimeoutError:
        after = human(int(patience.total_seconds()))
        why = f": {said}" if said else f"; `{advice.platform_status()}` says how the platform is"
        raise Failure(f"{subject}: not done after {after}{why}", TIMED_OUT) from None
    return None
