"""butleradm doctor: everything that can be wrong with a platform, each with its remedy."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import click
import msgspec

from butler.cli import lazy
from butler.cli.output import document, is_coloured, output_option
from butler.errors import ButlerError, InvalidConfiguration
from butler.kube import kubeconfig
from butler.kube.client import Client
from butler.kube.http import HttpClient

from .checks import computer, inside
from .checks.finding import Finding, Verdict, failed
from .commands import data_option
from .home import Place

_SIGNS = {Verdict.PASS: ("PASS", "green"), Verdict.NOTE: ("NOTE", "yellow"), Verdict.FAIL: ("FAIL", "red")}


@click.command()
@data_option
@output_option("table", "json", "yaml")
def doctor(data: Path, output: str) -> None:
    """Look for everything that can be wrong with a platform; exit code 1 when something is.

    Nothing is changed. Without a platform that runs, only what it would need to start is looked at.

    \b
    Example:
      butleradm doctor
      butleradm doctor --data ./platform -o json
    """
    findings = asyncio.run(examine(Place(data.resolve())))
    if output != "table":
        click.echo(document(msgspec.to_builtins(findings), output))
    else:
        _show(findings)
    sys.exit(lazy.FAILED if any(finding.verdict is Verdict.FAIL for finding in findings) else lazy.OK)


async def examine(place: Place) -> list[Finding]:
    """Make every check that makes sense; one that breaks is a finding too."""
    findings = [finding for check in computer.CHECKS for finding in check(place)]
    running = place.running()
    if running is None:
        return findings
    try:
        async with HttpClient(kubeconfig.load(Path(running.kubeconfig)), patience=10) as client:
            for check in inside.CHECKS:
                findings += await _made(check, place, client)
    except InvalidConfiguration:
        # It has been found out already that the kubeconfig is none.
        pass
    return findings


Check = Callable[[Place, Client], Awaitable[Iterable[Finding]]]


async def _made(check: Check, place: Place, client: Client) -> Iterable[Finding]:
    try:
        return await check(place, client)
    except ButlerError as error:
        subject = check.__name__.replace("_", " ")
        return [failed(subject, f"cannot be checked: {error}", f"see {place.log}")]


def _show(findings: Iterable[Finding]) -> None:
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        word, colour = _SIGNS[finding.verdict]
        shown = click.style(word, fg=colour) if is_coloured(sys.stdout) else word
        click.echo(f"{shown}  {finding.subject:<{width}}  {finding.message}")
        if finding.remedy:
            click.echo(f"      {'':<{width}}  → {finding.remedy}")
