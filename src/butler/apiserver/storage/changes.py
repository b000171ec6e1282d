"""What can happen to a stored object."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Change(IntEnum):
    ADDED = 0
    MODIFIED = 1
    DELETED = 2


@dataclass(slots=True, eq=False)
class Write:
    """One change on its way to the disk."""

    revision: int
    bucket: int
    key: str
    change: Change
    value: bytes
    previous: int | None
    previous_value: bytes | None
    owners: tuple[str, ...]
    expires: int | None
    done: asyncio.Future[Any]
