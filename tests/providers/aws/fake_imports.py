"""Imports of snapshots, which moto does not have, and AMIs that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from werkzeug.wrappers import Response

from tests.providers.aws.moto_account import MotoAccount
from tests.providers.clocks import HandClock

Forward = Callable[..., Response]
Special = Callable[[dict[str, str], Forward], web.Response]


@dataclass
class Imports:
    """All imports of an account."""

    account: MotoAccount
    clock: HandClock
    tasks: dict[str, Any] = field(default_factory=dict)

    def answers(self, action: str) -> Special | None:
        return None
