"""butleradm addon: what is installed into the management cluster, and the catalogue."""

from __future__ import annotations

import click

from ...lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_of={
        "catalog": "butler.cli.addon.management:catalog",
        "get": "butler.cli.addon.management.get:get",
        "install": "butler.cli.addon.management.install:install",
        "list": "butler.cli.addon.management.list:list_",
        "uninstall": "butler.cli.addon.management.uninstall:uninstall",
        "upgrade": "butler.cli.addon.management.upgrade:upgrade",
    },
    also={"ls": "list", "catalogue": "catalog", "delete": "uninstall"},
)
def addon() -> None:
    """Install addons into the management cluster, and look after the catalogue.

    Addons of tenant clusters are for their users: see `butlerctl addon`.

    \b
    Example:
      butleradm addon install sealed-secrets --wait
      butleradm addon list
      butleradm addon catalog list
    """


@click.group(
    cls=LazyGroup,
    commands_of={
        "create": "butler.cli.addon.management.catalogue:create",
        "delete": "butler.cli.addon.management.catalogue:delete",
        "get": "butler.cli.addon.management.catalogue:get",
        "list": "butler.cli.addon.management.catalogue:list_",
    },
    also={"ls": "list"},
)
def catalog() -> None:
    """Look after the addons that there are to install.

    \b
    Example:
      butleradm addon catalog list
      butleradm addon catalog create -f our-addon.yaml
    """
