"""Objects of built-in kinds as Go would decode them: typed, without nulls, unknown fields set aside."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from butler.kube import quantity

from .inlined import go_path
from .model import Schema
from .shape import Check, is_opaque, is_quantity, is_schema_union, typed_shape
from .times import micro_text, second_text

_BASE64 = frozenset(string.ascii_letters + string.digits + "+/")
_UNBROKEN_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}").fullmatch
TYPE_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
"""The Go type into which what an object says about its own type is read."""
_ZERO: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}
_NAMED_STRINGS = {
    "ObjectMeta.uid": "types.UID",
    "OwnerReference.uid": "types.UID",
    "ServiceSpec.type": "v1.ServiceType",
    "ServicePort.protocol": "v1.Protocol",
    "ContainerPort.protocol": "v1.Protocol",
    "Container.imagePullPolicy": "v1.PullPolicy",
    "PodSpec.restartPolicy": "v1.RestartPolicy",
    "PodSpec.dnsPolicy": "v1.DNSPolicy",
    "Secret.type": "v1.SecretType",
    "DeploymentStrategy.type": "v1.DeploymentStrategyType",
}
"""Fields whose Go type is a string with a name of its own, which messages mention; the most frequent ones."""


class Malformed(ValueError):
    """A value cannot be what its field holds; the message is Go's."""


class _Refused(Malformed):
    """A type that decodes itself refuses a value. Go stops there, while it only notes the first wrong type."""


def decode(value: dict[str, Any], schema: Schema) -> list[str]:
    """Bring an object into the shape of its built-in kind, in place; answers the paths of unknown fields.

    Unknown fields and nulls are dropped, times are brought to UTC. Raises Malformed for a wrong type."""
    if _shape(schema)(value):
        return []
    decoder = _Decoder()
    decoder.struct(value, schema, "", "")
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
    """Walks a value along its schema. `path` leads to a place in the object, `field` names it as Go does."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.first_problem: Malformed | None = None
        self._schema: Schema | None = None
        """The schema of schemas, once one has been met."""

    def struct(self, value: dict[str, Any], schema: Schema, path: str, field: str) -> None:
        owner = schema.name.rpartition(".")[2]
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
                shown = go_path(owner, name)
                where = f"{field}.{shown}" if field else shown
                value[name] = self._value(value[name], below, inner, (owner, where))

    def _value(self, value: Any, schema: Schema, path: str, field: tuple[str, str]) -> Any:
        try:
            return self._decoded(value, schema, path, field)
        except _Refused:
            raise
        except Malformed as problem:
            self.first_problem = self.first_problem or problem
            return value

    def _decoded(self, value: Any, schema: Schema, path: str, field: tuple[str, str]) -> Any:
        if is_quantity(schema):
            return _quantity(value)
        if schema.int_or_string:
            return _int_or_string(value, schema, field)
        if is_schema_union(schema):
            return self._schema_union(value, schema)
        if is_opaque(schema):
            return value
        if schema.properties:
            if not isinstance(value, dict):
                raise _mismatch(value, schema, field)
            self.struct(value, schema, path, field[1])
            return value
        if schema.type == "array" or schema.additional is not None:
            return self._collection(value, schema, path, field)
        return _scalar(value, schema, field)

    def _schema_union(self, value: Any, schema: Schema) -> Any:
        """A schema inside a schema, or what may stand in its place. Go does not look for unknown fields there."""
        union = schema.name.rpartition(".JSONSchemaProps")[2]
        if isinstance(value, dict) and self._schema is not None:
            inner = _Decoder()
            inner.struct(value, self._schema, "", "")
            self.first_problem = self.first_problem or inner.first_problem
            return value
        if isinstance(value, list) and union == "OrArray":
            return [self._schema_union(item, schema) for item in value]
        if isinstance(value, bool) and union == "OrBool":
            return value
        if isinstance(value, list) and union == "OrStringArray" and all(isinstance(item, str) for item in value):
            return value
        raise _Refused(f"json: cannot unmarshal {go_kind(value)} into Go value of type v1.JSONSchemaProps")

    def _collection(self, value: Any, schema: Schema, path: str, field: tuple[str, str]) -> Any:
        items = schema.items if schema.type == "array" else schema.additional
        if not isinstance(value, list if schema.type == "array" else dict):
            raise _mismatch(value, schema, field)
        if items is None:
            return value
        places = enumerate(value) if isinstance(value, list) else list(value.items())
        for key, item in places:
            inner = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}"
            value[key] = _zero(items) if item is None else self._value(item, items, inner, field)
        return value


def _zero(schema: Schema) -> Any:
    """What null becomes as an item of a list or map."""
    if is_quantity(schema):
        return "0"
    if schema.type == "array" or not (schema.type or schema.properties):
        return None
    return _ZERO.get(schema.type, {})


def _scalar(value: Any, schema: Schema, field: tuple[str, str]) -> Any:
    form = schema.source.get("format", "")
    fits: Callable[[Any], bool] = {
        "string": lambda one: isinstance(one, str),
        "boolean": lambda one: isinstance(one, bool),
        "integer": lambda one: _fits(one, 31 if form == "int32" else 63),
        "number": lambda one: isinstance(one, (int, float)) and not isinstance(one, bool),
    }.get(schema.type, lambda _: True)
    if not fits(value):
        problem = _mismatch(value, schema, field)
        raise _Refused(str(problem)) if form == "date-time" else problem
    if form == "byte" and (wrong := _wrong_base64(value)) is not None:
        raise Malformed(f"illegal base64 data at input byte {wrong}")
    return _time(value, schema) if form == "date-time" else value


def _time(value: str, schema: Schema) -> str:
    try:
        return micro_text(value) if schema.name.endswith(".MicroTime") else second_text(value)
    except ValueError as error:
        raise _Refused(str(error)) from error


def _int_or_string(value: Any, schema: Schema, field: tuple[str, str]) -> Any:
    if isinstance(value, str) or _fits(value, 31):
        return value
    raise _Refused(str(_mismatch(value, schema, field)))


def _quantity(value: Any) -> Any:
    text = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    try:
        quantity.parse(text if isinstance(text, str) else "")
    except ValueError as error:
        raise _Refused(str(error)) from error
    return text


def _fits(value: Any, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << bits) <= value < 1 << bits


def _mismatch(value: Any, schema: Schema, field: tuple[str, str]) -> Malformed:
    owner, where = field
    wanted = _NAMED_STRINGS.get(f"{owner}.{where.rpartition('.')[2]}") or go_type(schema)
    found = go_kind(value)
    if found == "number" and wanted.startswith("int"):
        found = f"number {value!r}"
    return Malformed(f"json: cannot unmarshal {found} into Go struct field {owner}.{where} of type {wanted}")


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
