"""Objects of built-in kinds as Go would decode them: typed, without nulls, unknown fields set aside."""

from __future__ import annotations

import re
import string
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kubekit.model import quantity

from ..go.times import micro_text, second_text
from .model import GO_FIELDS, Schema
from .shape import Check, is_opaque, is_quantity, is_schema_union, typed_shape

_BASE64 = frozenset(string.ascii_letters + string.digits + "+/")
_UNBROKEN_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}").fullmatch
TYPE_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
"""The Go type into which what an object says about its own type is read."""
_ZERO: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}
_PLAIN = ("", "")


@dataclass(frozen=True, slots=True)
class GoField:
    """A field as Go's messages name it."""

    owner: str = ""
    """The struct it belongs to."""
    path: str = ""
    type: str = ""
    """Its Go type, empty when its schema tells."""

    @property
    def item(self) -> GoField:
        """An item or a value of what stands there."""
        of_what = self.type.removeprefix("[]") if self.type.startswith("[]") else self.type.partition("]")[2]
        return GoField(self.owner, self.path, of_what)


class Malformed(ValueError):
    """A value cannot be what its field holds; the message is what Go says decoding it, `converting` converting it."""

    def __init__(self, problem: str, converting: str = "") -> None:
        super().__init__(problem)
        self.converting = converting or problem


class _Refused(Malformed):
    """A type that decodes itself refuses a value. Go stops there, while it only notes the first wrong type."""


def decode(value: dict[str, Any], schema: Schema) -> list[str]:
    """Bring an object into the shape of its built-in kind, in place; answers the paths of unknown fields.

    Unknown fields and nulls are dropped, times are brought to UTC. Raises Malformed for a wrong type."""
    if _shape(schema)(value):
        return []
    decoder = _Decoder()
    decoder.struct(value, schema, "", GoField())
    if decoder.first_problem:
        raise decoder.first_problem
    return decoder.unknown


@lru_cache(maxsize=1024)
def _shape(schema: Schema) -> Check:
    checks = {
        "byte": _is_base64,
        "date-time": _is_stored_as_is(second_text),
        "micro-time": _is_stored_as_is(micro_text),
        "quantity": quantity.is_quantity,
    }
    return typed_shape(schema, checks)


class _Decoder:
    """Walks a value along its schema. `path` leads to a place in the object, `place` names it as Go does."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.first_problem: Malformed | None = None
        self._schema: Schema | None = None
        """The schema of schemas, once one has been met."""

    def struct(self, value: dict[str, Any], schema: Schema, path: str, place: GoField) -> None:
        owner = schema.name.rpartition(".")[2]
        go_fields = schema.source.get(GO_FIELDS, {})
        if owner == "JSONSchemaProps":
            self._schema = schema
        for name in list(value):
            below = schema.properties.get(name)
            inner = f"{path}.{name}" if path else name
            if below is None:
                self.unknown.append(inner)
                del value[name]
            elif value[name] is None:
                del value[name]
            else:
                embedded, go_name = go_fields.get(name, _PLAIN)
                where = f"{place.path}.{embedded}{name}" if place.path else f"{embedded}{name}"
                value[name] = self._value(value[name], below, inner, GoField(owner, where, go_name))

    def _value(self, value: Any, schema: Schema, path: str, place: GoField) -> Any:
        try:
            return self._decoded(value, schema, path, place)
        except _Refused:
            raise
        except Malformed as problem:
            self.first_problem = self.first_problem or problem
            return value

    def _decoded(self, value: Any, schema: Schema, path: str, place: GoField) -> Any:
        if is_quantity(schema):
            return _quantity(value)
        if schema.int_or_string:
            return _int_or_string(value, schema, place)
        if is_schema_union(schema):
            return self._schema_union(value, schema, place)
        if is_opaque(schema):
            return value
        if schema.properties:
            if not isinstance(value, dict):
                raise _mismatch(value, schema, place)
            self.struct(value, schema, path, place)
            return value
        if schema.type == "array" or schema.additional is not None:
            return self._collection(value, schema, path, place)
        return _scalar(value, schema, place)

    def _schema_union(self, value: Any, schema: Schema, place: GoField) -> Any:
        """A schema inside a schema, or what may stand in its place. Go does not look for unknown fields there."""
        union = schema.name.rpartition(".JSONSchemaProps")[2]
        if isinstance(value, dict) and self._schema is not None:
            inner = _Decoder()
            inner.struct(value, self._schema, "", place)
            self.first_problem = self.first_problem or inner.first_problem
            return value
        if isinstance(value, list) and union == "OrArray":
            return [self._schema_union(item, schema, place) for item in value]
        if isinstance(value, bool) and union == "OrBool":
            return value
        if isinstance(value, list) and union == "OrStringArray" and all(isinstance(item, str) for item in value):
            return value
        raise _Refused(f"json: cannot unmarshal {go_kind(value)} into Go value of type v1.JSONSchemaProps")

    def _collection(self, value: Any, schema: Schema, path: str, place: GoField) -> Any:
        items = schema.items if schema.type == "array" else schema.additional
        if not isinstance(value, list if schema.type == "array" else dict):
            raise _mismatch(value, schema, place)
        if items is None:
            return value
        places = enumerate(value) if isinstance(value, list) else list(value.items())
        for key, item in places:
            inner = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}"
            value[key] = _zero(items) if item is None else self._value(item, items, inner, place.item)
        return value


def _zero(schema: Schema) -> Any:
    """What null becomes as an item of a list or map."""
    if is_quantity(schema):
        return "0"
    if schema.type == "array" or not (schema.type or schema.properties):
        return None
    return _ZERO.get(schema.type, {})


def _scalar(value: Any, schema: Schema, place: GoField) -> Any:
    form = schema.source.get("format", "")
    fits: Callable[[Any], bool] = {
        "string": lambda one: isinstance(one, str),
        "boolean": lambda one: isinstance(one, bool),
        "integer": lambda one: _fits(one, 31 if form == "int32" else 63),
        "number": lambda one: isinstance(one, (int, float)) and not isinstance(one, bool),
    }.get(schema.type, lambda _: True)
    if form == "byte" and isinstance(value, list):
        return _bytes(value, place)
    if not fits(value):
        problem = _mismatch(value, schema, place)
        raise _Refused(str(problem)) if form == "date-time" else problem
    if form == "byte" and (wrong := _wrong_base64(value)) is not None:
        what = f"illegal base64 data at input byte {wrong}"
        raise Malformed(what, f"error decoding from json: {what}")
    return _time(value, schema) if form == "date-time" else value


def _bytes(numbers: list[Any], place: GoField) -> str:
    """Go takes the bytes one by one as well."""
    for number in numbers:
        if number is not None and not (_fits(number, 8) and number >= 0):
            raise Malformed(_unmarshal(_found(number), place, "uint8"))
    return b64encode(bytes(number or 0 for number in numbers)).decode()


def _time(value: str, schema: Schema) -> str:
    try:
        return micro_text(value) if schema.name.endswith(".MicroTime") else second_text(value)
    except ValueError as error:
        raise _Refused(str(error)) from error


def _int_or_string(value: Any, schema: Schema, place: GoField) -> Any:
    if isinstance(value, str) or _fits(value, 31):
        return value
    converting = f"json: cannot unmarshal {_found(value)} into Go value of type int32"
    raise _Refused(str(_mismatch(value, schema, place)), converting)


def _quantity(value: Any) -> Any:
    text = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    try:
        quantity.parse(text if isinstance(text, str) else "")
    except ValueError as error:
        raise _Refused(str(error)) from error
    return text


def _fits(value: Any, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << bits) <= value < 1 << bits


def _mismatch(value: Any, schema: Schema, place: GoField) -> Malformed:
    wanted = place.type or go_type(schema)
    is_whole = wanted.startswith("int")
    found = _found(value) if is_whole else go_kind(value)
    return Malformed(_unmarshal(found, place, wanted), f"cannot convert float64 to {wanted}" if is_whole else "")


def _unmarshal(found: str, place: GoField, wanted: str) -> str:
    return f"json: cannot unmarshal {found} into Go struct field {place.owner}.{place.path} of type {wanted}"


def _found(value: Any) -> str:
    """What stands where a whole number should."""
    kind = go_kind(value)
    return f"number {value!r}" if kind == "number" else kind


def go_kind(value: Any) -> str:
    """What Go's decoder calls a JSON value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def go_type(schema: Schema) -> str:
    """The Go type of a place, as error messages show it."""
    if schema.int_or_string:
        return "int32"
    if schema.type == "array":
        return f"[]{go_type(schema.items)}" if schema.items else "[]interface {}"
    if schema.properties or is_quantity(schema):
        return ".".join(schema.name.split(".")[-2:])
    if schema.additional is not None:
        return f"map[string]{go_type(schema.additional)}"
    form = schema.source.get("format", "")
    known = {"string": "[]uint8" if form == "byte" else "string", "boolean": "bool", "number": "float64"}
    return known.get(schema.type, form or "int64" if schema.type == "integer" else "interface {}")


def _is_stored_as_is(stored: Callable[[str], str]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return stored(text) == text
        except ValueError:
            return False

    return check


def _is_base64(text: str) -> bool:
    # Secrets are long, and nearly always without line breaks.
    return (len(text) % 4 == 0 and _UNBROKEN_BASE64(text) is not None) or _wrong_base64(text) is None


def _wrong_base64(text: str) -> int | None:
    """Where Go finds that a text is not base64; line breaks do not matter."""
    filled = 0
    places = [(index, char) for index, char in enumerate(text) if char not in "\r\n"]
    for place, (index, char) in enumerate(places):
        if char in _BASE64:
            filled = (filled + 1) % 4
        elif char != "=" or filled < 2:
            return index
        else:
            return _wrong_padding(text, places[place + 1 :], 4 - filled)
    return len(text) - filled if filled else None


def _wrong_padding(text: str, rest: list[tuple[int, str]], missing: int) -> int | None:
    """The same for what follows the first `=`, of which there must be as many as are `missing`."""
    if missing == 2:
        if not rest:
            return len(text)
        if rest[0][1] != "=":
            return rest[0][0]
        rest = rest[1:]
    return rest[0][0] if rest else None
