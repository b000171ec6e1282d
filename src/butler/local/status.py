"""Whether a platform runs, and whether all is well with it."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from butler import advice
from butler.api.cluster import ClusterPhase, TenantCluster
from butler.api.model import AGENT
from butler.cli.live.progress import refusal_of
from butler.cli.output import document
from butler.engines.capi.kinds import Machine
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.clock import SystemClock
from kubekit.errors import KubeError, NotFound

from . import health, messages
from .checks import cluster
from .checks.finding import Verdict
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
    data: str | None = None
    """Nothing for a platform on a cluster, which may run on another computer."""
    data_bytes: int = 0
    log: str | None = None
    pid: int | None = None
    version: str | None = None
    uptime_seconds: int | None = None
    url: str | None = None
    kubeconfig: str | None = None
    metrics: str | None = None
    fast: bool = False
    leader: str | None = None
    """Which controllers lead, on a cluster."""
    controllers: Controllers = msgspec.field(default_factory=Controllers)
    clusters: dict[str, int] = {}
    machines: dict[str, int] = {}
    problems: list[str] = []


async def collect(place: Home) -> Report:
    """Everything there is to say, however much of the platform answers."""
    running = place.running()
    report = Report(running=running is not None, data=str(place.data), data_bytes=_size(place.data), log=str(place.log))
    if running is None:
        report.problems = [f"no platform runs here; `{advice.start(place.flag)}` starts one"]
        return report
    _describe(report, running)
    checks = await health.problems_of(running)
    wrong = {name: problem for name, problem in checks.items() if problem}
    report.controllers = Controllers(len(checks) - len(wrong), len(checks), wrong)
    report.problems = [f"{name}: {problem}" for name, problem in wrong.items()]
    if health.SILENT not in wrong:
        try:
            async with HttpClient(running.config(), agent=AGENT, patience=10) as client:
                await _count(report, client, running.where)
        except KubeError as error:
            report.problems.append(f"the API does not answer: {error}")
    report.healthy = not report.problems
    return report


def _describe(report: Report, running: Running) -> None:
    report.pid, report.version, report.url = running.pid, running.version, running.url
    report.kubeconfig, report.fast = running.kubeconfig, running.fast
    report.metrics = f"{running.health}/metrics"
    report.uptime_seconds = int((SystemClock().now() - running.started).total_seconds())


async def collect_on_cluster(path: Path) -> Report:
    """The same for a platform on the cluster of a kubeconfig, wherever its controllers run. Raises KubeError."""
    config, start = kubeconfig.load(path), advice.start_on(str(path))
    report = Report(running=False, url=config.cluster.server, kubeconfig=str(path))
    async with HttpClient(config, agent=AGENT, patience=10) as client:
        nowhere = Home(path)
        if any(one.verdict is Verdict.FAIL for one in await cluster.platform(nowhere, client)):
            report.problems = [f"this is no platform yet; `{start}` makes it one"]
            return report
        led = [*await cluster.leadership(nowhere, client)]
        await _count(report, client, f" --kubeconfig {shlex.quote(str(path))}")
    report.leader = led[0].message
    report.running = all(one.verdict is not Verdict.FAIL for one in led)
    report.problems += [
        f"{one.subject}: {one.message}; `{start}` starts them" for one in led if one.verdict is Verdict.FAIL
    ]
    report.healthy = not report.problems
    return report


async def _count(report: Report, client: Client, where: str) -> None:
    """How many clusters and machines there are in which phase."""
    clusters = (await client.list(TenantCluster)).items
    try:
        machines = (await client.list(Machine)).items
    except NotFound:
        # A cluster without Cluster API has none.
        machines = ()
    phases = [cluster.status.phase or ClusterPhase.PENDING for cluster in clusters]
    report.clusters = dict(sorted(Counter(phase.value for phase in phases).items()))
    report.machines = dict(sorted(Counter(machine.status.phase or "Pending" for machine in machines).items()))
    failed = [cluster.key for cluster, phase in zip(clusters, phases, strict=True) if phase is ClusterPhase.FAILED]
    report.problems += [f"cluster {key} has failed; `{advice.why(key, where)}` says why" for key in failed]
    refused = [one.key for one in clusters if one.key not in failed and refusal_of(one)]
    report.problems += [f"a change of cluster {key} is refused; `{advice.why(key, where)}` says why" for key in refused]


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) if directory.exists() else 0


def show(report: Report, form: str) -> None:
    if form != "table":
        click.echo(document(msgspec.to_builtins(report), form))
        return
    for name, text in _rows(report):
        click.echo(f"{name:<12}{text}".rstrip())


def _rows(report: Report) -> list[tuple[str, str]]:
    if report.data is None:
        return [*_rows_on_cluster(report), *(("Problem", problem) for problem in report.problems)]
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
    rows += [("Data", f"{report.data} ({messages.size(report.data_bytes)})"), ("Log", report.log or "")]
    rows += [("Metrics", report.metrics)] if report.metrics else []
    return [*rows, *(("Problem", problem) for problem in report.problems)]


def _rows_on_cluster(report: Report) -> list[tuple[str, str]]:
    rows = [("Platform", f"on the cluster of {report.kubeconfig}"), ("API", report.url or "")]
    if report.leader is None:
        return rows
    return [
        *rows,
        ("Controllers", report.leader),
        ("Clusters", _counted(report.clusters)),
        ("Machines", _counted(report.machines)),
    ]


def _counted(counts: dict[str, int]) -> str:
    if not counts:
        return "none"
    return f"{sum(counts.values())} ({', '.join(f'{count} {phase}' for phase, count in counts.items())})"
