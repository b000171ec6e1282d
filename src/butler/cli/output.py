"""What commands print: tables, documents and colours."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_BETWEEN = "   "
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_PHASES = {
    "Ready": "green",
    "Running": "green",
    "Healthy": "green",
    "Installed": "green",
    "True": "green",
    "Provisioning": "yellow",
    "Provisioned": "yellow",
    "Installing": "yellow",
    "Updating": "yellow",
    "Upgrading": "yellow",
    "Degraded": "yellow",
    "Warning": "yellow",
    "Failed": "red",
    "False": "red",
    "Pending": "bright_black",
    "Unknown": "bright_black",
    "Deleting": "magenta",
    "Uninstalling": "magenta",
}
ABSENT = "-"
"""Stands for what is not known."""


def output_option(*formats: str) -> Callable[[F], F]:
    """`-o`; the first format is what people get who say nothing."""
    return click.option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print."
    )


def no_headers_option(function: F) -> F:
    """For lists that people cut into pieces."""
    return click.option("--no-headers", is_flag=True, help="A table without its first line.")(function)


def is_coloured(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether colours help: on a terminal, unless someone said no."""
    if environ.get("NO_COLOR") or environ.get("BUTLER_NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def phase(text: str, stream: TextIO | None = None) -> str:
    """A phase or the status of a condition, in its colour."""
    colour = _PHASES.get(text)
    return click.style(text, fg=colour) if colour and is_coloured(stream or sys.stdout) else text


def plain(text: str) -> str:
    """Foreign text on one line, without anything a terminal would obey."""
    return _CONTROL.sub(" ", text).strip()


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], painted: str = "PHASE", *, no_headers: bool = False
) -> str:
    """Columns as wide as they must be; the cells of one of them in the colours of phases."""
    rows = [*rows]
    return "\n".join(Lines(headings, rows, painted).of(rows, no_headers=no_headers))


class Lines:
    """The lines of a table that may grow; its columns stay as wide as the first rows made them."""

    def __init__(self, headings: Sequence[str], rows: Iterable[Sequence[str]], painted: str = "PHASE") -> None:
        self._headings = headings
        self._widths = [max(map(len, column)) for column in zip(headings, *map(_shown, rows), strict=True)]
        self._coloured = headings.index(painted) if painted in headings and is_coloured(sys.stdout) else None

    def of(self, rows: Iterable[Sequence[str]], *, no_headers: bool = True) -> Iterator[str]:
        if not no_headers:
            yield _line(self._headings, self._widths, None)
        yield from (_line(_shown(row), self._widths, self._coloured) for row in rows)


def _shown(row: Sequence[str]) -> list[str]:
    return [plain(cell) or ABSENT for cell in row]


def _line(cells: Sequence[str], widths: Sequence[int], coloured: int | None) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    if coloured is not None:
        cell = cells[coloured]
        padded[coloured] = phase(cell) + padded[coloured][len(cell) :]
    return _BETWEEN.join(padded).rstrip()


def document(value: Any, form: str) -> str:
    """A value as JSON or YAML."""
    if form == "json":
        import json

        return json.dumps(value, indent=2, ensure_ascii=False)
    return as_yaml(value).rstrip("\n")


def as_yaml(*values: Any) -> str:
    """One document or several."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    made: str = yaml.dump_all(values, Dumper=dumper, sort_keys=False, allow_unicode=True, width=1000)
    return made


def say(text: str = "") -> None:
    """Talk, which is not the result: on stderr."""
    click.echo(text, err=True)


def success(text: str) -> None:
    """A result."""
    mark = click.style("✓", fg="green") if is_coloured(sys.stdout) else "✓"
    click.echo(f"{mark} {text}" if _can_write("✓") else text)


def _can_write(letters: str) -> bool:
    try:
        letters.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def next_steps(*commands: tuple[str, str]) -> None:
    """What one might want to do now."""
    say("\nNext steps:")
    width = max(len(command) for command, _ in commands)
    for command, purpose in commands:
        say(f"  {command.ljust(width)}   # {purpose}")
