"""Which parts of an object are as they were before an update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..schema.model import Schema
from .language.values import Value


class Relation:
    """A part of an object and the same part before; None stands for a part that cannot be told from others."""

    __slots__ = ("_answer", "_find_old", "_pair", "_parent", "is_root")

    def __init__(
        self, pair: tuple[Value, Value, Schema] | None, parent: Relation | None, is_root: bool = False
    ) -> None:
        self._pair, self._parent, self.is_root = pair, parent, is_root
        self._answer: bool | None = None
        self._find_old: Callable[[Value], Value] | None = None

    @classmethod
    def of_objects(cls, new: Value, old: Value, schema: Schema) -> Relation:
        return cls((new, old, schema), None, is_root=True)

    def is_unchanged(self) -> bool:
        """Whether this part, or the nearest part around it that can be told from others, did not change."""
        if self._pair is None:
            return self._parent is not None and self._parent.is_unchanged()
        if self._answer is None:
            self._answer = _same(*self._pair)
        return self._answer

    def member(self, key: str) -> Relation:
        if self._pair is None:
            return self
        if self.is_root and key in ("apiVersion", "kind"):
            return UNRELATED
        return Relation(_member(*self._pair, key), self)

    def item(self, index: int) -> Relation:
        if self._pair is None:
            return self
        new, old, schema = self._pair
        if self._find_old is None:
            self._find_old = by_keys(schema, old)
        previous = self._find_old(new[index])
        pair = None if previous is None or schema.items is None else (new[index], previous, schema.items)
        return Relation(pair, self)


UNRELATED = Relation(None, None)


def _member(new: Value, old: Value, schema: Schema, key: str) -> tuple[Value, Value, Schema] | None:
    inner = schema.child(key)
    if inner is None or not isinstance(new, dict) or not isinstance(old, dict) or key not in new or key not in old:
        return None
    return new[key], old[key], inner


def by_keys(schema: Schema, old: Value) -> Callable[[Value], Value]:
    """Finds the item of an old list with the keys of a given one; only lists of type map have such keys."""
    if schema.list_type != "map" or not isinstance(old, list):
        return lambda item: None
    keys = schema.list_keys
    known = {_key(item, keys): item for item in old if isinstance(item, dict)}
    return lambda item: known.get(_key(item, keys)) if isinstance(item, dict) else None


def _key(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    return repr([item.get(key) for key in keys])


def _same(new: Value, old: Value, schema: Schema) -> bool:
    if isinstance(new, list) and isinstance(old, list):
        return _same_list(new, old, schema)
    if isinstance(new, dict) and isinstance(old, dict):
        pairs = [_member(new, old, schema, key) for key in new]
        return len(new) == len(old) and all(pair is not None and _same(*pair) for pair in pairs)
    return type(new) is type(old) and bool(new == old)


def _same_list(new: list[Value], old: list[Value], schema: Schema) -> bool:
    if len(new) != len(old):
        return False
    if schema.list_type != "map" or schema.items is None:
        return new == old
    find = by_keys(schema, old)
    return all((previous := find(item)) is not None and _same(item, previous, schema.items) for item in new)
