"""Ending a platform that another process runs."""

from __future__ import annotations

import os
import shutil
import signal

import click

from butler import advice
from butler.cli.lazy import TIMED_OUT, Failure
from kubekit.clock import SystemClock

from .home import Home

_PATIENCE = 20.0
"""Seconds a platform may take to stop."""
_BETWEEN_LOOKS = 0.02


async def stop(place: Home) -> None:
    """End the process and wait until it has let go of the data. Raises Failure when that takes too long."""
    running = place.running()
    if running is None:
        click.echo(f"No platform runs on {place.data}.")
        return
    clock = SystemClock()
    os.kill(running.pid, signal.SIGTERM)
    until = clock.monotonic() + _PATIENCE
    while place.is_held():
        if clock.monotonic() > until:
            log = advice.platform_log(place.flag)
            message = f"process {running.pid} has not stopped within {_PATIENCE:.0f} s; see `{log}`"
            raise Failure(message, TIMED_OUT)
        await clock.sleep(_BETWEEN_LOOKS)
    click.echo(f"Stopped process {running.pid}.")


def remove(place: Home) -> None:
    """Remove a data directory, and nothing that is not one."""
    if not place.data.exists():
        return
    if place.is_held():
        raise click.ClickException(f"{place.data} is in use by another process; stop it first")
    if place.is_new and any(place.data.iterdir()):
        raise click.ClickException(f"{place.data} is not the data directory of a platform; nothing was removed")
    shutil.rmtree(place.data)
    click.echo(f"Removed {place.data}.")
