"""butlerctl version: of this program, and of the API it talks to."""

from __future__ import annotations

import platform

import click

from butler import __version__
from kubekit.errors import KubeError

from .command import command
from .lazy import Failure
from .output import document, output_option
from .session import Session


@command
@output_option("text", "json", "yaml")
@click.option("--client", "only_client", is_flag=True, help="Do not ask the API.")
async def version(session: Session, output: str, only_client: bool) -> None:
    """Show the version of this program and of the API it talks to.

    \b
    Example:
      butlerctl version
      butlerctl version --client -o json
    """
    found = {"butlerctl": __version__, "python": platform.python_version()}
    problem = "" if only_client else await _ask(session, found)
    if output != "text":
        click.echo(document(found, output))
    else:
        click.echo(f"butlerctl {found['butlerctl']} (Python {found['python']})")
        if "api" in found:
            click.echo(f"API       {found['api']} at {found['server']}")
    if problem:
        click.echo(f"the API cannot be asked: {problem}", err=True)


async def _ask(session: Session, found: dict[str, str]) -> str:
    """Add what the API says of itself; answers why it says nothing."""
    try:
        served = await session.client.version()
    except (KubeError, Failure) as error:
        return str(error)
    found |= {"api": served.git_version, "server": session.config.cluster.server}
    return ""
