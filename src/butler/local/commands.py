"""The commands of butleradm for a platform on this computer.

Whatever they need is imported when they run, so that help is quick."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from butler.cli import lazy, prompts
from butler.cli.output import output_option
from butler.cli.usage import Command
from butler.cli.verbosity import verbose_option

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_DIRECTORY = click.Path(file_okay=False, path_type=Path)


def _most_likely() -> Path:
    """The data of the platform that runs; else where one would be."""
    from .home import announced, default_place

    running = announced()
    return Path(running.data) if running is not None else default_place().data


def data_option(function: F) -> F:
    """For commands about a platform that is there."""
    shown = "of the platform that runs, else as for up"
    option = click.option(
        "--data", type=_DIRECTORY, default=_most_likely, show_default=shown, help="The data directory."
    )
    return option(function)


def cluster_option(function: F) -> F:
    """For commands that can look at a platform on a cluster, too."""
    return click.option(
        "--kubeconfig", type=_FILE, help="Look at the platform on this Kubernetes cluster, wherever it runs."
    )(function)


@click.command(cls=Command)
@click.option("--data", type=_DIRECTORY, help="The data directory.  [default: $BUTLER_HOME/local or ~/.butler/local]")
@click.option("--port", type=click.IntRange(0, 65535), help="Default: the last one used, else 7443; 0 is any free one.")
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Address or name of this computer by which others reach it. Default: the last one used, else 127.0.0.1.",
)
@click.option("--empty", is_flag=True, help="Do not make the cluster demo in a new data directory.")
@click.option("--fast", is_flag=True, help="Simulated things take no time.")
@click.option("--detach", "-d", is_flag=True, help="Run in the background.")
@click.option("--kubeconfig", type=_FILE, help="Run on this Kubernetes cluster instead.")
@click.option("--simulate", is_flag=True, help="With --kubeconfig: simulate whatever the cluster does not have.")
@click.option(
    "--record-addons",
    is_flag=True,
    help="Write down addons of simulated clusters instead of installing small charts: for many clusters at once.",
)
@click.option("--background", is_flag=True, hidden=True)
@verbose_option
def up(
    data: Path | None, kubeconfig: Path | None, simulate: bool, detach: bool, background: bool, **given: Any
) -> None:
    """Start a whole platform on this computer.

    It needs no Kubernetes and no Docker; the infrastructure is simulated. A new platform makes a first cluster called
    demo and shows how it comes to life. Ctrl-C stops the platform; everything stays in the data directory, and the
    next start goes on where this one was.

    \b
    Example:
      butleradm up
      butleradm up --detach --data ./platform --port 8443
      butleradm up --host 192.168.1.10
      butleradm up --kubeconfig management.kubeconfig --simulate
    """
    from butler.cli.session import home

    from . import first_start, process
    from .home import Home

    if simulate and kubeconfig is None:
        raise click.UsageError("--simulate goes with --kubeconfig; without it, everything is simulated anyway")
    if given["host"] and kubeconfig is not None and not simulate:
        raise click.UsageError("--host is for a platform with an API of its own; that of the cluster is where it is")
    if given["record_addons"] and kubeconfig is not None and not simulate:
        raise click.UsageError("--record-addons is for simulated clusters; those of this platform are real")
    place = Home((data or home() / ("local" if kubeconfig is None else "attached")).resolve())
    wanted = process.Wanted(place, kubeconfig=kubeconfig.resolve() if kubeconfig else None, simulate=simulate, **given)
    running = place.running()
    if running is not None:
        first_start.tell_that_it_runs(wanted, running)
    elif background:
        asyncio.run(process.serve(wanted, process.go_to_background))
    elif detach:
        first_start.in_background(wanted)
    else:
        asyncio.run(first_start.in_foreground(wanted))


@click.command(cls=Command)
@data_option
@click.option("--purge", is_flag=True, help="Remove the data too.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before removing data.")
@verbose_option
def down(data: Path, purge: bool, yes: bool) -> None:
    """Stop the platform that runs here.

    \b
    Example:
      butleradm down
      butleradm down --purge --yes
    """
    from . import shutdown
    from .home import Home

    place = Home(data.resolve())
    if purge and place.data.exists() and not yes:
        prompts.confirm(f"Remove {place.data} with all clusters in it?")
    asyncio.run(shutdown.stop(place))
    if purge:
        shutdown.remove(place)


@click.command(cls=Command)
@data_option
@cluster_option
@output_option("table", "json", "yaml")
@verbose_option
def status(data: Path, kubeconfig: Path | None, output: str) -> None:
    """Show how the platform is.

    The exit code is 1 when it does not run, or something is not well.

    \b
    Example:
      butleradm status
      butleradm status --kubeconfig management.kubeconfig
      butleradm status -o json
    """
    from . import status as reports
    from .home import Home

    look = reports.collect(Home(data.resolve())) if kubeconfig is None else reports.collect_on_cluster(kubeconfig)
    report = asyncio.run(look)
    reports.show(report, output)
    sys.exit(lazy.OK if report.healthy else lazy.FAILED)


@click.command(cls=Command)
@data_option
@cluster_option
@output_option("table", "json", "yaml")
@verbose_option
def doctor(data: Path, kubeconfig: Path | None, output: str) -> None:
    """Find out what is wrong, and the remedy.

    The exit code is 1 when something is wrong. Nothing is changed. Without a platform that runs, only what it would
    need to start is looked at.

    \b
    Example:
      butleradm doctor
      butleradm doctor --data ./platform -o json
      butleradm doctor --kubeconfig management.kubeconfig
    """
    from . import doctor as examination
    from .home import Home

    look = examination.examine(Home(data.resolve())) if kubeconfig is None else examination.examine_cluster(kubeconfig)
    findings = asyncio.run(look)
    examination.show(findings, output)
    sys.exit(lazy.FAILED if examination.is_ill(findings) else lazy.OK)


@click.command(cls=Command)
@data_option
@click.option("--follow", "-f", is_flag=True, help="Go on with what is written from now on.")
@click.option("--tail", type=click.IntRange(0), metavar="N", help="Only the last so many lines.")
def logs(data: Path, follow: bool, tail: int | None) -> None:
    """Show the log of the platform: what happened to clusters, and what went wrong.

    \b
    Example:
      butleradm logs --tail 20
      butleradm logs --follow
    """
    from . import logs as records
    from .home import Home

    asyncio.run(records.show(Home(data.resolve()).log, tail, follow))


@click.command()
@data_option
@output_option("text", "json", "yaml")
@verbose_option
def version(data: Path, output: str) -> None:
    """Show the version of this program and of the platform.

    \b
    Example:
      butleradm version
      butleradm version -o json
    """
    from . import versions
    from .home import Home

    versions.show(asyncio.run(versions.collect(Home(data.resolve()))), output)
