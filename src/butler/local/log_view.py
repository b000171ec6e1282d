"""Reading the log of a platform."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import click

from butler.cli.lazy import MISSING, Failure
from kubekit.clock import SystemClock

from .home import Home

_BETWEEN_LOOKS = 0.2


async def show(place: Home, tail: int | None, follow: bool) -> None:
    """Print it, and with `follow` what is added until Ctrl-C. Raises Failure when there is none."""
    if not place.log.exists():
        raise Failure(f"there is no log in {place.data}: no platform was ever started there", MISSING)
    seen = _print(place.log, 0, tail)
    clock = SystemClock()
    while follow:
        await clock.sleep(_BETWEEN_LOOKS)
        size = place.log.stat().st_size if place.log.exists() else 0
        # A start begins a new file.
        seen = _print(place.log, seen if seen <= size else 0, None) if size else 0


def _print(path: Path, since: int, tail: int | None) -> int:
    """Print what is behind a position, or the last lines of it; answers the position behind that."""
    with path.open("rb") as file:
        file.seek(since)
        lines = deque(file, tail)
        click.echo(b"".join(lines), nl=False)
        return file.tell()
