"""An applied configuration → the fields it speaks about, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..bounded_cache import Remembered
from ..schema.model import MISSING
from . import paths
from .differences import CONTAINERS, Mismatch, element_of
from .nodes import ATOMIC, DEDUCED, Division, Node
from .sets import SELF, FieldSet, ordered


def fields_of(config: dict[str, Any], node: Node) -> FieldSet:
    """The fields of a configuration: leaves, items and free keys, not the structs around them.

    Raises Mismatch when it does not have the shape of its schema or holds an item twice; `problems` says what is wrong.
    """
    return _Fields(strict=True).of_map(config, node)


def fields_of_any(value: Any, node: Node) -> FieldSet:
    """The fields of an object that may hold duplicates, nulls and remains of an older schema."""
    return _Fields(strict=False).of_map(value, node) if isinstance(value, dict) else {}


class _Fields:
    def __init__(self, *, strict: bool) -> None:
        self.strict = strict

    def of_map(self, value: dict[str, Any], node: Node) -> FieldSet:
        if node is DEDUCED and CONTAINERS.isdisjoint(map(type, value.values())):
            return _free_scalars[tuple(value)]
        owned: FieldSet = {}
        declared, element = node.fields, node.element
        for name in sorted(value):
            member = value[name]
            child = declared.get(name)
            named = child is not None
            if child is None:
                child = element
                if child is None:
                    if self.strict:
                        raise Mismatch("field not declared in schema")
                    child = ATOMIC
            if member.__class__ in child.scalars or member is None:
                owned["f:" + name] = {}
                continue
            below = self.of(member, child)
            if below is None or not named:
                owned["f:" + name] = {SELF: {}, **below} if below else {}
            elif below:
                owned["f:" + name] = below
        return owned

    def of(self, value: Any, node: Node) -> FieldSet | None:
        """The fields below a value; None when it is one field as a whole."""
        if value.__class__ is dict and node.division is not Division.NONE:
            if node.spread and value:
                return self.of_map(value, node)
            if self.strict:
                check_members(value, node)
            return None
        if value.__class__ is list and node.sequence is not Division.NONE:
            if node.sequence is Division.EACH:
                return self.of_items(value, node)
            if self.strict:
                check_items(value, node)
            return None
        if self.strict and value is not None and value.__class__ not in node.scalars:
            raise Mismatch("wrong type")
        return None

    def of_items(self, items: list[Any], node: Node) -> FieldSet:
        owned: FieldSet = {}
        item_node = node.item
        assert item_node is not None
        for item in items:
            try:
                element = element_of(item, node)
            except Mismatch:
                if self.strict:
                    raise
                continue
            below = self.of(item, item_node)
            if element in owned:
                if self.strict:
                    raise Mismatch("duplicate entries")
                below = None
            owned[element] = {SELF: {}, **below} if below else {}
        return ordered(owned)


_free_scalars: Remembered[tuple[str, ...], FieldSet] = Remembered(
    lambda names: {f"f:{name}": {} for name in sorted(names)}
)
"""The fields of a map without a schema that holds scalars only."""


def check(value: Any, node: Node) -> None:
    """Raises Mismatch when a value inside something owned as a whole does not have the shape of its schema."""
    if value is None or value.__class__ in node.scalars:
        return
    if value.__class__ is dict and node.division is not Division.NONE:
        check_members(value, node)
    elif value.__class__ is list and node.sequence is not Division.NONE:
        check_items(value, node)
    else:
        raise Mismatch("wrong type")


def check_members(value: dict[str, Any], node: Node) -> None:
    for name, member in value.items():
        child = node.fields.get(name, node.element)
        if child is None:
            raise Mismatch("field not declared in schema")
        check(member, child)


def check_items(items: list[Any], node: Node) -> None:
    item_node = node.item
    assert item_node is not None
    if node.sequence is Division.EACH:
        elements = [element_of(item, node) for item in items]
        if len(set(elements)) < len(elements):
            raise Mismatch("duplicate entries")
    for item in items:
        check(item, item_node)


def problems(value: Any, node: Node, path: str = "") -> Iterator[str]:
    """What is wrong with a configuration, in the words of the Kubernetes API."""
    if value is None or value.__class__ in node.scalars:
        return
    if value.__class__ is dict and node.division is not Division.NONE:
        yield from _map_problems(value, node, path)
    elif value.__class__ is list and node.sequence is not Division.NONE:
        yield from _list_problems(value, node, path)
    else:
        yield _placed(path, _expectation(value, node))


def _placed(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text


def _map_problems(value: dict[str, Any], node: Node, path: str) -> Iterator[str]:
    for name in sorted(value):
        child = node.fields.get(name, node.element)
        if child is None:
            yield f"{path}.{name}: field not declared in schema"
            return
        yield from problems(value[name], child, f"{path}.{name}")


def _list_problems(items: list[Any], node: Node, path: str) -> Iterator[str]:
    seen: set[str] = set()
    assert node.item is not None
    for index, item in enumerate(items):
        place = f"[{index}]"
        if node.sequence is Division.EACH:
            if refusal := _element_problem(item, node):
                yield _placed(path, f"element {index}: {refusal}")
                return
            element = element_of(item, node)
            place = paths.text(element)
            if element in seen:
                yield _placed(path, f"duplicate entries for key {place}")
            seen.add(element)
        yield from problems(item, node.item, path + place)


def _element_problem(item: Any, node: Node) -> str:
    """Why an item of a divided list cannot be told from the others; empty when it can."""
    if node.keys:
        if item is None:
            return "associative list with keys may not have a null element"
        if not isinstance(item, dict):
            return "associative list with keys may not have non-map elements"
        if any(item.get(name, default) is not MISSING for name, default in node.keys):
            return ""
        names = " ".join(f'"{name}"' for name, _ in node.keys)
        return (
            f"associative list with keys has an element that omits all key fields [{names}]"
            " (and doesn't have default values for any key fields)"
        )
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    if isinstance(item, list):
        return "not supported: associative list with lists as elements"
    return "associative list without keys has an element that's an explicit null" if item is None else ""


def _expectation(value: Any, node: Node) -> str:
    if node.division is not Division.NONE:
        return f"expected map, got &{{{_go_value(value)}}}"
    if node.sequence is not Division.NONE and not node.scalars:
        return f"expected list, got &{{{_go_value(value)}}}"
    if node.scalars == {int, float}:
        return f"expected numeric (int or float), got {_go_type(value)}"
    if node.scalars == {str}:
        return f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
    if node.scalars == {bool}:
        return f"expected boolean, got &{{{_go_value(value)}}}"
    return f"expected any scalar, got &{{{_go_value(value)}}}"


def _go_type(value: Any) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    return {str: "string", bool: "bool", int: "int64", float: "float64"}[value.__class__]


def _go_value(value: Any) -> str:
    """A value as Go's %v shows it."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{name}:{_go_value(value[name])}" for name in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(_go_value(item) for item in value) + "]"
    if value is None:
        return "<nil>"
    return value if isinstance(value, str) else paths.go_json(value)


def _go_syntax(value: Any) -> str:
    """A value as Go's %#v shows it."""
    if isinstance(value, dict):
        members = ", ".join(f"{paths.go_json(name)}:{_go_syntax(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{members}}}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(_go_syntax(item) for item in value) + "}"
    return "interface {}(nil)" if value is None else paths.go_json(value)
