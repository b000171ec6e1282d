"""Sets of field paths, kept in the very form they have on the wire (`fieldsV1`).

A set is a nested dict from path elements to subsets. An empty subset is a path that belongs to the set; a path that
belongs to it together with paths below it carries the member ".". Sets are values: no function changes one, results
share parts with their arguments, and a result that equals the first argument *is* the first argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from typing import Any

from . import paths

FieldSet = dict[str, Any]

SELF = "."
_MANY = 10_000


def ordered(fields: FieldSet) -> FieldSet:
    """The same level with its elements in Kubernetes' order."""
    names = list(fields)
    if len(names) < 2:
        return fields
    # Sorting names as text is their order too; keys and values hold numbers and need the slower way.
    plain = all(name[0] == "f" or name == SELF for name in names)
    in_order = _sorted(names, None if plain else paths.order)
    return fields if in_order == names else {name: fields[name] for name in in_order}


def _sorted(names: list[str], key: Callable[[str], Any] | None) -> list[str]:
    """Very many are sorted some at a time: whoever works beside the event loop has to let go of the interpreter."""
    if len(names) <= _MANY:
        return sorted(names, key=key)
    return list(merge(*(sorted(names[at : at + _MANY], key=key) for at in range(0, len(names), _MANY)), key=key))


def member(subset: FieldSet) -> bool:
    """Does the path that leads here belong to the set itself?"""
    return not subset or SELF in subset


def minus(fields: FieldSet, other: FieldSet) -> FieldSet:
    """Paths of `fields` that are not in `other`; a path in `other` says nothing about the paths below it."""
    return (_minus(fields, other) or {}) if fields and other else fields


def _minus(subset: FieldSet, other: FieldSet) -> FieldSet | None:
    if not subset:
        return None if member(other) else subset
    if not other:
        other = {SELF: {}}
    left = subset
    for element, below in other.items():
        found = subset.get(element)
        if found is None:
            continue
        if element == SELF or (not found and member(below)):
            rest = None
        elif (rest := _minus(found, below)) is found:
            continue
        if left is subset:
            left = dict(subset)
        if rest is None:
            del left[element]
        else:
            left[element] = rest
    if not left:
        return None
    return {} if len(left) == 1 and SELF in left else left


def without(fields: FieldSet, other: FieldSet) -> FieldSet:
    """Paths of `fields` that are neither in `other` nor below a path of it."""
    if fields.keys().isdisjoint(other):
        return fields
    left = {}
    for element, below in fields.items():
        cut = other.get(element)
        if cut is None:
            left[element] = below
        elif not member(cut):
            rest = without(below, cut)
            if rest or member(below):
                left[element] = rest
    if len(left) == 1 and SELF in left:
        return {}
    return fields if left == fields else left


def plus(fields: FieldSet, other: FieldSet) -> FieldSet:
    """Paths that are in either."""
    joined = fields
    grown = False
    for element, below in other.items():
        found = fields.get(element)
        if found is None:
            both, grown = below, True
        else:
            both = _plus(found, below)
            if both is found:
                continue
        if joined is fields:
            joined = dict(fields)
        joined[element] = both
    return ordered(joined) if grown else joined


def _plus(subset: FieldSet, other: FieldSet) -> FieldSet:
    if subset is other:
        return subset
    if subset and other:
        return plus(subset, other)
    if not other:
        return subset if member(subset) else {SELF: {}, **subset}
    return other if SELF in other else {SELF: {}, **other}


def common(fields: FieldSet, other: FieldSet) -> FieldSet:
    """Paths that are in both."""
    shared = {}
    for element, below in fields.items():
        found = other.get(element)
        if found is None or element == SELF:
            continue
        both = member(below) and member(found)
        deeper = common(below, found) if below and found else {}
        if both or deeper:
            shared[element] = {SELF: {}, **deeper} if both and deeper else deeper
    return shared


def contains(fields: FieldSet, path: tuple[str, ...]) -> bool:
    for element in path:
        found = fields.get(element)
        if found is None:
            return False
        fields = found
    return member(fields)


def each(fields: FieldSet, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path of the set: those that end at this level first, then the ones further down."""
    for element, below in fields.items():
        if element != SELF and member(below):
            yield (*above, element)
    for element, below in fields.items():
        if below:
            yield from each(below, (*above, element))


def of_path(path: tuple[str, ...]) -> FieldSet:
    fields: FieldSet = {}
    for element in reversed(path):
        fields = {element: fields}
    return fields


def canonical(fields: Any) -> FieldSet:
    """A set that a client sent, as this server writes it. Raises ValueError when it is none."""
    if not isinstance(fields, dict):
        raise ValueError("not an object")
    clean: FieldSet = {}
    for element, below in fields.items():
        if element == SELF:
            clean[SELF] = {}
            continue
        try:
            known = paths.canonical(element)
        except paths.UnknownElement:
            continue
        clean[known] = canonical(below)
    if len(clean) == 1 and SELF in clean:
        return {}
    return ordered(clean)
