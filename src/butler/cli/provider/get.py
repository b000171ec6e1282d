"""butleradm provider get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from butler.api.provider import ProviderConfig

from ..output import ABSENT, document, output_option, plain, table
from ..session import Session
from .account import namespace_of, provider_command, provider_name, speaking_of


@provider_command()
@provider_name
@output_option("text", "json", "yaml", "name")
def get(session: Session, name: str, output: str) -> None:
    """Show one provider and what its controller last found out.

    \b
    Example:
      butleradm provider get lab
      butleradm provider get lab -o yaml
    """
    with speaking_of(session, name):
        found: dict[str, Any] = session.reader.get(ProviderConfig.address, name, namespace_of(session))
    found["metadata"].pop("managedFields", None)
    if output in ("json", "yaml"):
        click.echo(document(found, output))
    elif output == "name":
        click.echo(name)
    else:
        click.echo("\n".join(_text(found)))


def _secret(spec: dict[str, Any]) -> str:
    """The Secret they are in, wherever the spec says that."""
    section = spec.get(spec.get("provider") or spec.get("type") or "") or {}
    ref = spec.get("credentialsRef") or section.get("credentialsRef") or {}
    return "/".join(filter(None, (ref.get("namespace"), ref.get("name"))))


def _scope(spec: dict[str, Any]) -> str:
    scope = spec.get("scope") or {}
    return f"team {(scope.get('teamRef') or {}).get('name', '')}" if scope.get("type") == "team" else "platform"


def _text(found: dict[str, Any]) -> Iterator[str]:
    spec, status = found["spec"], found.get("status") or {}
    capacity = status.get("capacity") or {}
    external = (spec.get("external") or {}).get("name")
    facts = {
        "Name": found["metadata"]["name"],
        "Namespace": found["metadata"].get("namespace", ""),
        "Provider": external or spec.get("provider") or spec.get("type", ""),
        "Scope": _scope(spec),
        "Addresses": "NetworkPools" if (spec.get("network") or {}).get("mode") == "ipam" else "from the provider",
        "Credentials": _secret(spec),
        "Version": status.get("providerVersion", ""),
        "Clusters that fit": str(capacity.get("estimatedTenants", "")),
        "Last probe": status.get("lastProbeTime", ""),
    }
    width = max(map(len, facts)) + 1
    for title, value in facts.items():
        yield f"{(title + ':').ljust(width)}  {plain(value) or ABSENT}"
    if conditions := status.get("conditions"):
        yield ""
        rows = [[one["type"], one["status"], one["reason"], one.get("message", "")] for one in conditions]
        yield table(["CONDITION", "STATUS", "REASON", "MESSAGE"], rows, painted="STATUS")
