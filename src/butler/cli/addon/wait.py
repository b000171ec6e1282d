"""Staying until an addon is installed, or gone."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from butler.addons.errors import AddonRefused
from butler.api.addon import ManagementAddon, TenantAddon

from ..lazy import FAILED, MISSING, REFUSED, Failure
from ..live import objects
from ..output import plain
from ..session import Session

A = TypeVar("A", TenantAddon, ManagementAddon)

_REFUSALS = {AddonRefused.reason, *(one.reason for one in AddonRefused.__subclasses__())}


async def wait_until_installed(session: Session, addon: A, patience: timedelta, subject: str, look: str) -> A:
    """Tell what becomes of it until it is there as it is written. Raises Failure, with where to look, when it is not
    to be, or not in time."""
    session.when_interrupted = f"it goes on without you; `{look}` looks at it again"
    generation = addon.metadata.generation

    def is_settled(found: A) -> bool:
        return _is_current(found, generation) and (found.status.phase == "Failed" or _works(found))

    try:
        found = await objects.follow(session, addon, patience, is_settled, _saying, subject)
    except Failure as failure:
        raise Failure(f"{failure}; `{look}` says more", failure.code) from None
    if found is None:
        raise Failure(f"{subject}: it was removed meanwhile", MISSING)
    if found.status.phase == "Failed":
        code = REFUSED if _is_refused(found) else FAILED
        raise Failure(f"{subject} failed: {_message(found) or 'nobody says why'}; `{look}` says more", code)
    return found


async def wait_until_gone(session: Session, addon: A, patience: timedelta, subject: str, look: str) -> None:
    """Raises Failure when it is not in time."""
    session.when_interrupted = f"it goes on without you; `{look}` looks at it again"
    try:
        await objects.follow(session, addon, patience, lambda _: False, _saying, subject)
    except Failure as failure:
        raise Failure(f"{failure}; `{look}` says more", failure.code) from None


def _is_current(addon: A, generation: int) -> bool:
    return (addon.status.observed_generation or 0) >= generation


def _works(addon: A) -> bool:
    ready = addon.status.condition("Ready")
    return addon.status.phase == "Installed" and (ready is None or ready.status == "True")


def _saying(addon: A) -> str:
    if not addon.deleting and not _is_current(addon, addon.metadata.generation):
        return "Pending"
    phase = addon.status.phase.value if addon.status.phase else "Pending"
    message = _message(addon)
    return f"{phase}: {message}" if message else phase


def _message(addon: A) -> str:
    return plain(addon.status.message or "")


def _is_refused(addon: A) -> bool:
    return any(one.status == "False" and one.reason in _REFUSALS for one in addon.status.conditions)
