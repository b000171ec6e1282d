"""butlerctl cluster destroy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import click

from butler import advice
from kubekit.errors import KubeError

from .. import completion, prompts
from ..command import command
from ..lazy import FAILED, Failure, exit_code
from ..options import timeout_option
from ..output import say, success
from ..rows import CLUSTERS, ClusterRow
from ..session import Session
from .lookup import speaking_of


@command
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=completion.clusters)
@click.option("-y", "--yes", "--force", "is_sure", is_flag=True, help="Do not ask.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Stay until nothing is left.")
@timeout_option("10m")
async def destroy(session: Session, names: tuple[str, ...], is_sure: bool, wait: bool, patience: timedelta) -> None:
    """Delete clusters with everything in them.

    What is wrong with one of several does not keep the others. The exit code is then that of what went wrong, or 1 if
    different things did.

    \b
    Example:
      butlerctl cluster destroy shop
      butlerctl cluster destroy shop --yes --no-wait
      butlerctl cluster destroy shop stage test --yes
    """
    troubles = Troubles()
    found: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(names):
        with troubles.of(name), speaking_of(session, name):
            found[name] = await session.client.get(CLUSTERS, name, session.namespace)
    if found and not is_sure:
        _ask(found)
    for name, raw in found.items():
        with troubles.of(name), speaking_of(session, name):
            # A cluster of the same name that somebody makes meanwhile is not the one that was meant.
            await session.client.delete(CLUSTERS, name, session.namespace, uid=raw["metadata"]["uid"])
            if not wait:
                success(f"cluster {session.namespace}/{name} is being deleted")
    if wait:
        until = session.clock.monotonic() + patience.total_seconds()
        for name in [name for name in found if name not in troubles.by_name]:
            with troubles.of(name):
                await _follow(session, name, found[name]["metadata"]["uid"], until)
    troubles.tell()


class Troubles:
    """What went wrong with some of several things."""

    def __init__(self) -> None:
        self.by_name: dict[str, Failure] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        try:
            yield
        except Failure as failure:
            self.by_name[name] = failure
        except KubeError as error:
            self.by_name[name] = Failure(str(error), exit_code(error))

    def tell(self) -> None:
        """Raises Failure if there is anything to tell."""
        if self.by_name:
            codes = {failure.code for failure in self.by_name.values()}
            lines = dict.fromkeys(failure.message for failure in self.by_name.values())
            raise Failure("\nbutlerctl: ".join(lines), codes.pop() if len(codes) == 1 else FAILED)


async def _follow(session: Session, name: str, uid: str, until: float) -> None:
    """Show a cluster on its way out. Raises Failure when it is not gone in time."""
    from ..live import progress
    from ..live.screen import screen_for

    look = f"`{advice.watch_cluster(name, session.where)}` looks at it again"
    session.when_interrupted = f"the deletion goes on without you; {look}"
    # Others may have used up the time, and this one be gone all the same.
    seconds = max(until - session.clock.monotonic(), 1.0)
    screen = screen_for(clock=session.clock)
    try:
        await progress.follow(
            session.client, session.namespace, name, progress.gone, screen, seconds, session.clock, uid
        )
    except Failure as failure:
        raise Failure(f"{failure}; `{advice.why(name, session.where)}` says more", failure.code) from None
    success(f"cluster {session.namespace}/{name} is gone")


def _ask(found: dict[str, dict[str, Any]]) -> None:
    """Let someone who means it type the names. Raises Failure."""
    import msgspec

    rows = [msgspec.convert(raw, ClusterRow) for raw in found.values()]
    keys = ", ".join(f"{row.metadata.namespace}/{row.metadata.name}" for row in rows)
    say(f"You are about to delete {'cluster' if len(rows) == 1 else 'clusters'} {keys} for good.\n")
    for row in rows:
        if len(rows) > 1:
            say(f"{row.metadata.name}:")
        _describe(row)
    whose, noun = ("its", "it") if len(rows) == 1 else ("their", "them")
    inside = [row.status.tenant_namespace for row in rows if row.status.tenant_namespace]
    spaces = f", and the {'namespace' if len(inside) == 1 else 'namespaces'} {', '.join(inside)}" if inside else ""
    say(f"\nWith {noun} go {whose} machines, {whose} control plane, all workloads and volumes in {noun}{spaces}.\n")
    named = "the name of the cluster" if len(rows) == 1 else "the names of all of them"
    typed = prompts.typed(f"Type {named} to delete {noun}")
    if set(typed.split()) != set(found):
        raise Failure(f"{typed!r} is not {' '.join(found)!r}; nothing was deleted")


def _describe(row: ClusterRow) -> None:
    for title, value in (
        ("phase", row.phase),
        ("version", row.version or "-"),
        ("workers", row.workers or "-"),
        ("endpoint", row.status.control_plane_endpoint or "-"),
    ):
        say(f"  {title.ljust(10)} {value}")
