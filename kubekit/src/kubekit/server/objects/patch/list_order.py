"""The order of a list that was merged from two."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any

from ..schema.values import go_json


def in_order(others: list[Any], mine: list[Any], given: list[Any], live: list[Any], key: str) -> list[Any]:
    """One list of the items a patch speaks of (`mine`, in the order `given`) and those it does not (`others`).

    Those stay in front of whatever followed them in the `live` list. `key` identifies items that are maps."""
    place = _places(live, key)
    ranks = _places(given, key)
    mine = sorted(mine, key=lambda item: ranks.get(mark(item, key), -1))
    waiting = deque(sorted(others, key=lambda item: place.get(mark(item, key), -1)))
    ordered: list[Any] = []
    for item in mine:
        here = place.get(mark(item, key))
        while waiting and here is not None and place.get(mark(waiting[0], key), here) < here:
            ordered.append(waiting.popleft())
        ordered.append(item)
    return [*ordered, *waiting]


def _places(items: list[Any], key: str) -> dict[Any, int]:
    """Where each item stands first."""
    places: dict[Any, int] = {}
    for index, item in enumerate(items):
        places.setdefault(mark(item, key), index)
    return places


def mark(item: Any, key: str = "") -> Hashable:
    """What tells an item from others; maps are told apart by a member, if a `key` is given."""
    value = item.get(key) if key and isinstance(item, dict) else item
    return go_json(value) if isinstance(value, (dict, list)) else (type(value), value)
