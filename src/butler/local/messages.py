"""What `butleradm up` tells people: what happens, and where to go from there."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections import Counter
from pathlib import Path

import click

from butler import advice
from butler.api.cluster import TenantCluster
from kubekit.client.protocol import Client

from . import first_cluster
from .home import Home, Running


def command(name: str) -> str:
    """How to call a command from here: its name when that is found, else its path beside this program."""
    if shutil.which(name):
        return name
    beside = Path(sys.executable).with_name(name)
    return short(beside) if beside.exists() else name


def short(path: Path) -> str:
    """A path as people would type it here."""
    for base, shown in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_relative_to(base) and path != base:
            return f"{shown}{path.relative_to(base)}"
    return str(path)


def _typed(path: Path) -> str:
    """A path as a word of a command; the shell must still see a leading ~."""
    shown = short(path)
    rest = shown.removeprefix("~/")
    return shown[: len(shown) - len(rest)] + shlex.quote(rest)


def tell_where(running: Running, *, demo: bool) -> None:
    """Where everything is, and what to try."""
    place = Home(Path(running.data))
    kubeconfig = place.kubeconfig_of(first_cluster.NAME)
    rows = [
        ("API", running.url),
        ("Log in", advice.use_platform(running.kubeconfig)),
        ("", "(not needed for butlerctl: it finds a running platform by itself)"),
    ]
    if demo:
        rows.append((first_cluster.NAME, str(kubeconfig)))
    rows.append(("Log", str(place.log)))
    click.echo()
    for name, text in rows:
        click.echo(f"  {name:<8}{text}")
    if running.simulated:
        click.echo("\nMachines, control planes and what runs on them are simulated; everything else is real.")
    click.echo("\nTry:")
    for line in _suggestions(running.where, kubeconfig if demo else None):
        click.echo(f"  {line}")


def _suggestions(where: str, kubeconfig: Path | None) -> list[str]:
    butlerctl = command("butlerctl")
    suggestions = [advice.list_clusters(where, butlerctl), advice.create_cluster(where, butlerctl)]
    if kubeconfig is not None:
        return [*suggestions, advice.get_nodes(f" --kubeconfig {_typed(kubeconfig)}", command("kubectl"))]
    return [*suggestions, advice.save_kubeconfig("shop", where, butlerctl)]


async def tell_clusters(client: Client) -> None:
    """What a platform that was started again goes on with."""
    clusters = (await client.list(TenantCluster)).items
    phases = Counter(cluster.status.phase.value if cluster.status.phase else "Pending" for cluster in clusters)
    if not clusters:
        click.echo("There are no clusters yet.", err=True)
        return
    counted = ", ".join(f"{count} {phase}" for phase, count in sorted(phases.items()))
    noun = "cluster" if len(clusters) == 1 else "clusters"
    click.echo(f"Going on with {len(clusters)} {noun}: {counted}.", err=True)


def duration(seconds: int) -> str:
    """`1d 2h`, `3m 4s`: the two largest units."""
    units = [(seconds // 86400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s")]
    first = next((index for index, (count, _) in enumerate(units) if count), len(units) - 1)
    return " ".join(f"{count}{unit}" for count, unit in units[first : first + 2])


def size(count: float) -> str:
    """`1.4 MB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
