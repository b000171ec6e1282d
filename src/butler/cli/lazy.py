"""Commands that are imported when they are used, and errors that end as one line and an exit code."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any

import click

from butler.errors import ButlerError

OK, FAILED, USAGE, MISSING, DENIED, TIMED_OUT = 0, 1, 2, 3, 4, 5
"""Exit codes: done, error, wrong usage, not found, denied, timed out."""

_BY_REASON = {"NotFound": MISSING, "Forbidden": DENIED, "Unauthorized": DENIED, "Timeout": TIMED_OUT}


class LazyGroup(click.Group):
    """A group whose commands are named by `module:attribute`."""

    def __init__(self, *args: Any, commands_of: Mapping[str, str] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._commands_of = dict(commands_of or {})

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*super().list_commands(context), *self._commands_of})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        place = self._commands_of.get(name)
        if place is None:
            return super().get_command(context, name)
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


def run(group: click.Group, name: str) -> None:
    """Run a command line; what goes wrong becomes one line on stderr and a documented exit code."""
    try:
        group.main(prog_name=name, standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(USAGE)
    except click.ClickException as error:
        error.show()
        sys.exit(FAILED)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(FAILED)
    except ButlerError as error:
        click.echo(f"{name}: {error}", err=True)
        sys.exit(_BY_REASON.get(error.reason, FAILED))
