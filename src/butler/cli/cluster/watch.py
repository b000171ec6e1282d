"""butlerctl cluster watch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ..command import command
from ..output import phase, plain
from ..rows import CLUSTERS
from ..session import Session
from .lookup import cluster_name, speaking_of

if TYPE_CHECKING:
    from butler.api.cluster import TenantCluster


@command
@cluster_name
async def watch(session: Session, name: str) -> None:
    """Show changes of a cluster as they happen, until it is deleted.

    \b
    Example:
      butlerctl cluster watch shop
    """
    from contextlib import aclosing

    from butler.api.cluster import TenantCluster

    from ..live import progress

    session.when_interrupted = "stopped watching; the cluster goes on"
    with speaking_of(session, name):
        await session.client.get(CLUSTERS, name, session.namespace)
    seen: dict[str, str] = {}
    states = progress.states(session.client, TenantCluster, session.namespace, name, session.clock)
    async with aclosing(states):
        async for cluster in states:
            now = session.clock.now().astimezone().strftime("%H:%M:%S")
            if cluster is None:
                click.echo(f"{now}  deleted")
                return
            told = dict(_facts(cluster))
            for about, text in told.items():
                if seen.get(about) != text:
                    click.echo(f"{now}  {text}")
            seen = told


def _facts(cluster: TenantCluster) -> Iterator[tuple[str, str]]:
    """What is worth a line when it changes."""
    status = cluster.status
    name = "Deleting" if cluster.deleting else status.phase.value if status.phase else "Pending"
    yield "phase", f"phase {phase(name)}"
    if status.worker_nodes_desired is not None:
        yield "workers", f"workers {status.worker_nodes_ready or 0}/{status.worker_nodes_desired}"
    if status.observed_state is not None and status.observed_state.kubernetes_version:
        yield "version", f"Kubernetes {status.observed_state.kubernetes_version}"
    for one in status.conditions:
        said = plain(one.message) or one.reason
        yield one.type, f"{one.type} {phase(one.status)}: {said}"
