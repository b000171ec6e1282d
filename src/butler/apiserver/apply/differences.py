"""Two values of one schema → the fields that differ."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ..schema.model import MISSING
from .nodes import Division, Node
from .outlines import Mismatch, element_of, everything
from .sets import SELF, FieldSet, ordered

CONTAINERS = frozenset({dict, list})


class Differences(NamedTuple):
    """Fields that a new value sets to something else or adds, and fields it no longer has."""

    changed: FieldSet
    removed: FieldSet


def between(old: dict[str, Any], new: dict[str, Any], node: Node) -> Differences:
    """What differs between two objects. Raises Mismatch when one does not have the shape of its schema."""
    return _between_maps(old, new, node)


def _between(old: Any, new: Any, node: Node | None) -> Differences:
    """What differs between two values at one place; `{}` as a whole result means "this field itself changed"."""
    if node is None:
        raise Mismatch("no such field")
    old_parts, new_parts = _divided(old, node), _divided(new, node)
    if (old_parts or new_parts) and old.__class__ is new.__class__:
        return _between_maps(old, new, node) if new.__class__ is dict else _between_lists(old, new, node)
    changed: FieldSet = everything(new, node) if new_parts else {}
    removed: FieldSet = everything(old, node) if old_parts else {}
    if (old_parts and new is None) or (new_parts and old is None):
        return Differences(_below(changed), _below(removed))
    if new_parts or old_parts:
        return Differences({SELF: {}, **_below(changed)}, _below(removed))
    return _SAME if identical(old, new) else _CHANGED


_SAME = Differences({}, {})
_CHANGED = Differences({SELF: {}}, {})


def _divided(value: Any, node: Node) -> bool:
    if value.__class__ is dict:
        return node.spread and bool(value or node.implied)
    return value.__class__ is list and node.sequence is Division.EACH and bool(value)


def _below(fields: FieldSet) -> FieldSet:
    return {element: below for element, below in fields.items() if element != SELF}


def _between_maps(old: dict[str, Any], new: dict[str, Any], node: Node) -> Differences:
    changed: FieldSet = {}
    removed: FieldSet = {}
    fields, element = node.fields, node.element
    if node.implied:
        old, new = node.implied | old, node.implied | new
    for name, value in new.items():
        before = old.get(name, MISSING)
        if before is value:
            continue
        child = fields.get(name, element)
        if before is MISSING:
            changed["f:" + name] = everything(value, child)
        elif child is None or before != value or (child.loose and not _written_alike(before, value)):
            _note("f:" + name, _between(before, value, child), changed, removed)
    for name, value in old.items():
        if name not in new:
            removed["f:" + name] = everything(value, fields.get(name, element))
    return Differences(ordered(changed), ordered(removed))


def _written_alike(one: Any, other: Any) -> bool:
    """Whether two equal values are so to the letter: then nothing, such as 1 for true, hides in them."""
    return msgspec.json.encode(one) == msgspec.json.encode(other)


def _note(element: str, found: Differences, changed: FieldSet, removed: FieldSet) -> None:
    if found.changed:
        changed[element] = {} if len(found.changed) == 1 and SELF in found.changed else found.changed
    if found.removed:
        removed[element] = found.removed


def _between_lists(old: list[Any], new: list[Any], node: Node) -> Differences:
    changed: FieldSet = {}
    removed: FieldSet = {}
    before, after = grouped(old, node), grouped(new, node)
    for element, items in after.items():
        were = before.get(element, [])
        if len(items) == 1 and len(were) == 1:
            _note(element, _between_items(were[0], items[0], node), changed, removed)
        elif len(items) > 1 and len(were) > 1:
            if not identical(were, items):
                changed[element] = {}
        else:
            # An item that is there twice is owned as a whole, so it changes its nature together with its number.
            changed[element] = {} if len(items) > 1 else everything(items[0], node.item)
            if were:
                removed[element] = {} if len(were) > 1 else everything(were[0], node.item)
    for element, were in before.items():
        if element not in after:
            removed[element] = {} if len(were) > 1 else everything(were[0], node.item)
    return Differences(ordered(changed), ordered(removed))


def _between_items(old: Any, new: Any, node: Node) -> Differences:
    item = node.item
    if old is new or (item is not None and not item.loose and old == new):
        return _SAME
    return _between(old, new, item)


def grouped(items: list[Any], node: Node) -> dict[str, list[Any]]:
    """The items of a list by their path element; more than one where a list holds duplicates."""
    groups: dict[str, list[Any]] = {}
    for item in items:
        groups.setdefault(element_of(item, node), []).append(item)
    return groups


def identical(one: Any, other: Any) -> bool:
    """Equality as JSON has it: true is not 1, but 1.0 is."""
    if one != other:
        return False
    if one.__class__ is dict:
        return all(identical(value, other[name]) for name, value in one.items())
    if one.__class__ is list:
        return all(identical(value, other[index]) for index, value in enumerate(one))
    return (one.__class__ is bool) == (other.__class__ is bool)
