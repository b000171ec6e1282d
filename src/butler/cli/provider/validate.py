"""butleradm provider validate."""

from __future__ import annotations

import click

from ..lazy import FAILED, Failure
from ..output import document, output_option, table
from ..session import Session
from .account import connected, provider_command, provider_name


@provider_command()
@provider_name
@output_option("table", "json", "yaml")
async def validate(session: Session, name: str, output: str) -> None:
    """Try a provider from here: credentials, permissions, image, network, room.

    Nothing is changed. The Secret is read with your own rights.

    \b
    Example:
      butleradm provider validate lab
    """
    from .creation import message_of

    async with connected(session, name) as (_, provider):
        checks = await provider.check()
    if output == "table":
        rows = [[one.name, "True" if one.passed else "False", message_of(one)] for one in checks]
        click.echo(table(["CHECK", "PASSED", "MESSAGE"], rows, painted="PASSED"))
    else:
        items = [
            {"name": one.name, "passed": one.passed, "message": one.message, "remedy": one.remedy, "value": one.value}
            for one in checks
        ]
        click.echo(document(items, output))
    failed = [one for one in checks if not one.passed]
    if failed:
        raise Failure("\n".join(f"{one.name}: {one.remedy or one.message}" for one in failed), FAILED)
