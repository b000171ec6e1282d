"""Values put together and taken apart along a schema."""

from __future__ import annotations

from typing import Any

from ..schema.model import MISSING
from .differences import element_of
from .nodes import Division, Node
from .sets import SELF, FieldSet, member


def merge(live: Any, config: Any, node: Node | None) -> Any:
    """`live` with everything that `config` says; nothing is removed. Shares parts with both."""
    if node is None or live == config:
        return config
    if live.__class__ is dict and live and node.spread:
        if config is None:
            return live
        if config.__class__ is dict:
            return _merge_maps(live, config, node)
    if live.__class__ is list and live and node.sequence is Division.EACH:
        if config is None:
            return live
        if config.__class__ is list:
            return _merge_lists(live, config, node)
    return config


def _merge_maps(live: dict[str, Any], config: dict[str, Any], node: Node) -> dict[str, Any]:
    merged = dict(live)
    for name, value in config.items():
        merged[name] = merge(live[name], value, node.fields.get(name, node.element)) if name in live else value
    return merged


def _merge_lists(live: list[Any], config: list[Any], node: Node) -> list[Any]:
    """Items keep the order they have in `live`, except that those of `config` stand in the order it gives them."""
    left = [element_of(item, node) for item in live]
    right = [element_of(item, node) for item in config]
    ours = dict(zip(right, config, strict=True))
    theirs: dict[str, Any] = {}
    for element, item in zip(left, live, strict=True):
        # An item that is there twice is not merged but replaced.
        theirs[element] = None if element in theirs else item
    merged = _Interleaved(left, right).order()
    return [
        live[position] if element is None else _merge_item(theirs.get(element, MISSING), ours[element], node)
        for element, position in merged
    ]


def _merge_item(live: Any, config: Any, node: Node) -> Any:
    return config if live is MISSING or live is None else merge(live, config, node.item)


class _Interleaved:
    """The order in which the items of two lists follow each other."""

    def __init__(self, left: list[str], right: list[str]) -> None:
        self.left, self.right = left, right
        self.on_right = set(right)
        on_left = set(left)
        self.shared = [element for element in right if element in on_left]
        self.placed: set[str] = set()

    def order(self) -> list[tuple[str | None, int]]:
        """Pairs: an element to take from the right, or None and a position on the left."""
        taken: list[tuple[str | None, int]] = []
        at_left = at_right = 0
        while at_left < len(self.left) or at_right < len(self.right):
            if at_left < len(self.left):
                here = self.left[at_left]
                if at_right < len(self.right) and here == self.right[at_right]:
                    self._place(here, taken)
                    at_left, at_right = at_left + 1, at_right + 1
                    continue
                if at_right < len(self.right) and here in self.on_right and self._waits_for_another(here):
                    at_left += 1
                    continue
                if here not in self.on_right:
                    taken.append((None, at_left))
                    at_left += 1
                    continue
                if here in self.placed:
                    at_left += 1
            if at_right < len(self.right):
                self._place(self.right[at_right], taken)
                at_right += 1
        return taken

    def _waits_for_another(self, element: str) -> bool:
        return bool(self.shared) and self.shared[0] != element

    def _place(self, element: str, taken: list[tuple[str | None, int]]) -> None:
        taken.append((element, -1))
        self.placed.add(element)
        if self.shared and self.shared[0] == element:
            self.shared.pop(0)


def remove(value: Any, fields: FieldSet, node: Node | None) -> Any:
    """`value` without the given fields; a container that loses everything becomes None."""
    if node is None:
        return value
    if value.__class__ is dict and node.division is not Division.NONE:
        return _remove_members(value, fields, node) if value and node.spread else None
    if value.__class__ is list and node.sequence is not Division.NONE:
        return _remove_items(value, fields, node) if value and node.sequence is Division.EACH else None
    return value


def _remove_members(value: dict[str, Any], fields: FieldSet, node: Node) -> dict[str, Any] | None:
    left = {}
    for name, held in value.items():
        cut = fields.get("f:" + name)
        if cut is None:
            left[name] = held
        elif not member(cut):
            left[name] = remove(held, cut, node.fields.get(name, node.element))
    return left or None


def _remove_items(items: list[Any], fields: FieldSet, node: Node) -> list[Any] | None:
    left = []
    for item in items:
        cut = fields.get(element_of(item, node))
        if cut is None:
            left.append(item)
        elif not member(cut):
            left.append(remove(item, cut, node.item))
    return left or None


def with_named(fields: FieldSet, node: Node | None) -> FieldSet:
    """`fields` and every declared field above one of them; free keys and items are not added."""
    declared = node.fields if node is not None else {}
    completed: FieldSet = {}
    for element, below in fields.items():
        if not below or element == SELF:
            completed[element] = below
            continue
        child = _node_below(element, node)
        deeper = with_named(below, child)
        is_named = element[0] == "f" and element[2:] in declared
        completed[element] = {SELF: {}, **deeper} if is_named and SELF not in deeper else deeper
    return completed


def _node_below(element: str, node: Node | None) -> Node | None:
    if node is None:
        return None
    if element[0] == "f":
        return node.fields.get(element[2:], node.element)
    return node.item if element[0] == "k" else None
