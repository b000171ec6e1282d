"""What a strict reader finds in a body: fields that stand twice, besides those that nobody knows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import msgspec

Remarks = Callable[[list[str]], Iterable[str]]
"""All remarks on a body, given the paths of its unknown fields."""

_OPERATION = frozenset({"op", "path", "from", "value"})
_OPERATION_DEPTH = 2
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],]').finditer


def may_repeat(content: bytes, value: Any) -> bool:
    """Whether a field might stand twice in a JSON text: its value, written again, has fewer members."""
    written = msgspec.json.encode(value)
    return content.count(b'":') != written.count(b'":') or b'" :' in content


def has_unknown_members(operations: Any) -> bool:
    """Whether an operation of a JSON patch says more than operations do."""
    if not isinstance(operations, list):
        return False
    return any(isinstance(one, dict) and not one.keys() <= _OPERATION for one in operations)


def in_object(content: bytes) -> Remarks:
    """For an object of a built-in kind: in the order of the text."""

    def remarks(unknown: list[str]) -> Iterable[str]:
        return _remarks(content, frozenset(unknown))

    return remarks


def in_parts(content: bytes, *, is_patch: bool = False) -> Remarks:
    """For a custom resource or a patch: first what stands twice, then what is unknown."""

    def remarks(unknown: list[str]) -> Iterable[str]:
        found = _remarks(content, frozenset())
        if is_patch:
            found = (f"json patch {one}" for one in chain(found, _unknown_operations(content)))
        return chain(found, (f'unknown field "{path}"' for path in unknown))

    return remarks


def _remarks(content: bytes, unknown: frozenset[str]) -> Iterator[str]:
    """What stands twice, and what is unknown; nothing about what is inside of that."""
    for member in _members(content, unknown):
        if member.is_repeated:
            yield f'duplicate field "{member.path}"'
        if member.path in unknown:
            yield f'unknown field "{member.path}"'


def _unknown_operations(content: bytes) -> Iterator[str]:
    for member in _members(content):
        if member.depth == _OPERATION_DEPTH and member.name not in _OPERATION:
            yield f'unknown field "{member.path}"'


class _Member(NamedTuple):
    """One member of an object in a JSON text."""

    path: str
    name: str
    depth: int
    """How many containers it stands in."""
    is_repeated: bool


class _Container:
    """An object or a list around the current place of a walk."""

    __slots__ = ("index", "inner", "names", "path")

    def __init__(self, path: str | None, names: set[str] | None) -> None:
        self.path = path
        """None where nobody looks."""
        self.names, self.inner, self.index = names, path, 0

    def place(self) -> str | None:
        """The path of the value that stands here."""
        return f"{self.path}[{self.index}]" if self.names is None and self.path is not None else self.inner


def _members(content: bytes, closed: frozenset[str] = frozenset()) -> Iterator[_Member]:
    """All members as they stand in a JSON text, but for those of the members that are `closed`.

    A walk in small steps: the text may be as long as a body, and is read beside the event loop."""
    around, is_name = [_Container("", set())], False
    for token in _TOKENS(content.decode("utf-8", "replace")):
        text, here = token.group(), around[-1]
        match text[0]:
            case "{":
                around.append(_Container(here.place(), set()))
                is_name = True
            case "[":
                around.append(_Container(here.place(), None))
            case ",":
                here.index += 1
                is_name = here.names is not None
            case '"' if is_name:
                is_name = False
                if here.path is None or here.names is None:
                    continue
                name = json.loads(text) if "\\" in text else text[1:-1]
                path = f"{here.path}.{name}" if here.path else name
                yield _Member(path, name, len(around) - 1, name in here.names)
                here.names.add(name)
                here.inner = None if path in closed else path
            case "}" | "]":
                around.pop()
                is_name = False
