"""Lists that are sets or maps: no item, or no key, may occur twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from kubekit.errors import FieldError, FieldProblem

from .model import Schema
from .trails import Trail, trail
from .values import go_json, in_key_order


def keyed_lists(schema: Schema) -> Trail | None:
    """Where the sets and maps of a schema are; None when it has none."""
    return trail(schema, lambda node: node.type == "array" and node.list_type != "atomic")


def duplicates(value: Any, lists: Trail, path: str) -> list[FieldError]:
    """Every second occurrence of an item or key."""
    return [] if _is_unique(value, lists) else list(_duplicates(value, lists, path))


def _is_unique(value: Any, lists: Trail) -> bool:
    """A quick look at the common case; a no may be wrong."""
    if isinstance(value, dict):
        for name, below in lists.members:
            member = value.get(name)
            if member is not None and not _is_unique(member, below):
                return False
        return lists.additional is None or all(_is_unique(member, lists.additional) for member in value.values())
    if isinstance(value, list):
        if lists.found and value and not _has_no_twins(value, lists.schema):
            return False
        return lists.items is None or all(_is_unique(item, lists.items) for item in value)
    return True


def _has_no_twins(value: list[Any], schema: Schema) -> bool:
    try:
        if len(value) == 1:
            return schema.list_type == "set" or isinstance(value[0], dict)
        if schema.list_type == "set":
            return len(set(value)) == len(value)
        if len(schema.list_keys) == 1:
            key = schema.list_keys[0]
            return len({item[key] for item in value}) == len(value)
        return len({tuple([item[key] for key in schema.list_keys]) for item in value}) == len(value)
    except (TypeError, KeyError):
        return False


def _duplicates(value: Any, lists: Trail, path: str) -> Iterator[FieldError]:
    if isinstance(value, dict):
        if lists.additional:
            for name, member in value.items():
                yield from _duplicates(member, lists.additional, f"{path}[{name}]")
        for name, below in lists.members:
            if name in value:
                yield from _duplicates(value[name], below, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        if lists.found:
            yield from _repeated(value, lists.schema, path)
        if lists.items:
            for index, item in enumerate(value):
                yield from _duplicates(item, lists.items, f"{path}[{index}]")


def _repeated(value: list[Any], schema: Schema, path: str) -> Iterator[FieldError]:
    is_map = schema.list_type == "map"
    seen: dict[Hashable, int] = {}
    for index, item in enumerate(value):
        if is_map and item is not None and not isinstance(item, dict):
            detail = "must be an object for an array of list-type map"
            yield FieldError(FieldProblem.INVALID, f"{path}[{index}]", detail, item)
            return
    for index, item in enumerate(value):
        shown = _key(item, schema.list_keys) if is_map else item
        mark = _mark(shown)
        seen[mark] = count = seen.get(mark, 0) + 1
        if count == 2:
            yield FieldError(FieldProblem.DUPLICATE, f"{path}[{index}]", "", in_key_order(shown))


def _key(item: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item} if item else {}


def _mark(value: Any) -> Hashable:
    """Equal for equal JSON values only."""
    return go_json(value) if isinstance(value, (dict, list)) else (type(value), value)
