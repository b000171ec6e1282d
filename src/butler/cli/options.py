"""Options that commands about different things share."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_NUMBER = re.compile(r"\d+(\.\d+)?")


class Patience(click.ParamType[timedelta]):
    """A duration such as 90s, 15m or 1h30m; a bare number is seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        from butler.api.units import duration

        if isinstance(value, timedelta):
            return value
        try:
            found = duration(f"{value}s" if _NUMBER.fullmatch(value) else value)
        except ValueError:
            self.fail(f"{value!r} is not a duration such as 90s, 15m or 1h30m", param, ctx)
        if found <= timedelta():
            self.fail(f"{value!r} must be more than nothing", param, ctx)
        return found


def timeout_option(default: str) -> Callable[[F], F]:
    return click.option(
        "--timeout", "patience", type=Patience(), default=default, show_default=True, help="How long to wait at most."
    )


def wait_option(function: F) -> F:
    return click.option("--wait/--no-wait", show_default=True, help="Stay and show the steps until it is done.")(
        function
    )
