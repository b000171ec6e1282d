"""What can happen to a stored object."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import msgspec

from kubekit.errors import InternalError


class Change(IntEnum):
    ADDED = 0
    MODIFIED = 1
    DELETED = 2
    BEGUN = 3
    """Nothing happened: what an object of a base began as, stored when it is first changed."""


class Write(msgspec.Struct, eq=False):
    """One change on its way to the disk."""

    revision: int
    bucket: int
    key: str
    change: Change
    value: bytes
    previous: int | None
    previous_value: bytes | None
    owners: Sequence[str]
    expires: int | None
    is_ending: bool
    """Whether somebody has asked to delete the object."""
    done: asyncio.Future[Any]
    buckets: Sequence[tuple[int, str, str]] = ()
    """Buckets (number, space, resource) that are used for the first time and come to be with this write."""
    is_first: bool = False
    """Whether it is the first change of an object that a base had."""
    together: Sequence[Write] = ()
    """Further writes, of the revisions that follow, that must become durable with this one or not at all."""


def not_stored(error: Exception) -> InternalError:
    """What whoever waits for a change is told when it could not be made durable."""
    return InternalError(f"the write could not be stored: {error}")
