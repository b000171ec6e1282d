"""butleradm provider audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .. import prompts
from ..lazy import FAILED, REFUSED, Failure
from ..output import document, output_option, say, success, table
from ..session import Session
from .account import connected, provider_command, provider_name

if TYPE_CHECKING:
    from butler.controllers.inventory_audit import Audit


@provider_command()
@provider_name
@click.option("--clean", is_flag=True, help="Remove what nobody asks for any more, after a question.")
@click.option("-y", "--yes", is_flag=True, help="Remove it without a question.")
@output_option("table", "json", "yaml")
async def audit(session: Session, name: str, clean: bool, yes: bool, output: str) -> None:
    """Compare what a provider's infrastructure has with what the API says it should have.

    Only things that carry Butler's mark are looked at. Another Butler that uses the same account has the same mark, so
    its things look left behind here: give each its own account, project, resource group or namespace. Ends with exit
    code 1 when something does not match.

    \b
    Example:
      butleradm provider audit lab
      butleradm provider audit lab --clean
    """
    from butler.controllers import inventory_audit

    async with connected(session, name) as (config, provider):
        found = await inventory_audit.audit(session.client, config, provider)
        click.echo(document(_items(found), output) if output != "table" else _table(found))
        if clean and found.orphans:
            if config.spec.infrastructure == "simulated":
                raise Failure(
                    "the simulated data centre belongs to the platform that runs; it is not cleaned from here",
                    REFUSED,
                )
            if not yes:
                prompts.confirm(f"Remove {len(found.orphans)} things that nobody asks this Butler for?")
            for orphan in found.orphans:
                is_gone = await inventory_audit.discard(config, provider, orphan)
                say(f"{orphan.kind} {orphan.name}: {'gone' if is_gone else 'going'}")
            return
    if found.orphans or found.absent:
        raise Failure(f"{len(found.orphans)} left behind, {len(found.absent)} missing", FAILED)
    success(f"{found.checked} things on {name}, all accounted for")


def _table(found: Audit) -> str:
    rows = [["left behind", one.kind, one.name, one.id, one.size] for one in found.orphans]
    rows += [["missing", one.kind, one.key, one.id, ""] for one in found.absent]
    return table(["FINDING", "KIND", "NAME", "ID", "KEEPS"], rows, painted="") if rows else ""


def _items(found: Audit) -> dict[str, Any]:
    return {
        "checked": found.checked,
        "leftBehind": [
            {"kind": one.kind, "name": one.name, "id": one.id, "token": one.token, "size": one.size}
            for one in found.orphans
        ],
        "missing": [{"kind": one.kind, "key": one.key, "id": one.id} for one in found.absent],
    }
