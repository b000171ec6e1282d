"""Staying until a provider can be used, or is gone."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import aclosing
from datetime import timedelta

from butler import advice
from butler.api.provider import ProviderConfig
from kubekit.model.ages import human

from ..lazy import TIMED_OUT, Failure
from ..live import progress
from ..live.screen import LineScreen
from ..output import plain
from ..session import Session

_HOPELESS = ("CredentialsInvalid", "InvalidConfiguration", "MachineRejected")
"""Reasons that do not pass by themselves."""


async def wait_until_ready(session: Session, config: ProviderConfig, patience: timedelta) -> None:
    """Raises Failure when it cannot be, or is not in time."""
    found = await _follow(session, config, patience, _is_settled, "Ready")
    ready = found.status.condition("Ready") if found is not None else None
    if ready is None or ready.status != "True":
        why = ready.message if ready is not None else "it was deleted meanwhile"
        raise Failure(f"provider {config.key} is not ready: {why}")


async def wait_until_gone(session: Session, config: ProviderConfig, patience: timedelta) -> None:
    """Raises Failure when it is not in time."""
    await _follow(session, config, patience, lambda _: False, "Deleting")


def _is_settled(config: ProviderConfig) -> bool:
    ready = config.status.condition("Ready")
    is_current = (config.status.observed_generation or 0) >= config.metadata.generation
    return is_current and ready is not None and (ready.status == "True" or ready.reason in _HOPELESS)


async def _follow(
    session: Session,
    config: ProviderConfig,
    patience: timedelta,
    is_done: Callable[[ProviderConfig], bool],
    shown: str,
) -> ProviderConfig | None:
    """Tell what one condition says until all is done; None when the object is gone."""
    screen, said = LineScreen(sys.stderr, session.clock), ""
    meta = config.metadata
    states = progress.states(session.client, ProviderConfig, meta.namespace, meta.name, session.clock, meta.uid)
    try:
        async with asyncio.timeout(patience.total_seconds()), aclosing(states):
            with progress.told(screen):
                async for found in states:
                    if found is None or is_done(found):
                        return found
                    condition = found.status.condition(shown)
                    if condition is not None and condition.message != said:
                        said = condition.message
                        screen.note(plain(said))
    except TimeoutError:
        after = human(int(patience.total_seconds()))
        why = f": {plain(said)}" if said else f"; `{advice.platform_status()}` says how the platform is"
        raise Failure(f"provider {config.key}: not done after {after}{why}", TIMED_OUT) from None
    return None
