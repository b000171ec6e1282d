"""butlerctl cluster nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kubekit.client.protocol import Selection
from kubekit.errors import NotFound
from kubekit.model.ages import age

from ..command import command
from ..output import document, output_option, say, table
from ..rows import ClusterRow, MachineRow
from ..session import Session
from .lookup import cluster_name, speaking_of

_CLUSTER = "cluster.x-k8s.io/cluster-name"
_DEPLOYMENT = "cluster.x-k8s.io/deployment-name"


@command
@cluster_name
@output_option("table", "wide", "json", "yaml", "name")
def nodes(session: Session, name: str, output: str) -> None:
    """List the machines of a cluster.

    \b
    Example:
      butlerctl cluster nodes shop
      butlerctl cluster nodes shop -o wide
    """
    with speaking_of(session, name):
        cluster: ClusterRow = session.reader.get(ClusterRow, name, session.namespace)
    machines = _machines(session, cluster)
    if output in ("json", "yaml"):
        click.echo(document([_item(machine, name) for machine in machines], output))
    elif output == "name":
        click.echo("".join(f"{machine.metadata.name}\n" for machine in machines), nl=False)
    elif not machines:
        say(f"cluster {name} has no machines yet")
    else:
        headings = ["NAME", "POOL", "PHASE", "PROVIDER-ID", "VERSION", "AGE"]
        headings += ["NODE"] if output == "wide" else ()
        now = session.clock.now()
        rows = []
        for machine in machines:
            item = _item(machine, name)
            cells = [item[key] or "" for key in ("name", "pool", "phase", "providerID", "version")]
            cells.append(age(item["creationTime"], now))
            rows.append([*cells, item["node"] or ""] if output == "wide" else cells)
        click.echo(table(headings, rows))


def _machines(session: Session, cluster: ClusterRow) -> Sequence[MachineRow]:
    """Those of Cluster API; none before it has heard of the cluster, or where it is not installed."""
    namespace = cluster.status.tenant_namespace
    if not namespace:
        return ()
    where = Selection(namespace, labels=f"{_CLUSTER}={cluster.metadata.name}")
    try:
        found: Sequence[MachineRow] = session.reader.list(MachineRow, where).items
    except NotFound:
        return ()
    return sorted(found, key=lambda machine: (pool_of(machine, cluster.metadata.name), machine.metadata.name))


def pool_of(machine: MachineRow, cluster: str) -> str:
    """The pool a machine belongs to; empty for the one without a name."""
    deployment = machine.metadata.labels.get(_DEPLOYMENT, "")
    pool = deployment.removeprefix(f"{cluster}-")
    return "" if pool == "workers" else pool


def _item(machine: MachineRow, cluster: str) -> dict[str, Any]:
    return {
        "name": machine.metadata.name,
        "pool": pool_of(machine, cluster) or None,
        "phase": machine.status.phase or "Pending",
        "providerID": machine.spec.provider_id,
        "version": machine.spec.version,
        "node": machine.status.node_ref.name if machine.status.node_ref else None,
        "creationTime": machine.metadata.creation_timestamp,
    }
