"""What a strict reader finds in a body: fields that stand twice, besides those that nobody knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

Remarks = Callable[[list[str]], list[str]]
"""All remarks on a body, given the paths of its unknown fields."""

_OPERATION = frozenset({"op", "path", "from", "value"})


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object, all of them, as they stand."""


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

    def remarks(unknown: list[str]) -> list[str]:
        return list(_remarks(_parsed(content), "", frozenset(unknown)))

    return remarks


def in_parts(content: bytes, *, is_patch: bool = False) -> Remarks:
    """For a custom resource or a patch: first what stands twice, then what is unknown."""

    def remarks(unknown: list[str]) -> list[str]:
        found = list(_remarks(_parsed(content), "", frozenset()))
        if is_patch:
            found = [f"json patch {one}" for one in (*found, *_unknown_operations(content))]
        return [*found, *(f'unknown field "{path}"' for path in unknown)]

    return remarks


def _parsed(content: bytes) -> Any:
    return json.loads(content.decode("utf-8", "replace"), object_pairs_hook=_Members)


def _remarks(value: Any, path: str, unknown: frozenset[str]) -> Iterator[str]:
    if isinstance(value, _Members):
        seen: set[str] = set()
        for name, member in value:
            inner = f"{path}.{name}" if path else name
            if name in seen:
                yield f'duplicate field "{inner}"'
            seen.add(name)
            if inner in unknown:
                yield f'unknown field "{inner}"'
            else:
                yield from _remarks(member, inner, unknown)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _remarks(item, f"{path}[{index}]", unknown)


def _unknown_operations(content: bytes) -> Iterator[str]:
    for index, operation in enumerate(_parsed(content)):
        for name, _ in operation:
            if name not in _OPERATION:
                yield f'unknown field "[{index}].{name}"'
