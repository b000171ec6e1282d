"""butleradm: the commands of those who run the platform."""

from __future__ import annotations

import click

from butler import __version__

from . import lazy
from .verbosity import verbose_option


@click.group(
    cls=lazy.LazyGroup,
    commands_of={
        "addon": "butler.cli.addon.management:addon",
        "apiserver": "butler.cli.apiserver:apiserver",
        "completion": "butler.cli.completion:adm_completion",
        "provider": "butler.cli.provider:provider",
        "up": "butler.local.commands:up",
        "down": "butler.local.commands:down",
        "logs": "butler.local.commands:logs",
        "status": "butler.local.commands:status",
        "doctor": "butler.local.commands:doctor",
        "version": "butler.local.commands:version",
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="butleradm")
@verbose_option
def butleradm() -> None:
    """Run and look after a Butler platform.

    \b
    Example:
      butleradm up
      butleradm status
    """


def main() -> None:
    lazy.run(butleradm, "butleradm")
