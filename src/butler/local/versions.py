"""Versions: of this program, and of the platform that runs."""

from __future__ import annotations

import platform as computer

import click
import msgspec
from msgspec import Struct

from butler import __version__
from butler.api.model import AGENT
from butler.cli.output import document
from kubekit.client.http import HttpClient, ServerVersion
from kubekit.errors import KubeError

from .home import Home, Running


class Versions(Struct, rename="camel"):
    """Who is how old."""

    butler: str
    python: str
    platform: str | None = None
    """Butler's version in the platform that runs; nothing when none does."""
    api: str | None = None
    """The Kubernetes version its API speaks."""


def show(found: Versions, form: str) -> None:
    if form != "text":
        click.echo(document(msgspec.to_builtins(found), form))
        return
    click.echo(f"butleradm {found.butler} (Python {found.python})")
    click.echo(f"platform  {found.platform}, API {found.api}" if found.platform else "platform  none runs here")


async def collect(place: Home) -> Versions:
    found = Versions(__version__, computer.python_version())
    running = place.running()
    if running is not None:
        found.platform = running.version
        served = await _served(running)
        found.api = served.git_version if served else None
    return found


async def _served(running: Running) -> ServerVersion | None:
    try:
        async with HttpClient(running.config(), agent=AGENT, patience=5) as client:
            return await client.version()
    except KubeError:
        return None
