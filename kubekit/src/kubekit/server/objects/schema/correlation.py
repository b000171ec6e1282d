"""The old value that belongs to a part of a new one, so that an update is not blamed for what it did not touch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .model import MISSING
from .values import json_equal


class Old:
    """What stood at one place before, and the schema of that place. `NOTHING` when that cannot be told."""

    __slots__ = ("source", "value")

    def __init__(self, source: Mapping[str, Any], value: Any) -> None:
        self.source, self.value = source, value

    def member(self, new: Mapping[str, Any], name: str, path: str) -> Old:
        """The old value of a member of an object; apiVersion and kind of the outermost object have none."""
        if not isinstance(self.value, dict) or name not in self.value or name not in new:
            return NOTHING
        below = _member_source(self.source, name)
        if below is None or (not path and name in ("apiVersion", "kind")):
            return NOTHING
        return Old(below, self.value[name])

    def item(self, new: list[Any], index: int) -> Old:
        """The old value of an item; only lists with keys can tell."""
        items = self.source.get("items")
        if not isinstance(self.value, list) or not isinstance(items, Mapping):
            return NOTHING
        found = _keyed_item(self.source, self.value, new[index])
        return NOTHING if found is None else Old(items, found)

    def unchanged(self, new: Any) -> bool:
        return self.value is not MISSING and _unchanged(self.source, new, self.value)


NOTHING = Old({}, MISSING)


def _member_source(source: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    below = source.get("properties", {}).get(name, source.get("additionalProperties"))
    return below if isinstance(below, Mapping) else None


def _keyed_item(source: Mapping[str, Any], candidates: list[Any], item: Any) -> Any:
    """The candidate with the same keys as the item, None when the list has no keys or no such candidate."""
    keys = source.get("x-kubernetes-list-map-keys", ())
    if source.get("x-kubernetes-list-type") != "map" or not isinstance(item, dict):
        return None
    for candidate in candidates:
        if isinstance(candidate, dict) and all(
            json_equal(candidate.get(key, MISSING), item.get(key, MISSING)) for key in keys
        ):
            return candidate
    return None


def _unchanged(source: Mapping[str, Any], new: Any, old: Any) -> bool:
    if isinstance(new, dict) and isinstance(old, dict):
        return new.keys() == old.keys() and all(
            (below := _member_source(source, name)) is not None and _unchanged(below, value, old[name])
            for name, value in new.items()
        )
    if isinstance(new, list) and isinstance(old, list) and source.get("x-kubernetes-list-type") == "map":
        return len(new) == len(old) and all(
            (was := _keyed_item(source, old, item)) is not None and _unchanged(source.get("items", {}), item, was)
            for item in new
        )
    return json_equal(new, old)
