"""butleradm provider list."""

from __future__ import annotations

from datetime import datetime

import click

from butler import advice
from butler.api.provider import ProviderConfig
from kubekit.client.protocol import Selection
from kubekit.model.ages import human

from ..command import NamespaceChoice
from ..output import document, no_headers_option, output_option, say, table
from ..session import Session
from .account import provider_command, speaking_of


@provider_command(NamespaceChoice("Only those of this namespace.", "all namespaces"))
@output_option("table", "json", "yaml", "name")
@no_headers_option
def list_(session: Session, output: str, no_headers: bool) -> None:
    """List the ProviderConfigs of all namespaces, or of one.

    \b
    Example:
      butleradm provider list
      butleradm provider list -o json
    """
    with speaking_of(session):
        configs = session.reader.list(ProviderConfig, Selection(session.wishes.namespace)).items
    if output in ("json", "yaml"):
        click.echo(document([_item(one) for one in configs], output))
    elif output == "name":
        click.echo("".join(f"{one.metadata.name}\n" for one in configs), nl=False)
    elif not configs:
        say(f"no providers; `{advice.create_provider()}` says how to make one")
    else:
        now = session.clock.now()
        rows = [[*_item(one).values(), _age(one, now)] for one in configs]
        headings = ["NAME", "NAMESPACE", "PROVIDER", "READY", "VERSION", "AGE"]
        click.echo(table(headings, rows, painted="READY", no_headers=no_headers))


def _age(config: ProviderConfig, now: datetime) -> str:
    created = config.metadata.creation_timestamp
    return human(int((now - created).total_seconds())) if created is not None else ""


def _item(config: ProviderConfig) -> dict[str, str]:
    ready = config.status.condition("Ready")
    return {
        "name": config.metadata.name,
        "namespace": config.metadata.namespace,
        "provider": config.spec.infrastructure,
        "ready": ready.status if ready is not None else "Unknown",
        "version": config.status.provider_version or "",
    }
