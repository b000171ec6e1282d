"""The flags that say Helm values: files, single settings, and Secrets that hold what nobody should read."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import click

from ..lazy import USAGE, Failure

F = TypeVar("F", bound=Callable[..., Any])

_SET = "'--set'"
_STEP = re.compile(r"((?:\\.|[^.\[\]\\])+)((?:\[\d+\])*)(\.|$)")
_INDEX = re.compile(r"\[(\d+)\]")
_WHOLE = re.compile(r"-?(0|[1-9]\d*)")
_WORDS = {"true": True, "false": False, "null": None}
_ANOTHER = re.compile(r",[\w.\\\[\]-]+=")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where values come from, as somebody said it."""

    files: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.files or self.settings or self.secrets)

    def over(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """What files and settings make of values: files first, the last one wins. Raises Failure, UsageError."""
        from butler.addons.values import merged

        found = merged(copy.deepcopy(dict(base)), *map(read, self.files))
        for setting in self.settings:
            put(found, setting)
        return found

    def refs(self) -> list[dict[str, Any]]:
        """As spec.valuesFrom has it."""
        return [_ref(one) for one in self.secrets]


_INLINE = (
    click.option("--values", "files", multiple=True, metavar="FILE", help="Helm values as YAML, - for stdin."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="A single value, such as a.b[0].c=text; true, false, null and whole numbers are what they look like, "
        '[…], {…} and "…" are YAML.',
    ),
)
_SECRETS = click.option(
    "--values-secret",
    "secrets",
    multiple=True,
    metavar="NAME[/KEY]",
    help="A Secret beside the cluster with further values as YAML, by default under values.yaml.",
)


def inline_values_options(function: F) -> F:
    """The command takes them as `files` and `settings`."""
    for option in reversed(_INLINE):
        function = option(function)
    return function


def values_options(function: F) -> F:
    """The same, and `secrets`."""
    return inline_values_options(_SECRETS(function))


def read(filename: str) -> dict[str, Any]:
    """The values of a file, or of stdin for `-`. Raises Failure."""
    shown = "stdin" if filename == "-" else filename
    try:
        text = sys.stdin.read() if filename == "-" else Path(filename).expanduser().read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{shown}: {getattr(error, 'strerror', None) or 'this is not text'}", USAGE) from error
    return parsed(text, shown)


def parsed(text: str, shown: str) -> dict[str, Any]:
    """The values in a text, as Helm would read it; what is wrong is told without any of them. Raises Failure."""
    import yaml

    from kubekit.server.objects.go.yaml_text import decode
    from kubekit.server.objects.schema.decoding import Malformed

    try:
        found = decode(text.encode())
        events = yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        documents = sum(isinstance(event, yaml.DocumentStartEvent) for event in events)
    except Malformed as error:
        raise Failure(f"{shown}: this is not YAML: {str(error).removeprefix('yaml: ')}", USAGE) from None
    except yaml.YAMLError:
        documents = 2
    if documents > 1 or not isinstance(found, dict | None):
        what = "these are several documents" if documents > 1 else "this is something else"
        raise Failure(f"{shown}: values are one mapping of names to values, and {what}", USAGE)
    values: dict[str, Any] = found or {}
    return values


def put(values: dict[str, Any], setting: str) -> None:
    """Carry out KEY=VALUE. Raises BadParameter, which tells the key and not the value."""
    key, sign, text = _halves(setting)
    if not sign or not key:
        raise click.BadParameter(f"{key or setting!r} is not KEY=VALUE", param_hint=_SET)
    steps = _steps(key)
    place: Any = values
    for step, following in pairwise(steps):
        place = _below(place, step, [] if isinstance(following, int) else {}, key)
    _put(place, steps[-1], _value(key, text), key)


def _halves(setting: str) -> tuple[str, str, str]:
    found = re.match(r"((?:\\.|[^=\\])*)(=)(.*)", setting, re.DOTALL)
    return (found[1], found[2], found[3]) if found else (setting, "", "")


def _steps(key: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 0
    while at < len(key):
        found = _STEP.match(key, at)
        if found is None or (found[3] == "." and found.end() == len(key)):
            raise click.BadParameter(f"{key!r} is no path such as a.b[0].c", param_hint=_SET)
        steps.append(re.sub(r"\\(.)", r"\1", found[1]))
        steps += map(int, _INDEX.findall(found[2]))
        at = found.end()
    return steps


def _below(place: Any, step: str | int, empty: Any, key: str) -> Any:
    """What is at a step, made where there is nothing of that shape."""
    if isinstance(step, str):
        if not isinstance(place.get(step), type(empty)):
            place[step] = empty
        return place[step]
    _check(place, step, key)
    if step == len(place):
        place.append(empty)
    elif not isinstance(place[step], type(empty)):
        place[step] = empty
    return place[step]


def _put(place: Any, step: str | int, value: Any, key: str) -> None:
    if isinstance(step, int):
        _check(place, step, key)
        place[step : step + 1] = [value]
    else:
        place[step] = value


def _check(place: list[Any], index: int, key: str) -> None:
    if index > len(place):
        raise click.BadParameter(
            f"{key}: the list has {len(place)} items, so the next one is [{len(place)}]", param_hint=_SET
        )


def _value(key: str, text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    if text[:1] in ("[", "{", '"', "'"):
        return _flow(key, text)
    if _ANOTHER.search(text):
        raise click.BadParameter(
            f'{key}: this looks like several; give each a --set of its own, or write {key}="…" if it is one text',
            param_hint=_SET,
        )
    return text


def _flow(key: str, text: str) -> Any:
    from kubekit.server.objects.go.yaml_text import decode
    from kubekit.server.objects.schema.decoding import Malformed

    try:
        found = decode(text.encode())
    except Malformed:
        raise click.BadParameter(f"{key}: this is not YAML", param_hint=_SET) from None
    if isinstance(found, dict) and found and all(one is None for one in found.values()):
        raise click.BadParameter(f"{key}: a list is written [a,b]", param_hint=_SET)
    return found


def _ref(text: str) -> dict[str, Any]:
    name, slash, key = text.partition("/")
    if not name or (slash and not key):
        raise click.BadParameter(f"{text!r} is neither NAME nor NAME/KEY", param_hint="'--values-secret'")
    ref: dict[str, Any] = {"secretRef": {"name": name}}
    return ref | ({"key": key} if key else {})
