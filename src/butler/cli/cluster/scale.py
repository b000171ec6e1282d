"""butlerctl cluster scale."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from butler import advice

from ..command import command
from ..lazy import MISSING, REFUSED, Failure
from ..options import timeout_option, wait_option
from ..output import success
from ..session import Session
from .change import change
from .lookup import cluster_name


@command
@cluster_name
@click.option("-w", "--workers", type=int, required=True, help="How many workers there should be.")
@click.option("--pool", default="", help="The pool they are in; left out, the workers outside named pools.")
@wait_option
@timeout_option("10m")
async def scale(session: Session, name: str, workers: int, pool: str, wait: bool, patience: timedelta) -> None:
    """Change the number of workers.

    \b
    Example:
      butlerctl cluster scale shop --workers 5 --wait
      butlerctl cluster scale shop --workers 2 --pool gpu
    """

    def wanted(cluster: dict[str, Any]) -> dict[str, Any]:
        found = cluster["spec"].setdefault("workers", {})
        if not pool:
            return {"spec": {"workers": {"replicas": workers}}}
        pools = [dict(one) for one in found.get("pools") or ()]
        place = next((one for one in pools if one.get("name") == pool), None)
        if place is None:
            there = ", ".join(one["name"] for one in pools) or "none"
            raise Failure(f'cluster {name} has no pool "{pool}"; its pools: {there}', MISSING)
        if "minReplicas" in place:
            bounds = f"{place['minReplicas']} to {place['maxReplicas']}"
            change = advice.edit_cluster(name, session.where)
            raise Failure(f"pool {pool} is scaled automatically, from {bounds}; `{change}` changes that", REFUSED)
        place["replicas"] = workers
        return {"spec": {"workers": {"pools": pools}}}

    generation, is_new = await change(session, name, wanted, "scaled")
    count = f"{workers} {'worker' if workers == 1 else 'workers'}" + (f" in pool {pool}" if pool else "")
    said = "" if is_new else " already; nothing to do"
    success(f"cluster {session.namespace}/{name} is to have {count}{said}")
    if wait:
        from .wait import wait_until_settled

        await wait_until_settled(session, name, patience, generation, "is scaled")
