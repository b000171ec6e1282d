"""butlerctl cluster list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from kubekit.client.protocol import Selection
from kubekit.errors import BadRequest
from kubekit.model.ages import age

from ..command import command
from ..output import document, output_option, say, table
from ..rows import ClusterRow
from ..session import Session
from .lookup import speaking_of


@command
@click.option("-A", "--all-namespaces", is_flag=True, help="Clusters of all namespaces.")
@click.option("-l", "--selector", default="", metavar="LABELS", help="Only those with these labels, such as env=prod.")
@output_option("table", "wide", "json", "yaml", "name")
def list_(session: Session, all_namespaces: bool, selector: str, output: str) -> None:
    """List clusters.

    \b
    Example:
      butlerctl cluster list
      butlerctl cluster list -A -o wide
    """
    where = Selection("" if all_namespaces else session.namespace, selector)
    try:
        with speaking_of(session):
            rows: Sequence[ClusterRow] = session.reader.list(ClusterRow, where).items
    except BadRequest as error:
        raise click.BadParameter(str(error), param_hint="'-l' / '--selector'") from error
    if output in ("json", "yaml"):
        click.echo(document([_item(row) for row in rows], output))
    elif output == "name":
        click.echo("".join(f"{row.metadata.name}\n" for row in rows), nl=False)
    elif not rows:
        say(f"no clusters {'anywhere' if all_namespaces else f'in namespace {session.namespace}'}")
    else:
        click.echo(_table(rows, all_namespaces, output == "wide", session.clock.now()))


def _table(rows: Sequence[ClusterRow], everywhere: bool, is_wide: bool, now: datetime) -> str:
    headings = ["NAME", *(["NAMESPACE"] if everywhere else ()), "PHASE", "K8S VERSION", "WORKERS", "AGE"]
    headings += ["ENDPOINT", "PROVIDER"] if is_wide else ()
    return table(headings, (_cells(row, everywhere, is_wide, now) for row in rows))


def _cells(row: ClusterRow, everywhere: bool, is_wide: bool, now: datetime) -> list[str]:
    meta = row.metadata
    phase = f"{row.phase} (refused)" if row.is_refused and row.phase != "Failed" else row.phase
    cells = [meta.name, *([meta.namespace] if everywhere else ()), phase, row.version, row.workers]
    cells.append(age(meta.creation_timestamp, now))
    return [*cells, row.status.control_plane_endpoint or "", row.provider] if is_wide else cells


def _item(row: ClusterRow) -> dict[str, Any]:
    """A cluster in a few words, for programs; `cluster get -o json` has all of it."""
    return {
        "name": row.metadata.name,
        "namespace": row.metadata.namespace,
        "phase": row.phase,
        "kubernetesVersion": row.version or None,
        "workers": {"ready": row.status.worker_nodes_ready or 0, "desired": row.desired},
        "endpoint": row.status.control_plane_endpoint,
        "tenantNamespace": row.status.tenant_namespace,
        "providerConfig": row.provider or None,
        "creationTime": row.metadata.creation_timestamp,
    }
