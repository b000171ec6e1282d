"""Everything that can be wrong with a platform, each with its remedy."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import click
import msgspec

from butler import advice
from butler.api.model import AGENT
from butler.cli.output import document, is_coloured
from butler.cli.session import home
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration, KubeError

from .checks import cluster, computer, inside
from .checks.finding import Finding, Verdict, failed
from .home import Home

Check = Callable[[Home, Client], Awaitable[Iterable[Finding]]]
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


_NEEDED: tuple[Check, ...] = (inside.api, cluster.platform)
"""Without these there is nothing else to look at."""
_ON_A_CLUSTER: tuple[Check, ...] = (
    *_NEEDED,
    inside.definitions,
    cluster.leadership,
    inside.providers,
    inside.deletions,
    inside.requests,
)


async def examine_cluster(path: Path) -> list[Finding]:
    """Make the checks that make sense for a platform on the cluster of a kubeconfig, wherever it runs."""
    place = Home(home() / "attached", f" --kubeconfig {shlex.quote(str(path))}")
    try:
        config = kubeconfig.load(path)
    except InvalidConfiguration as error:
        return [failed("kubeconfig", str(error), "name another with --kubeconfig")]
    async with HttpClient(config, agent=AGENT, patience=10) as client:
        findings: list[Finding] = []
        for check in _ON_A_CLUSTER:
            findings += await _made(check, place, client)
            if check in _NEEDED and is_ill(findings):
                break
    return [_remedied(finding, place, path) for finding in findings]


def _remedied(finding: Finding, place: Home, path: Path) -> Finding:
    """With a remedy for controllers that may run on another computer."""
    local = (advice.start(), advice.stop(), advice.platform_log(), str(place.log))
    if not any(words in finding.remedy for words in local):
        return finding
    return msgspec.structs.replace(finding, remedy=f"start the controllers: `{advice.start_on(str(path))}`")


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
