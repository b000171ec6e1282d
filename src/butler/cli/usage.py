"""What is wrong with a command line, said so that it can be put right at once."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import click

_TYPED = f"{__name__}.typed"
_PROGRAMS = ("butler.cli.ctl:butlerctl", "butler.cli.adm:butleradm")


def loaded(place: str) -> Any:
    """What is named by `module:attribute`."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


class Command(click.Command):
    """A command that names everything it misses, and knows by which of its names a flag was given."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        context.meta[_TYPED] = typed = [*arguments]
        try:
            return super().parse_args(context, arguments)
        except click.MissingParameter as error:
            lacking = [*self._lacking(context, typed)]
            if len(lacking) < 2:
                raise
            raise click.UsageError(f"Missing: {', '.join(lacking)}.", error.ctx) from None

    def _lacking(self, context: click.Context, arguments: list[str]) -> Iterator[str]:
        given, _, _ = self.make_parser(context).parse_args(args=[*arguments])
        for parameter in self.get_params(context):
            value, _ = parameter.consume_value(context, given)
            if parameter.required and parameter.value_is_missing(value):
                yield _shown(parameter, context)


def _shown(parameter: click.Parameter, context: click.Context) -> str:
    if isinstance(parameter, click.Option):
        return f"{parameter.opts[-1]} {parameter.make_metavar(context)}"
    return parameter.make_metavar(context)


def as_typed(flag: str) -> str:
    """A flag by the name that somebody gave it by; empty if the command that runs has no such flag."""
    context = click.get_current_context(silent=True)
    if context is None or not flag:
        return flag
    option = next((one for one in context.command.get_params(context) if flag in one.opts), None)
    if option is None:
        return ""
    typed = [word.partition("=")[0] for word in context.meta.get(_TYPED, ())]
    return next((word for word in typed if word in option.opts), option.opts[-1] if _is_alone(option) else flag)


def _is_alone(option: click.Parameter) -> bool:
    return len([name for name in option.opts if name.startswith("--")]) == 1


def no_such_command(name: str, context: click.Context, known: Iterable[str]) -> click.UsageError:
    """What to say about a command that is not there: which ones are close, in this group, below it, or elsewhere."""
    from difflib import get_close_matches

    path, known = context.command_path, [*known]
    close = [f"{path} {one}" for one in get_close_matches(name, known, 1)]
    if not close and context.parent is None:
        close = [*_elsewhere(name)]
    advice = " or ".join(f"`{one}`" for one in close)
    said = f"Did you mean {advice}?" if close else f"There are: {', '.join(sorted(known))}."
    return click.UsageError(f"No such command {name!r}. {said}", context)


def _elsewhere(name: str) -> Iterator[str]:
    """Commands of that name in both programs and their groups."""
    for place in _PROGRAMS:
        program: click.Group = loaded(place)
        context = click.Context(program)
        for word in program.list_commands(context):
            found = program.get_command(context, word)
            if word == name:
                yield f"{program.name} {name}"
            elif isinstance(found, click.Group) and found.get_command(click.Context(found), name) is not None:
                yield f"{program.name} {word} {name}"
