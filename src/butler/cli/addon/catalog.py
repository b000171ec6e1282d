"""butlerctl addon catalog."""

from __future__ import annotations

import click

from .. import completion
from ..command import command
from ..output import no_headers_option, output_option, say
from ..session import Session
from . import entries


@command
@click.argument("name", required=False, metavar="[ADDON]", shell_complete=completion.definitions)
@click.option("--category", metavar="NAME", help="Only those of this category, such as observability.")
@click.option("--provider", metavar="TYPE", help="Only those for this infrastructure, such as aws.")
@output_option("table", "json", "yaml", "name")
@no_headers_option
def catalog(
    session: Session, name: str | None, category: str | None, provider: str | None, output: str, no_headers: bool
) -> None:
    """List the addons there are to install, or show all about one.

    \b
    Example:
      butlerctl addon catalog
      butlerctl addon catalog --category observability
      butlerctl addon catalog sealed-secrets
    """
    if name:
        entries.show_one(entries.read_one(session, name), output)
        return
    found = entries.read(session)
    there = sorted({one.spec.category for one in found})
    if category and found and category not in there:
        raise click.BadParameter(f"{category!r} has no addons; there are {', '.join(there)}", param_hint="'--category'")
    found = [one for one in found if category in (None, one.spec.category)]
    found = [one for one in found if not provider or not one.spec.providers or provider in one.spec.providers]
    if not found and output == "table":
        say("the catalogue has no such addons")
    else:
        entries.show(found, output, no_headers)
