"""Staying until a provider can be used, or is gone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from butler.api.provider import ProviderConfig

from ..lazy import Failure
from ..live import objects
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

    def saying(found: ProviderConfig) -> str:
        condition = found.status.condition(shown)
        return condition.message if condition is not None else ""

    return await objects.follow(session, config, patience, is_done, saying, f"provider {config.key}")
