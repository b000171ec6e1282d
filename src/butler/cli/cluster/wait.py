"""Staying until a cluster is what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from butler import advice
from butler.api.cluster import TenantCluster

from ..lazy import FAILED, MISSING, REFUSED, Failure
from ..live import progress
from ..live.screen import screen_for
from ..output import success
from ..session import Session


async def wait_until_settled(
    session: Session,
    name: str,
    patience: timedelta,
    generation: int,
    outcome: str,
    tell: Callable[[str], None] = success,
) -> TenantCluster:
    """Show the steps until they are done. Raises Failure, with the next command to run, when they cannot be."""
    session.when_interrupted = (
        f"the cluster goes on without you; `{advice.watch_cluster(name, session.where)}` looks at it again"
    )
    key, more = f"{session.namespace}/{name}", f"`{advice.why(name, session.where)}` says more"
    try:
        cluster = await progress.follow(
            session.client,
            session.namespace,
            name,
            progress.settled(generation),
            screen_for(clock=session.clock),
            patience.total_seconds(),
            session.clock,
        )
    except Failure as failure:
        raise Failure(f"{failure}; {more}", failure.code) from None
    problem = progress.problem_of(cluster, generation)
    if cluster is None:
        raise Failure(f"cluster {key}: {problem}", MISSING)
    if problem:
        raise Failure(f"cluster {key}: {problem}; {more}", REFUSED if progress.refusal_of(cluster) else FAILED)
    tell(f"cluster {key} {outcome}{_summary(cluster)}")
    return cluster


def _summary(cluster: TenantCluster) -> str:
    status = cluster.status
    seen = status.observed_state.kubernetes_version if status.observed_state else None
    version = f" Kubernetes {seen}" if seen else ""
    workers = f", {status.worker_nodes_ready or 0} of {status.worker_nodes_desired} workers ready"
    endpoint = f", API at {status.control_plane_endpoint}" if status.control_plane_endpoint else ""
    return f":{version}{workers if status.worker_nodes_desired is not None else ''}{endpoint}"
