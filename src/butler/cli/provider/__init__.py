"""butleradm provider: the infrastructures a platform makes machines on."""

from __future__ import annotations

import click

from ..lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_of={
        "audit": "butler.cli.provider.audit:audit",
        "get": "butler.cli.provider.get:get",
        "list": "butler.cli.provider.list:list_",
        "validate": "butler.cli.provider.validate:validate",
    },
    also={"ls": "list"},
)
def provider() -> None:
    """Look at providers, try them, and find what was left behind on them.

    \b
    Example:
      butleradm provider list
      butleradm provider validate lab
    """
