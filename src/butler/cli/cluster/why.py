"""butlerctl cluster why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kubekit.model.ages import human

from ..command import command
from ..output import document, output_option, plain
from ..session import Session
from .lookup import cluster_name, speaking_of

if TYPE_CHECKING:
    from butler.controllers.cluster.explanation import Explanation


@command
@cluster_name
@output_option("text", "json", "yaml")
async def why(session: Session, name: str, output: str) -> None:
    """Say what a cluster is waiting for, since when, whose turn it is, and what to do next.

    \b
    Example:
      butlerctl cluster why shop
      butlerctl cluster why butler-tenants/shop
    """
    from butler.controllers.cluster.explanation import Flags, explain

    with speaking_of(session, name):
        flags = Flags(session.where, session.api, session.kubectl_api)
        found = await explain(session.client, session.namespace, name, session.clock.now(), flags)
    if output != "text":
        click.echo(document(_item(found), output))
        return
    click.echo(plain(found.summary))
    facts = {"waiting for": found.waiting_for, "since": _since(session, found), "it is": found.whose}
    for title, value in facts.items():
        if value:
            click.echo(f"  {title.ljust(12)} {plain(value)}")
    # What stands there already need not be said again.
    for number, link in enumerate(found.chain if found.chain != (found.waiting_for,) else ()):
        click.echo(f"  {'because' if number == 0 else '       '}      {'  ' * bool(number)}{plain(link)}")
    if found.next_command:
        click.echo(f"\nNext:\n  {found.next_command}")


def _since(session: Session, found: Explanation) -> str:
    if found.since is None:
        return ""
    passed = human(int((session.clock.now() - found.since).total_seconds()))
    return f"{passed} ({found.since.astimezone():%Y-%m-%d %H:%M:%S})"


def _item(found: Explanation) -> dict[str, Any]:
    return {
        "summary": found.summary,
        "waitingFor": found.waiting_for,
        "since": found.since.strftime("%Y-%m-%dT%H:%M:%SZ") if found.since else None,
        "whose": found.whose,
        "nextCommand": found.next_command,
        "chain": list(found.chain),
    }
