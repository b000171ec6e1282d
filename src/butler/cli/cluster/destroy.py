"""butlerctl cluster destroy."""

from __future__ import annotations

from datetime import timedelta

import click

from butler import advice

from .. import prompts
from ..command import command
from ..lazy import Failure
from ..options import timeout_option
from ..output import say, success
from ..rows import CLUSTERS, ClusterRow
from ..session import Session
from .lookup import cluster_name, speaking_of


@command
@cluster_name
@click.option("-y", "--yes", "--force", "is_sure", is_flag=True, help="Do not ask.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Stay until nothing is left.")
@timeout_option("10m")
async def destroy(session: Session, name: str, is_sure: bool, wait: bool, patience: timedelta) -> None:
    """Delete a cluster with everything in it.

    \b
    Example:
      butlerctl cluster destroy shop
      butlerctl cluster destroy shop --yes --no-wait
    """
    from .. import progress
    from ..screen import screen_for

    key = f"{session.namespace}/{name}"
    with speaking_of(session, name):
        raw = await session.client.get(CLUSTERS, name, session.namespace)
        if not is_sure:
            _ask(raw, name)
        # A cluster of the same name that somebody makes meanwhile is not the one that was meant.
        await session.client.delete(CLUSTERS, name, session.namespace, uid=raw["metadata"]["uid"])
    if not wait:
        success(f"cluster {key} is being deleted")
        return
    session.when_interrupted = (
        f"the deletion goes on without you; `{advice.watch_cluster(name, session.where)}` looks at it again"
    )
    screen, seconds = screen_for(clock=session.clock), patience.total_seconds()
    try:
        await progress.follow(
            session.client,
            session.namespace,
            name,
            progress.gone,
            screen,
            seconds,
            session.clock,
            raw["metadata"]["uid"],
        )
    except Failure as failure:
        raise Failure(f"{failure}; `{advice.why(name, session.where)}` says more", failure.code) from None
    success(f"cluster {key} is gone")


def _ask(raw: dict[str, object], name: str) -> None:
    """Let someone who means it type the name. Raises Failure."""
    import msgspec

    row = msgspec.convert(raw, ClusterRow)
    say(f"You are about to delete cluster {row.metadata.namespace}/{name} for good.\n")
    for title, value in (
        ("phase", row.phase),
        ("version", row.version or "-"),
        ("workers", row.workers or "-"),
        ("endpoint", row.status.control_plane_endpoint or "-"),
    ):
        say(f"  {title.ljust(10)} {value}")
    inside = row.status.tenant_namespace
    say(
        "\nWith it go its machines, its control plane, all workloads and volumes in it"
        f"{f', and the namespace {inside}' if inside else ''}.\n"
    )
    typed = prompts.prompt("Type the name of the cluster to delete it", default="", show_default=False)
    if typed.strip() != name:
        raise Failure(f"{typed.strip()!r} is not {name!r}; nothing was deleted")
