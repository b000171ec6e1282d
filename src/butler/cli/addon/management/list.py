"""butleradm addon list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from butler.api.addon import ManagementAddon

from ...output import document, no_headers_option, output_option, say, table
from ...session import Session
from .lookup import platform_command, speaking_of

_COLUMNS = {
    "NAME": "name",
    "ADDON": "addon",
    "VERSION": "version",
    "PHASE": "phase",
    "INSTALLED": "installedVersion",
    "PAUSED": "paused",
}


@platform_command
@output_option("table", "json", "yaml", "name")
@no_headers_option
def list_(session: Session, output: str, no_headers: bool) -> None:
    """List the addons of the management cluster.

    \b
    Example:
      butleradm addon list
      butleradm addon list -o json
    """
    with speaking_of(session):
        addons: Sequence[ManagementAddon] = session.reader.list(ManagementAddon).items
    items = [_item(one) for one in addons]
    if output in ("json", "yaml"):
        click.echo(document(items, output))
    elif output == "name":
        click.echo("".join(f"{one['name']}\n" for one in items), nl=False)
    elif not items:
        say("the management cluster has no addons")
    else:
        rows = [[_cell(one[key]) for key in _COLUMNS.values()] for one in items]
        click.echo(table([*_COLUMNS], rows, no_headers=no_headers))


def _cell(value: Any) -> str:
    return ("yes" if value else "") if isinstance(value, bool) else str(value or "")


def _item(addon: ManagementAddon) -> dict[str, Any]:
    spec, status = addon.spec, addon.status
    return {
        "name": addon.metadata.name,
        "addon": spec.addon,
        "version": spec.version,
        "phase": "Uninstalling" if addon.deleting else status.phase.value if status.phase else "Pending",
        "installedVersion": status.installed_version,
        "paused": bool(spec.paused),
        "message": status.message,
    }
