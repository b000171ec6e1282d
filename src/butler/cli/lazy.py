"""Commands that are imported when they are used, and errors that end as one line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from kubekit.errors import InvalidConnection, KubeError

from .usage import Command, loaded, no_such_command

OK, FAILED, USAGE, MISSING, DENIED, TIMED_OUT, UNREACHABLE, REFUSED = 0, 1, 2, 3, 4, 5, 6, 7
"""Exit codes: done, error, wrong usage, not found, denied, timed out, nobody answers, not accepted as things are."""
INTERRUPTED = 130
"""The exit code of whatever Ctrl-C ended, as shells have it."""
VERBOSE = "butler.cli.verbose"
"""Whether somebody wants to know what happens underneath, in what click keeps of a command line."""

_BY_REASON = {
    "NotFound": MISSING,
    "Forbidden": DENIED,
    "Unauthorized": DENIED,
    "Timeout": TIMED_OUT,
    "ServiceUnavailable": UNREACHABLE,
    "Invalid": USAGE,
    "AlreadyExists": REFUSED,
    "Conflict": REFUSED,
}


class Failure(click.ClickException):
    """What a person has to know, and the exit code that goes with it."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


class LazyGroup(click.Group):
    """A group whose commands are named by `module:attribute`; some may have another name that help does not list."""

    command_class = Command

    def __init__(
        self,
        *args: Any,
        commands_of: Mapping[str, str] | None = None,
        also: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self._commands_of, self._also = dict(commands_of or {}), dict(also or {})

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*super().list_commands(context), *self._commands_of})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        place = self._commands_of.get(self._also.get(name, name))
        if place is None:
            return super().get_command(context, name)
        command: click.Command = loaded(place)
        return command

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_known = words[0].startswith("-") or self.get_command(context, words[0]) is not None
        if not is_known and not context.resilient_parsing:
            raise no_such_command(words[0], context, self.list_commands(context))
        return super().resolve_command(context, words)


def run(group: click.Group, name: str, *, is_brief: bool = False) -> NoReturn:
    """Run a command line; what goes wrong becomes one line on stderr and a documented exit code.

    A brief program has nothing left to do afterwards, and so is spared the taking apart of the interpreter."""
    if not is_brief:
        sys.exit(_outcome(group, name))
    # Most commands end before there is any garbage, and looking for it takes longer than what they do.
    gc.set_threshold(100_000)
    code = _outcome(group, name)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or FAILED
    os._exit(code)


def _outcome(group: click.Group, name: str) -> int:
    try:
        # What ends a command early, such as --help, comes back as its exit code.
        ended = group.main(prog_name=name, standalone_mode=False)
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        _say(f"{name}: {error.format_message()}")
        return error.code if isinstance(error, Failure) else FAILED
    except (click.Abort, KeyboardInterrupt):
        _say("stopped")
        return INTERRUPTED
    except KubeError as error:
        _say(f"{name}: {error}")
        return exit_code(error)
    except BrokenPipeError:
        return FAILED
    except OSError as error:
        _say(f"{name}: {_of_the_system(error)}")
        return FAILED
    return ended if isinstance(ended, int) else OK


def exit_code(error: KubeError) -> int:
    """The exit code of a command that an error ended."""
    return UNREACHABLE if isinstance(error, InvalidConnection) else _BY_REASON.get(error.reason, FAILED)


def _of_the_system(error: OSError) -> str:
    """What the operating system refused, and about which file."""
    about = f"{error.filename}: " if error.filename is not None else ""
    return f"{about}{error.strerror or error}"


def _say(text: str) -> None:
    click.echo(text, err=True)
