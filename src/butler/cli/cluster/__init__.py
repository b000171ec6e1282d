"""butlerctl cluster: the life of tenant clusters."""

from __future__ import annotations

import click

from ..lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_of={
        "create": "butler.cli.cluster.create:create",
        "destroy": "butler.cli.cluster.destroy:destroy",
        "edit": "butler.cli.cluster.edit:edit",
        "events": "butler.cli.cluster.events:events",
        "export": "butler.cli.cluster.export:export",
        "get": "butler.cli.cluster.get:get",
        "kubeconfig": "butler.cli.cluster.kubeconfig:kubeconfig",
        "list": "butler.cli.cluster.list:list_",
        "nodes": "butler.cli.cluster.nodes:nodes",
        "plan": "butler.cli.cluster.plan:plan",
        "scale": "butler.cli.cluster.scale:scale",
        "upgrade": "butler.cli.cluster.upgrade:upgrade",
        "watch": "butler.cli.cluster.watch:watch",
        "why": "butler.cli.cluster.why:why",
    },
    also={"ls": "list", "delete": "destroy"},
)
def cluster() -> None:
    """Create, look at, change and destroy tenant clusters.

    \b
    Example:
      butlerctl cluster create shop --workers 3 --wait
      butlerctl cluster why shop
    """
