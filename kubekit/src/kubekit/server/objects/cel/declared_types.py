"""The CEL type of a schema: what rules see of the data it describes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from ..schema.model import ANYTHING, Schema
from .language import times
from .language.names import escape
from .language.typesystem import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, Field, Type
from .language.values import CelError, Convert, Value, equal, hashable

_TEXT = Schema(type="string")
_META = Schema(type="object", properties={"name": _TEXT, "generateName": _TEXT})


def with_object_meta(schema: Schema) -> dict[str, Schema]:
    """The properties of a Kubernetes object: rules always see its kind, version and name."""
    found = schema.properties
    meta = found.get("metadata")
    named = meta is not None and meta.type == "object" and {"name", "generateName"} <= meta.properties.keys()
    if named and found.get("kind", ANYTHING).type == found.get("apiVersion", ANYTHING).type == "string":
        return found
    return {**found, "kind": _TEXT, "apiVersion": _TEXT, "metadata": _META}


class Declarations:
    """The types of the schemas of one resource, each built once."""

    def __init__(self, unseen: Type | None = None) -> None:
        """`unseen` is the type of what has no type of its own; None hides it."""
        self._types: dict[tuple[int, bool], Type | None] = {}
        self._unseen = unseen

    def of(self, schema: Schema, *, is_resource: bool, name: str = "selfType") -> Type | None:
        """The type of a schema; None when rules cannot see what it describes."""
        key = (id(schema), is_resource)
        if key not in self._types:
            # A schema of a built-in kind may contain itself.
            self._types[key] = self._unseen
            self._types[key] = self._build(schema, is_resource, name)
        return self._types[key]

    def _build(self, schema: Schema, is_resource: bool, name: str) -> Type | None:
        if schema.int_or_string:
            return DYN
        match schema.type:
            case "object":
                return self._object(schema, is_resource, name)
            case "array":
                return self._array(schema, name)
            case "string":
                return _STRINGS.get(schema.source.get("format", ""), STRING)
            case "number":
                return _NUMBER
            case other:
                return {"boolean": BOOL, "integer": INT}.get(other, self._unseen)

    def _object(self, schema: Schema, is_resource: bool, name: str) -> Type | None:
        if schema.additional is not None and schema.additional is not ANYTHING:
            value = self._child(schema.additional, f"{name}.@elem")
            return None if value is None else _map(value)
        properties = with_object_meta(schema) if is_resource else schema.properties
        fields: dict[str, Field] = {}
        for key, inner in properties.items():
            identifier = escape(key)
            kind = self._child(inner, f"{name}.{identifier}")
            if identifier and kind is not None:
                fields[identifier] = Field(key, kind)
        same = _object_equality({field.key: field.type for field in fields.values()})
        price = max((field.type.price for field in fields.values()), default=0)
        return Type(name, is_object=True, fields=fields, price=price, equal=same)

    def _array(self, schema: Schema, name: str) -> Type | None:
        item = None if schema.items is None else self._child(schema.items, f"{name}.@idx")
        if item is None:
            return None
        match schema.list_type:
            case "set":
                return Type("list", (item,), convert=_each(item), price=item.price, equal=_same_set, merge=_union)
            case "map":
                keys = schema.list_keys
                same, merge = _map_list_equality(item, keys), _map_list_merge(keys)
                return Type("list", (item,), convert=_each(item), price=item.price, equal=same, merge=merge)
            case _:
                return Type("list", (item,), convert=_each(item), price=item.price, equal=_list_equality(item))

    def _child(self, schema: Schema, name: str) -> Type | None:
        return self.of(schema, is_resource=schema.embedded, name=name)


def _reader(read: Callable[[str], Value], name: str) -> Convert:
    """The value a string of some format stands for. Raises CelError."""

    def convert(text: Value) -> Value:
        if text is None:
            return None
        try:
            return read(text)
        except (ValueError, TypeError, binascii.Error) as error:
            raise CelError(f"Invalid {name} {text}: {error}") from None

    return convert


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _double(number: Value) -> Value:
    return float(number) if type(number) is int else number


_READING = 50
"""What it costs to read a point or a span of time, or bytes, from text."""


def _scalar(base: Type, convert: Convert, price: int = _READING) -> Type:
    return Type(base.name, convert=convert, price=price)


_NUMBER = _scalar(DOUBLE, _double, 1)
TIMESTAMP_TEXT = _scalar(TIMESTAMP, _reader(times.loose_timestamp, "date-time formatted string"))
"""A point in time that lies in an object as text."""
_STRINGS = {
    "byte": _scalar(BYTES, _reader(_bytes, "byte formatted string")),
    "duration": _scalar(DURATION, _reader(times.loose_duration, "duration")),
    "date": _scalar(TIMESTAMP, _reader(times.day, "date formatted string")),
    "date-time": TIMESTAMP_TEXT,
}


def _each(item: Type) -> Convert | None:
    convert = item.convert
    if convert is None:
        return None
    return lambda values: None if values is None else [convert(value) for value in values]


def _map(value: Type) -> Type:
    convert = value.convert
    every: Convert | None = None
    if convert is not None:

        def every(mapping: Value) -> Value:
            return None if mapping is None else {key: convert(one) for key, one in mapping.items()}

    same = value.equal
    compare = None if same is None else _map_equality(same)
    return Type("map", (STRING, value), convert=every, price=value.price, equal=compare)


Same = Callable[[Value, Value], bool]


def _inner_equality(kind: Type) -> Same | None:
    """How two values are compared that lie unconverted inside an object; None when plainly."""
    convert, same = kind.convert, kind.equal or equal
    if convert is None:
        return kind.equal
    return lambda first, second: same(convert(first), convert(second))


def _object_equality(kinds: dict[str, Type]) -> Same | None:
    special = {key: same for key, kind in kinds.items() if (same := _inner_equality(kind)) is not None}
    if not special:
        return None

    def same_object(first: Value, second: Value) -> bool:
        if type(first) is not dict or type(second) is not dict or len(first) != len(second):
            return equal(first, second)
        return all(key in second and special.get(key, equal)(value, second[key]) for key, value in first.items())

    return same_object


def _map_equality(same: Same) -> Same:
    def same_map(first: Value, second: Value) -> bool:
        if type(first) is not dict or type(second) is not dict or len(first) != len(second):
            return equal(first, second)
        return all(key in second and same(value, second[key]) for key, value in first.items())

    return same_map


def _list_equality(item: Type) -> Same | None:
    """The items of a list are converted together with it, so only their own equality matters."""
    same = item.equal
    if same is None:
        return None

    def same_list(first: Value, second: Value) -> bool:
        if type(first) is not list or type(second) is not list or len(first) != len(second):
            return equal(first, second)
        return all(map(same, first, second))

    return same_list


def _same_set(first: Value, second: Value) -> bool:
    if type(first) is not list or type(second) is not list:
        return equal(first, second)
    return len(first) == len(second) and set(map(hashable, second)) <= set(map(hashable, first))


def _union(first: list[Value], second: list[Value]) -> list[Value]:
    known = set(map(hashable, first))
    return first + [one for one in second if hashable(one) not in known]


def _keys_of(keys: tuple[str, ...]) -> Callable[[Value], tuple[Value, ...]]:
    return lambda item: tuple(hashable(item.get(key)) for key in keys)


def _map_list_equality(item: Type, keys: tuple[str, ...]) -> Same:
    key_of, same = _keys_of(keys), item.equal or equal

    def same_items(first: Value, second: Value) -> bool:
        if type(first) is not list or type(second) is not list:
            return equal(first, second)
        known = {key_of(one): one for one in first}
        return len(first) == len(second) and all(
            key_of(one) in known and same(known[key_of(one)], one) for one in second
        )

    return same_items


def _map_list_merge(keys: tuple[str, ...]) -> Callable[[Value, Value], Value]:
    key_of = _keys_of(keys)

    def merge(first: list[Value], second: list[Value]) -> list[Value]:
        positions = {key_of(one): index for index, one in enumerate(first)}
        merged = list(first)
        for one in second:
            position = positions.get(key_of(one))
            if position is None:
                merged.append(one)
            else:
                merged[position] = one
        return merged

    return merge
