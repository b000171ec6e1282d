"""butlerctl cluster nodes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from kubekit.client.protocol import Selection
from kubekit.errors import Forbidden, NotFound
from kubekit.model.ages import age

from ..command import command
from ..output import document, no_headers_option, output_option, say, table
from ..rows import ClusterRow, MachineRow
from ..session import Session
from .lookup import cluster_name, speaking_of

_CLUSTER = "cluster.x-k8s.io/cluster-name"
_DEPLOYMENT = "cluster.x-k8s.io/deployment-name"


_COLUMNS = {
    "NAME": "name",
    "POOL": "pool",
    "PHASE": "phase",
    "PROVIDER-ID": "providerID",
    "VERSION": "version",
    "AGE": "creationTime",
}
_WIDE = {
    "NAME": "name",
    "POOL": "pool",
    "PHASE": "phase",
    "ADDRESS": "address",
    "SIZE": "size",
    "ZONE": "zone",
    "NODE": "node",
    "PROVIDER-ID": "providerID",
    "VERSION": "version",
    "AGE": "creationTime",
}


@command
@cluster_name
@output_option("table", "wide", "json", "yaml", "name")
@no_headers_option
def nodes(session: Session, name: str, output: str, no_headers: bool) -> None:
    """List the machines of a cluster.

    \b
    Example:
      butlerctl cluster nodes shop
      butlerctl cluster nodes shop -o wide
    """
    with speaking_of(session, name):
        cluster: ClusterRow = session.reader.get(ClusterRow, name, session.namespace)
    machines = _machines(session, cluster)
    if output == "name":
        click.echo("".join(f"{machine.metadata.name}\n" for machine in machines), nl=False)
        return
    sizes = {} if output == "table" else _sizes(session, cluster, machines)
    items = [_item(machine, name, sizes) for machine in machines]
    if output in ("json", "yaml"):
        click.echo(document(items, output))
    elif not machines:
        say(f"cluster {name} has no machines yet")
    else:
        columns, now = _WIDE if output == "wide" else _COLUMNS, session.clock.now()
        rows = [[_cell(key, item[key], now) for key in columns.values()] for item in items]
        click.echo(table([*columns], rows, no_headers=no_headers))


def _cell(key: str, value: Any, now: datetime) -> str:
    return age(value, now) if key == "creationTime" else value or ""


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


def _sizes(session: Session, cluster: ClusterRow, machines: Sequence[MachineRow]) -> dict[str, str]:
    """How large each machine is, by the name of what it is on its infrastructure; nothing where we may not look."""
    from .. import machine_size

    found: dict[str, str] = {}
    for kind in {machine.spec.infrastructure_ref.kind for machine in machines}:
        address = machine_size.address_of(kind)
        if address is None:
            continue
        try:
            listed = session.reader.list(address, Selection(cluster.status.tenant_namespace or "")).items
        except (Forbidden, NotFound):
            continue
        found |= {one["metadata"]["name"]: machine_size.size_of({"kind": kind, **one}) for one in listed}
    return found


def pool_of(machine: MachineRow, cluster: str) -> str:
    """The pool a machine belongs to; empty for the one without a name."""
    deployment = machine.metadata.labels.get(_DEPLOYMENT, "")
    pool = deployment.removeprefix(f"{cluster}-")
    return "" if pool == "workers" else pool


def _item(machine: MachineRow, cluster: str, sizes: dict[str, str]) -> dict[str, Any]:
    return {
        "name": machine.metadata.name,
        "pool": pool_of(machine, cluster) or None,
        "phase": machine.status.phase or "Pending",
        "providerID": machine.spec.provider_id,
        "version": machine.spec.version,
        "address": machine.status.address or None,
        "size": sizes.get(machine.spec.infrastructure_ref.name) or None,
        "zone": machine.status.failure_domain or machine.spec.failure_domain,
        "node": machine.status.node_ref.name if machine.status.node_ref else None,
        "creationTime": machine.metadata.creation_timestamp,
    }
