"""Whether a platform runs, and whether all is well with it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from butler.api.cluster import ClusterPhase, TenantCluster
from butler.api.model import AGENT
from butler.cli.output import document
from butler.engines.capi.kinds import Machine
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.clock import SystemClock
from kubekit.errors import KubeError

from . import health, messages
from .home import Home, Running


class Controllers(Struct, rename="camel"):
    """Caches and queues of the controllers."""

    ready: int = 0
    total: int = 0
    problems: dict[str, str] = {}


class Report(Struct, rename="camel", kw_only=True):
    """A platform at a glance."""

    running: bool
    healthy: bool = False
    data: str
    data_bytes: int
    log: str
    pid: int | None = None
    version: str | None = None
    uptime_seconds: int | None = None
    url: str | None = None
    kubeconfig: str | None = None
    metrics: str | None = None
    fast: bool = False
    controllers: Controllers = msgspec.field(default_factory=Controllers)
    clusters: dict[str, int] = {}
    machines: dict[str, int] = {}
    problems: list[str] = []


async def collect(place: Home) -> Report:
    """Everything there is to say, however much of the platform answers."""
    running = place.running()
    report = Report(running=running is not None, data=str(place.data), data_bytes=_size(place.data), log=str(place.log))
    if running is None:
        report.problems = [f"no platform runs here; start one with: butleradm up{place.flag}"]
        return report
    _describe(report, running)
    checks = await health.problems_of(running)
    wrong = {name: problem for name, problem in checks.items() if problem}
    report.controllers = Controllers(len(checks) - len(wrong), len(checks), wrong)
    report.problems = [f"{name}: {problem}" for name, problem in wrong.items()]
    if health.SILENT not in wrong:
        await _count(report, running)
    report.healthy = not report.problems
    return report


def _describe(report: Report, running: Running) -> None:
    report.pid, report.version, report.url = running.pid, running.version, running.url
    report.kubeconfig, report.fast = running.kubeconfig, running.fast
    report.metrics = f"{running.health}/metrics"
    report.uptime_seconds = int((SystemClock().now() - running.started).total_seconds())


async def _count(report: Report, running: Running) -> None:
    """How many clusters and machines there are in which phase."""
    try:
        async with HttpClient(kubeconfig.load(Path(running.kubeconfig)), agent=AGENT, patience=10) as client:
            clusters = (await client.list(TenantCluster)).items
            machines = (await client.list(Machine)).items
    except KubeError as error:
        report.problems.append(f"the API does not answer: {error}")
        return
    phases = [cluster.status.phase or ClusterPhase.PENDING for cluster in clusters]
    report.clusters = dict(sorted(Counter(phase.value for phase in phases).items()))
    report.machines = dict(sorted(Counter(machine.status.phase or "Pending" for machine in machines).items()))
    failed = [cluster.key for cluster, phase in zip(clusters, phases, strict=True) if phase is ClusterPhase.FAILED]
    report.problems += [f"cluster {key} has failed; see: butlerctl cluster why {key}" for key in failed]


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) if directory.exists() else 0


def show(report: Report, form: str) -> None:
    if form != "table":
        click.echo(document(msgspec.to_builtins(report), form))
        return
    for name, text in _rows(report):
        click.echo(f"{name:<12}{text}".rstrip())


def _rows(report: Report) -> list[tuple[str, str]]:
    rows = [
        ("Platform", f"runs as process {report.pid}, version {report.version}" if report.running else "does not run")
    ]
    if report.running:
        controllers = report.controllers
        rows += [
            ("Up for", messages.duration(report.uptime_seconds or 0)),
            ("API", report.url or ""),
            ("Kubeconfig", report.kubeconfig or ""),
            ("Controllers", f"{controllers.ready} of {controllers.total} checks pass"),
            ("Clusters", _counted(report.clusters)),
            ("Machines", _counted(report.machines)),
        ]
    rows += [("Data", f"{report.data} ({messages.size(report.data_bytes)})"), ("Log", report.log)]
    rows += [("Metrics", report.metrics)] if report.metrics else []
    return [*rows, *(("Problem", problem) for problem in report.problems)]


def _counted(counts: dict[str, int]) -> str:
    if not counts:
        return "none"
    return f"{sum(counts.values())} ({', '.join(f'{count} {phase}' for phase, count in counts.items())})"
