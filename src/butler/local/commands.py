"""butleradm up and down: a whole platform on this computer."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import click

from butler.cli import lazy
from butler.cli.session import home
from butler.kube import kubeconfig as kubeconfigs
from butler.kube.client import Client
from butler.kube.http import HttpClient
from butler.runtime.clock import SystemClock

from . import first_cluster, starting, telling
from .home import Place, Running, announced, default_place
from .platform import Platform
from .starting import Wanted

_PATIENCE = 20.0
"""Seconds a platform may take to stop."""

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_DIRECTORY = click.Path(file_okay=False, path_type=Path)


def _most_likely() -> Path:
    running = announced()
    return Path(running.data) if running is not None else default_place().data


data_option = click.option(
    "--data", type=_DIRECTORY, default=_most_likely, show_default="of the platform that runs, else as for up",
    help="The data directory.",
)  # fmt: skip
"""For commands about a platform that is there."""


@click.command()
@click.option("--data", type=_DIRECTORY, help="The data directory.  [default: $BUTLER_HOME/local or ~/.butler/local]")
@click.option("--port", type=click.IntRange(0, 65535), help="Default: the last one used, else 7443; 0 is any free one.")
@click.option("--empty", is_flag=True, help="Do not make the cluster demo in a new data directory.")
@click.option("--fast", is_flag=True, help="Simulated things take no time.")
@click.option("--detach", "-d", is_flag=True, help="Run in the background.")
@click.option("--kubeconfig", type=_FILE, help="Run on this Kubernetes cluster instead.")
@click.option("--simulate", is_flag=True, help="With --kubeconfig: simulate whatever the cluster does not have.")
@click.option("--background", is_flag=True, hidden=True)
def up(data: Path | None, kubeconfig: Path | None, simulate: bool, **given: Any) -> None:
    """Start a whole platform on this computer: no Kubernetes, no Docker, simulated infrastructure.

    A new one makes a first cluster called demo and shows how it comes to life. Ctrl-C stops the platform; everything
    stays in the data directory, and the next start goes on where this one was.

    \b
    Example:
      butleradm up
      butleradm up --detach --data ./platform --port 8443
      butleradm up --kubeconfig management.kubeconfig --simulate
    """
    if simulate and kubeconfig is None:
        raise click.UsageError("--simulate goes with --kubeconfig; without it, everything is simulated anyway")
    detach, background = given.pop("detach"), given.pop("background")
    place = Place((data or home() / ("local" if kubeconfig is None else "attached")).resolve())
    wanted = Wanted(place, kubeconfig=kubeconfig.resolve() if kubeconfig else None, simulate=simulate, **given)
    running = place.running()
    if running is not None:
        since = f"{running.started:%Y-%m-%d %H:%M} UTC"
        click.echo(f"Butler runs already, as process {running.pid} since {since}.", err=True)
        telling.tell_where(running, demo=place.kubeconfig_of(first_cluster.NAME).exists())
    elif background:
        asyncio.run(starting.serve(wanted, _in_background))
    elif detach:
        is_new = place.is_new
        starting.start_in_background(wanted.arguments())
        asyncio.run(_present_running(wanted, is_new))
    else:
        asyncio.run(_in_foreground(wanted))


async def _in_background(platform: Platform, running: Running, stop: asyncio.Event) -> None:
    await starting.go_to_background(Place(Path(running.data)))


async def _present_running(wanted: Wanted, is_new: bool) -> None:
    running = wanted.place.running()
    if running is None:
        raise click.ClickException(f"the platform has ended again; see {wanted.place.log}")
    async with HttpClient(kubeconfigs.load(Path(running.kubeconfig))) as client:
        await _present(client, running, is_new)
    click.echo("\nIt runs in the background; butleradm down stops it.", err=True)


async def _in_foreground(wanted: Wanted) -> None:
    is_new = wanted.place.is_new

    async def present(platform: Platform, running: Running, stop: asyncio.Event) -> None:
        shown = asyncio.ensure_future(_present(platform.client, running, is_new))
        stopped = asyncio.ensure_future(stop.wait())
        await asyncio.wait((shown, stopped), return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            shown.cancel()
        else:
            _tell_problem(shown.exception())
            click.echo("\nCtrl-C stops the platform; its data stays.", err=True)
            await stop.wait()
        await asyncio.gather(shown, stopped, return_exceptions=True)
        click.echo("\nStopping.", err=True)

    await starting.serve(wanted, present)
    click.echo(f"Stopped. The data is in {telling.short(wanted.place.data)}; butleradm up goes on with it.", err=True)


def _tell_problem(error: BaseException | None) -> None:
    """A platform goes on when it only could not be shown."""
    if error is not None:
        click.echo(f"butleradm: {error}", err=True)


async def _present(client: Client, running: Running, is_new: bool) -> None:
    """Show the first cluster on its way, and where everything is."""
    place = Place(Path(running.data))
    click.echo(f"Butler runs on {running.url}.", err=True)
    for remark in running.remarks:
        click.echo(f"  {remark}", err=True)
    if not is_new:
        await telling.tell_clusters(client)
    made = await first_cluster.follow(client)
    telling.tell_where(running, demo=made and await first_cluster.save_kubeconfig(place, client))


@click.command()
@data_option
@click.option("--purge", is_flag=True, help="Remove the data too.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before removing data.")
def down(data: Path, purge: bool, yes: bool) -> None:
    """Stop the platform that `butleradm up` started.

    \b
    Example:
      butleradm down
      butleradm down --purge --yes
    """
    place = Place(data.resolve())
    if purge and place.data.exists() and not yes:
        click.confirm(f"Remove {place.data} with all clusters in it?", abort=True)
    running = place.running()
    if running is None:
        click.echo(f"No platform runs on {telling.short(place.data)}.")
    else:
        asyncio.run(_stop(place, running))
        click.echo(f"Stopped process {running.pid}.")
    if purge:
        _remove(place)


async def _stop(place: Place, running: Running) -> None:
    """End the process and wait until it has let go of the data. Ends this command when that takes too long."""
    clock = SystemClock()
    os.kill(running.pid, signal.SIGTERM)
    until = clock.monotonic() + _PATIENCE
    while place.is_held():
        if clock.monotonic() > until:
            click.echo(f"Process {running.pid} has not stopped within {_PATIENCE:.0f} s; see {place.log}.", err=True)
            raise click.exceptions.Exit(lazy.TIMED_OUT)
        await clock.sleep(0.02)


def _remove(place: Place) -> None:
    """Remove a data directory, and nothing that is not one."""
    if not place.data.exists():
        return
    if place.is_held():
        raise click.ClickException(f"{place.data} is in use by another process; stop it first")
    if place.is_new and any(place.data.iterdir()):
        raise click.ClickException(f"{place.data} is not the data directory of a platform; nothing was removed")
    shutil.rmtree(place.data)
    click.echo(f"Removed {telling.short(place.data)}.")
