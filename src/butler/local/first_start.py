"""Starting a platform before somebody's eyes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from butler import advice
from butler.api.model import AGENT
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client

from . import first_cluster, messages, process
from .home import Home, Running
from .platform import Platform
from .process import Wanted


def tell_that_it_runs(wanted: Wanted, running: Running) -> None:
    """For those who start what runs already, and who may want it to be elsewhere."""
    since = f"{running.started:%Y-%m-%d %H:%M} UTC"
    click.echo(f"Butler runs already, as process {running.pid} since {since}.", err=True)
    messages.tell_where(running, demo=Home(Path(running.data)).kubeconfig_of(first_cluster.NAME).exists())
    there = wanted.place.remembered()
    asked = (("host", wanted.host, there.host), ("port", wanted.port, there.port))
    flags = "".join(f" --{name} {value}" for name, value, there in asked if value and value != there)
    if flags:
        restart = advice.restart(wanted.place.flag, flags)
        click.echo(f"\nIt stays where it is; `{restart}` starts it anew.", err=True)


def in_background(wanted: Wanted) -> None:
    """Start a platform that goes on when this process ends."""
    is_new = wanted.place.is_new
    _tell_beginning(wanted)
    process.start_in_background(wanted.arguments())
    asyncio.run(_present_other(wanted.place, is_new))
    click.echo(f"\nIt runs in the background; `{advice.stop(wanted.place.flag)}` stops it.", err=True)


async def _present_other(place: Home, is_new: bool) -> None:
    running = place.running()
    if running is None:
        raise click.ClickException(f"the platform has ended again; `{advice.platform_log(place.flag)}` may say why")
    async with HttpClient(running.config(), agent=AGENT) as client:
        await _present(client, running, is_new)


async def in_foreground(wanted: Wanted) -> None:
    """Run a platform until somebody stops it."""
    is_new = wanted.place.is_new
    _tell_beginning(wanted)

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

    await process.serve(wanted, present)
    again = advice.start(wanted.flags())
    click.echo(f"Stopped. The data is in {messages.short(wanted.place.data)}; `{again}` goes on with it.", err=True)


def _tell_beginning(wanted: Wanted) -> None:
    """It takes seconds until there is more to say."""
    click.echo(f"Starting Butler, with its data in {messages.short(wanted.place.data)} ...", err=True)


def _tell_problem(error: BaseException | None) -> None:
    """A platform goes on when it only could not be shown."""
    if error is not None:
        click.echo(f"butleradm: {error}", err=True)


async def _present(client: Client, running: Running, is_new: bool) -> None:
    """Show the first cluster on its way, and where everything is."""
    place = Home(Path(running.data))
    click.echo(f"Butler runs on {running.url}.", err=True)
    for remark in running.remarks:
        click.echo(f"  {remark}", err=True)
    if not is_new:
        await messages.tell_clusters(client)
    made = await first_cluster.follow(client)
    messages.tell_where(running, demo=made and await first_cluster.save_kubeconfig(place, client))
