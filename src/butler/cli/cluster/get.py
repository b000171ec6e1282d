"""butlerctl cluster get."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click
import msgspec

from kubekit.model.ages import age

from ..command import command
from ..output import ABSENT, document, output_option, phase, plain, table
from ..rows import CLUSTERS, ClusterRow
from ..session import Session
from .lookup import cluster_name, speaking_of


@command
@cluster_name
@output_option("text", "json", "yaml", "name")
def get(session: Session, name: str, output: str) -> None:
    """Show one cluster: its state, its conditions, its addons.

    \b
    Example:
      butlerctl cluster get shop
      butlerctl cluster get shop -o yaml
    """
    with speaking_of(session, name):
        found: dict[str, Any] = session.reader.get(CLUSTERS, name, session.namespace)
    found["metadata"].pop("managedFields", None)
    if output in ("json", "yaml"):
        click.echo(document(found, output))
    elif output == "name":
        click.echo(name)
    else:
        click.echo("\n".join(_text(found, session.clock.now())))


def _text(found: dict[str, Any], now: datetime) -> Iterator[str]:
    row = msgspec.convert(found, ClusterRow)
    yield from _facts(
        {
            "Name": row.metadata.name,
            "Namespace": row.metadata.namespace,
            "Phase": phase(row.phase),
            "K8s Version": _version(row),
            "Workers": f"{row.workers} Ready" if row.workers else "",
            "Endpoint": row.status.control_plane_endpoint or "",
            "Tenant Namespace": row.status.tenant_namespace or "",
            "Provider Config": row.provider or "(the default)",
            "Team": (found["spec"].get("teamRef") or {}).get("name", ""),
            "Age": age(row.metadata.creation_timestamp, now),
        }
    )
    status = found.get("status") or {}
    if conditions := status.get("conditions"):
        yield "\nConditions:"
        rows = [_condition(one, now) for one in sorted(conditions, key=lambda one: one["type"] == "Ready")]
        yield _indented(table(["TYPE", "STATUS", "REASON", "AGE", "MESSAGE"], rows, painted="STATUS"))
    if addons := (status.get("observedState") or {}).get("addons"):
        yield "\nAddons:"
        yield _indented(_addons(addons))


def _version(row: ClusterRow) -> str:
    wanted = row.spec.kubernetes_version
    if not wanted or wanted == row.version:
        return row.version
    outlook = f"{wanted} is refused" if row.is_refused else f"on its way to {wanted}"
    return f"{row.version} ({outlook})".lstrip()


def _facts(facts: dict[str, str]) -> Iterator[str]:
    width = max(map(len, facts)) + 1
    for name, value in facts.items():
        if value or name != "Team":
            yield f"{(name + ':').ljust(width)}  {value or ABSENT}"


def _condition(one: dict[str, Any], now: datetime) -> list[str]:
    since = age(one.get("lastTransitionTime"), now)
    return [one["type"], one["status"], one.get("reason", ""), since, plain(one.get("message", ""))]


def _addons(addons: list[dict[str, Any]]) -> str:
    columns = {"NAME": "name", "VERSION": "version", "STATUS": "status", "MANAGED BY": "managedBy"}
    if any(one.get("message") for one in addons):
        columns["MESSAGE"] = "message"
    rows = [[plain(str(one.get(field) or "")) for field in columns.values()] for one in addons]
    return table([*columns], rows, painted="STATUS")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
