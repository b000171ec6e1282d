"""A new value → its fields, by way of its outline: the names in it, and nothing of what they hold.

Objects of one kind mostly have the same outline, so that their fields need to be found out only once.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Any

from ..schema.model import MISSING
from . import paths
from .nodes import Division, Node
from .sets import SELF, FieldSet, ordered

Outline = tuple[Any, ...] | None
"""None for what is owned as one field. Of a map, the names of its members, or these together with the outlines of the
members that may hold more than a scalar. Of a list whose items are owned one by one, `_ITEMS`, their path elements and
their outlines."""

_ITEMS = object()
FEW = 64
"""What is known of a map is kept for the next one with the same names only when it has no more members: nobody can
fill the memory with it."""
Branch = tuple[str, str, Node | None]
"""A member that may hold more than a scalar: its name, its path element, its place."""


class Mismatch(Exception):
    """A value does not have the shape its schema gives it."""


def everything(value: Any, node: Node | None) -> FieldSet:
    """All fields of a value that was not there before, itself included. Raises Mismatch."""
    return fields_of(outline(value, node), node)


def outline(value: Any, node: Node | None) -> Outline:
    """The outline of a value at a place. Raises Mismatch."""
    cls = value.__class__
    if cls is dict:
        if node is None or node.division is Division.NONE:
            raise Mismatch("no map may stand here")
        return _of_map(value, node) if node.spread and (value or node.implied) else None
    if cls is list:
        if node is None or node.sequence is Division.NONE:
            raise Mismatch("no list may stand here")
        return _of_list(value, node) if value and node.sequence is Division.EACH else None
    return None


def _of_map(value: dict[str, Any], node: Node) -> Outline:
    if node.free:
        return _of_free_map(value)
    if node.implied:
        value = node.implied | value
    names = tuple(value)
    branches = _known_branches(node, names) if len(names) <= FEW else _branches(node, names)
    if not branches:
        return names
    below: list[Outline] = []
    for name, _, child in branches:
        member = value[name]
        cls = member.__class__
        if cls is dict and member and child is not None and child.spread:
            below.append(_of_map(member, child))
        else:
            below.append(outline(member, child) if cls is dict or cls is list else None)
    return names, tuple(below)


def _of_free_map(value: dict[str, Any]) -> Outline:
    """Where no schema is, whatever is a map is divided, and nothing else is."""
    names, members = tuple(value), value.values()
    kinds = set(map(type, members))
    if dict not in kinds:
        return names
    # Settings are often maps of maps of scalars, for which there is a short way.
    if len(kinds) == 1 and dict not in map(type, chain.from_iterable(map(dict.values, members))):
        return names, tuple(map(tuple, members))
    return names, tuple([_of_free_map(one) if one.__class__ is dict else None for one in members])


def _of_list(items: list[Any], node: Node) -> Outline:
    elements = tuple([element_of(item, node) for item in items])
    return _ITEMS, elements, tuple([outline(item, node.item) for item in items])


def _branches(node: Node, names: tuple[str, ...]) -> tuple[Branch, ...]:
    places = [(name, f"f:{name}", node.fields.get(name, node.element)) for name in names]
    return tuple([place for place in places if _may_branch(place[2])])


_known_branches = lru_cache(maxsize=4096)(_branches)


def _may_branch(node: Node | None) -> bool:
    # Where nothing may be, what is there is refused.
    return node is None or node.division is not Division.NONE or node.sequence is not Division.NONE


def fields_of(known: Outline, node: Node | None) -> FieldSet:
    """All fields of a value with that outline, itself included."""
    if not known:
        return {}
    if known[0] is _ITEMS:
        return _fields_of_items(known[1], known[2], node)
    names, below = known if known[0].__class__ is tuple else (known, ())
    owned: FieldSet = {SELF: {}, **{f"f:{name}": {} for name in sorted(names)}}
    if below and node is not None:
        for (_, path, child), part in zip(_branches(node, names), below, strict=True):
            owned[path] = fields_of(part, child)
    return owned


def _fields_of_items(elements: tuple[str, ...], below: tuple[Outline, ...], node: Node | None) -> FieldSet:
    owned: FieldSet = {SELF: {}}
    item = node.item if node is not None else None
    for element, part in zip(elements, below, strict=True):
        # Of an item that is there twice, nothing but its presence is owned.
        owned[element] = {} if element in owned else fields_of(part, item)
    return ordered(owned)


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
