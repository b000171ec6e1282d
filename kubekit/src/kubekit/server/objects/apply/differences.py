"""Two values of one schema → the fields that differ."""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import msgspec

from ..bounded_cache import Remembered
from ..schema.model import MISSING
from . import paths
from .nodes import Division, Node
from .sets import SELF, FieldSet, ordered

CONTAINERS = frozenset({dict, list})


class Mismatch(Exception):
    """A value does not have the shape its schema gives it."""


class Differences(NamedTuple):
    """Fields that a new value sets to something else or adds, and fields it no longer has."""

    changed: FieldSet
    removed: FieldSet


def between(old: dict[str, Any], new: dict[str, Any], node: Node) -> Differences:
    """What differs between two objects. Raises Mismatch when one does not have the shape of its schema."""
    return _between_maps(old, new, node)


def added(new: dict[str, Any], node: Node) -> FieldSet:
    """The fields of a new object, itself included or not. Raises Mismatch."""
    # What is there even when it is not written is not new.
    return between({}, new, node).changed if node.implied else _all_members(new, node)


def element_of(item: Any, node: Node) -> str:
    """The path element of an item of a list whose items are owned one by one."""
    keys = node.keys
    if not keys:
        if item is None or item.__class__ is dict or item.__class__ is list:
            raise Mismatch("a set holds scalars only")
        return paths.value_element(item)
    if item.__class__ is not dict:
        raise Mismatch("an item with keys is a map")
    if len(keys) == 1:
        name, default = keys[0]
        value = item.get(name, default)
        if value.__class__ is str or value.__class__ is int:
            return paths.key_element(name, value)
    found = {name: item.get(name, default) for name, default in keys}
    found = {name: value for name, value in found.items() if value is not MISSING}
    if not found:
        raise Mismatch("all keys are missing")
    return paths.keys_element(found)


def everything(value: Any, node: Node | None) -> FieldSet:
    """All fields of a value that was not there before, itself included."""
    cls = value.__class__
    if cls is dict:
        if node is None or node.division is Division.NONE:
            raise Mismatch("no map may stand here")
        return _all_members(value, node) if node.spread and (value or node.implied) else {}
    if cls is list:
        if node is None or node.sequence is Division.NONE:
            raise Mismatch("no list may stand here")
        return _all_items(value, node) if value and node.sequence is Division.EACH else {}
    return {}


def _all_members(value: dict[str, Any], node: Node) -> FieldSet:
    if node.implied:
        value = node.implied | value
    if node.free:
        return _all_free(value)
    leaves, branches = _layouts[node, tuple(value)]
    if not branches:
        return leaves
    owned = leaves.copy()
    for name, path, child in branches:
        member = value[name]
        cls = member.__class__
        if cls is dict and member and child is not None and child.spread:
            owned[path] = _all_members(member, child)
        elif cls is dict or cls is list:
            owned[path] = everything(member, child)
    return owned


def _all_free(value: dict[str, Any]) -> FieldSet:
    """The same for members without a schema, where whatever is a map is divided and nothing else is."""
    names, members = tuple(value), value.values()
    kinds = set(map(type, members))
    if dict not in kinds:
        return _flat[names]
    # Settings are often maps of maps of scalars: then the names say it all.
    if len(kinds) == 1 and dict not in map(type, chain.from_iterable(map(dict.values, members))):
        return _flat_maps[names, tuple(map(tuple, members))]
    owned = _flat[names].copy()
    for name, member in value.items():
        if member.__class__ is dict and member:
            owned[f"f:{name}"] = _all_free(member)
    return owned


class _Layout(NamedTuple):
    """What is known of a map of a place once the names of its members are known."""

    leaves: FieldSet
    """Its fields, if it held scalars only."""
    branches: tuple[tuple[str, str, Node | None], ...]
    """Members that may hold more than a scalar: name, path element, place. The others are left to validation."""


_Names = tuple[str, ...]


def _find_layout(question: tuple[Node, _Names]) -> _Layout:
    node, names = question
    places = ((name, f"f:{name}", node.fields.get(name, node.element)) for name in sorted(names))
    return _Layout(_flat[names], tuple(place for place in places if _may_branch(place[2])))


def _may_branch(node: Node | None) -> bool:
    return node is None or node.division is not Division.NONE or node.sequence is not Division.NONE


def _find_flat(names: _Names) -> FieldSet:
    return {SELF: {}, **{f"f:{name}": {} for name in sorted(names)}}


def _find_flat_maps(question: tuple[_Names, tuple[_Names, ...]]) -> FieldSet:
    maps = {f"f:{name}": _flat[below] for name, below in zip(*question, strict=True) if below}
    return _flat[question[0]] | maps


_layouts = Remembered(_find_layout)
"""Objects of one kind mostly have the same members."""
_flat = Remembered(_find_flat)
"""The fields of a map that holds scalars only, itself included; the same set for all maps with these names."""
_flat_maps = Remembered(_find_flat_maps)
"""The same for a map of such maps."""


def _all_items(items: list[Any], node: Node) -> FieldSet:
    owned: FieldSet = {SELF: {}}
    for item in items:
        element = element_of(item, node)
        # Of an item that is there twice, nothing but its presence is owned.
        owned[element] = {} if element in owned else everything(item, node.item)
    return ordered(owned)


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
