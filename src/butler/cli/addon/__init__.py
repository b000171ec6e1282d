"""butlerctl addon: what is installed into tenant clusters."""

from __future__ import annotations

import click

from ..lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_of={
        "catalog": "butler.cli.addon.catalog:catalog",
        "diff": "butler.cli.addon.diff:diff",
        "get": "butler.cli.addon.get:get",
        "install": "butler.cli.addon.install:install",
        "list": "butler.cli.addon.list:list_",
        "uninstall": "butler.cli.addon.uninstall:uninstall",
        "upgrade": "butler.cli.addon.upgrade:upgrade",
        "values": "butler.cli.addon.values:values",
    },
    also={"ls": "list", "catalogue": "catalog", "delete": "uninstall"},
)
def addon() -> None:
    """Choose addons, install them into a cluster, change them and take them out again.

    \b
    Example:
      butlerctl addon catalog
      butlerctl addon install shop sealed-secrets --wait
      butlerctl addon list shop
    """
