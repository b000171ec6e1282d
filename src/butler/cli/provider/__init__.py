"""butleradm provider: the infrastructures a platform makes machines on."""

from __future__ import annotations

import click

from ..lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_of={
        "audit": "butler.cli.provider.audit:audit",
        "create": "butler.cli.provider.create:create",
        "delete": "butler.cli.provider.delete:delete",
        "get": "butler.cli.provider.get:get",
        "images": "butler.cli.provider.choices:images",
        "list": "butler.cli.provider.list:list_",
        "networks": "butler.cli.provider.choices:networks",
        "update": "butler.cli.provider.update:update",
        "validate": "butler.cli.provider.validate:validate",
    },
    also={"ls": "list"},
)
def provider() -> None:
    """Make providers, look at them, try them, and find what was left behind on them.

    \b
    Example:
      butleradm provider create lab --type harvester --network-name default/vms --credentials-file harvester.yaml
      butleradm provider list
      butleradm provider validate lab
    """
