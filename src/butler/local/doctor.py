"""Everything that can be wrong with a platform, each with its remedy."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence

import click
import msgspec

from butler import advice
from butler.api.model import AGENT
from butler.cli.output import document, is_coloured
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration, KubeError

from .checks import computer, inside
from .checks.finding import Finding, Verdict, failed
from .home import Home

_SIGNS = {Verdict.PASS: ("PASS", "green"), Verdict.NOTE: ("NOTE", "yellow"), Verdict.FAIL: ("FAIL", "red")}


async def examine(place: Home) -> list[Finding]:
    """Make every check that makes sense; one that breaks is a finding too."""
    findings = [finding for check in computer.CHECKS for finding in check(place)]
    running = place.running()
    if running is None:
        return findings
    try:
        async with HttpClient(running.config(), agent=AGENT, patience=10) as client:
            for check in inside.CHECKS:
                findings += await _made(check, place, client)
    except InvalidConfiguration:
        # It has been found out already that the kubeconfig is none.
        pass
    return findings


Check = Callable[[Home, Client], Awaitable[Iterable[Finding]]]


async def _made(check: Check, place: Home, client: Client) -> Iterable[Finding]:
    try:
        return await check(place, client)
    except KubeError as error:
        subject = check.__name__.replace("_", " ")
        return [failed(subject, f"cannot be checked: {error}", f"see `{advice.platform_log(place.flag)}`")]


def is_ill(findings: Iterable[Finding]) -> bool:
    return any(finding.verdict is Verdict.FAIL for finding in findings)


def show(findings: Sequence[Finding], form: str) -> None:
    if form != "table":
        click.echo(document(msgspec.to_builtins(findings), form))
        return
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        word, colour = _SIGNS[finding.verdict]
        shown = click.style(word, fg=colour) if is_coloured(sys.stdout) else word
        click.echo(f"{shown}  {finding.subject:<{width}}  {finding.message}")
        if finding.remedy:
            click.echo(f"      {'':<{width}}  → {finding.remedy}")
