"""butlerctl cluster events."""

from __future__ import annotations

from typing import Any

import click

from kubekit.client.protocol import Selection
from kubekit.model.ages import age

from ..command import command
from ..output import document, no_headers_option, output_option, say, table
from ..rows import ClusterRow, EventRow
from ..session import Session
from .lookup import cluster_name, speaking_of


@command
@cluster_name
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many, the last ones.")
@click.option("--all", "everything", is_flag=True, help="Also those about its machines and other parts.")
@output_option("table", "json", "yaml")
@no_headers_option
def events(session: Session, name: str, limit: int, everything: bool, output: str, no_headers: bool) -> None:
    """List what happened to a cluster, the newest last.

    \b
    Example:
      butlerctl cluster events shop
      butlerctl cluster events shop --all --limit 20
    """
    with speaking_of(session, name):
        cluster: ClusterRow = session.reader.get(ClusterRow, name, session.namespace)
        found = _events(session, cluster, everything)
    # Times are whole seconds; within one, what was written later happened later.
    shown = sorted(found, key=lambda event: (event.last_seen, event.metadata.revision))[-limit:]
    if output != "table":
        click.echo(document([_item(event) for event in shown], output))
    elif not shown:
        say(f"no events about cluster {name}; they are kept for an hour")
    else:
        now = session.clock.now()
        headings = ["TYPE", "REASON", *(["OBJECT"] if everything else ()), "MESSAGE", "AGE"]
        rows = []
        for event in shown:
            about = event.involved_object
            middle = [f"{about.kind}/{about.name}"] if everything else []
            rows.append([event.type, event.reason, *middle, event.message, age(event.last_seen, now)])
        click.echo(table(headings, rows, painted="TYPE", no_headers=no_headers))


def _events(session: Session, cluster: ClusterRow, everything: bool) -> list[EventRow]:
    about = f"involvedObject.kind=TenantCluster,involvedObject.name={cluster.metadata.name}"
    found = list(session.reader.list(EventRow, Selection(session.namespace, fields=about)).items)
    if everything and cluster.status.tenant_namespace:
        found += session.reader.list(EventRow, Selection(cluster.status.tenant_namespace)).items
    return found


def _item(event: EventRow) -> dict[str, Any]:
    return {
        "type": event.type,
        "reason": event.reason,
        "message": event.message,
        "object": {"kind": event.involved_object.kind, "name": event.involved_object.name},
        "count": event.count or 1,
        "lastSeen": event.last_seen or None,
    }
