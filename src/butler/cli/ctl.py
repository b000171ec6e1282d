"""butlerctl: the commands of those who use clusters."""

from __future__ import annotations

from typing import Any

import click

from butler import __version__

from . import command, lazy


@click.group(
    cls=lazy.LazyGroup,
    commands_of={
        "addon": "butler.cli.addon:addon",
        "cluster": "butler.cli.cluster:cluster",
        "completion": "butler.cli.completion:completion",
        "version": "butler.cli.version:version",
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="butlerctl")
@command.connection_options
@click.pass_context
def butlerctl(context: click.Context, /, **given: Any) -> None:
    """Ask for Kubernetes clusters, and look after them.

    \b
    Example:
      butlerctl cluster create shop --workers 3 --wait
      butlerctl cluster list
      butlerctl cluster kubeconfig shop --merge
    """
    command.remember(context, given)


def main() -> None:
    lazy.run(butlerctl, "butlerctl", is_brief=True)
