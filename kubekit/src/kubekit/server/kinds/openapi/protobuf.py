"""OpenAPI v2 as the protobuf message that Go clients decode fastest (gnostic's `openapi.v2.Document`)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

Encoder = Callable[[Any], Iterable[bytes]]
"""From a value to the payloads of its field: one, or one for each item of a repeated field."""
Fields = Mapping[str, tuple[int, Encoder]]


def swagger_message(document: Mapping[str, Any]) -> bytes:
    """The message of a Swagger document."""
    return _message(_DOCUMENT, 16)(document)


def _varint(number: int) -> bytes:
    found = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def _block(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _text(value: Any) -> Iterable[bytes]:
    return (_block(str(value).encode()),)


def _texts(values: Any) -> Iterable[bytes]:
    return [_block(value.encode()) for value in values]


def _number(value: Any) -> Iterable[bytes]:
    return (_varint(int(value)),)


def _double(value: Any) -> Iterable[bytes]:
    return (struct.pack("<d", float(value)),)


def _any(value: Any) -> Iterable[bytes]:
    """JSON is YAML, which is what the `Any` of this message holds."""
    return (_block(_field(2, _text, msgspec.json.encode(value).decode())),)


def _anys(values: Any) -> Iterable[bytes]:
    return [payload for value in values for payload in _any(value)]


_WIRE_TYPES: dict[Any, int] = {_number: 0, _double: 1}


def _field(number: int, encode: Encoder, value: Any) -> bytes:
    key = _varint(number << 3 | _WIRE_TYPES.get(encode, 2))
    return b"".join(key + payload for payload in encode(value))


def _message(fields: Fields, extensions: int = 0) -> Callable[[Mapping[str, Any]], bytes]:
    """Encodes an object by its fields; keys that start with `x-` go into the field `extensions`."""

    def encode(value: Mapping[str, Any]) -> bytes:
        parts = []
        for key, member in value.items():
            known = fields.get(key)
            if known is not None:
                parts.append(_field(*known, member))
            elif extensions and key.startswith("x-"):
                parts.append(_field(extensions, _named(_any), {key: member}))
        return b"".join(parts)

    return encode


def _one(encode: Callable[[Any], bytes]) -> Encoder:
    return lambda value: (_block(encode(value)),)


def _each(encode: Callable[[Any], bytes]) -> Encoder:
    return lambda values: [_block(encode(value)) for value in values]


def _named(encode: Encoder) -> Encoder:
    """A map as a list of pairs."""
    return lambda members: [
        _block(_field(1, _text, name) + _field(2, encode, value)) for name, value in members.items()
    ]


def _within(number: int, encode: Encoder) -> Encoder:
    """A message that does nothing but wrap another."""
    return lambda value: (_block(_field(number, encode, value)),)


def _schema(value: Any) -> bytes:
    return _message(_SCHEMA, 31)(value)


def _additional(value: Any) -> Iterable[bytes]:
    if isinstance(value, bool):
        return (_block(_field(2, _number, value)),)
    return (_block(_field(1, _one(_schema), value)),)


def _type(value: Any) -> Iterable[bytes]:
    return (_block(_field(1, _text, value)),)


_SCHEMA: Fields = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "multipleOf": (6, _double),
    "maximum": (7, _double),
    "exclusiveMaximum": (8, _number),
    "minimum": (9, _double),
    "exclusiveMinimum": (10, _number),
    "maxLength": (11, _number),
    "minLength": (12, _number),
    "pattern": (13, _text),
    "maxItems": (14, _number),
    "minItems": (15, _number),
    "uniqueItems": (16, _number),
    "maxProperties": (17, _number),
    "minProperties": (18, _number),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _additional),
    "type": (22, _type),
    "items": (23, _within(1, _one(_schema))),
    "allOf": (24, _each(_schema)),
    "properties": (25, _within(1, _named(_one(_schema)))),
    "example": (30, _any),
}
_BODY: Fields = {"name": (2, _text), "in": (3, _text), "required": (4, _number), "schema": (5, _one(_schema))}
_QUERY: Fields = {
    "required": (1, _number),
    "in": (2, _text),
    "name": (4, _text),
    "type": (6, _text),
    "uniqueItems": (20, _number),
}
_IN_PATH: Fields = {
    "required": (1, _number),
    "in": (2, _text),
    "name": (4, _text),
    "type": (5, _text),
    "uniqueItems": (19, _number),
}


def _parameter(value: Any) -> bytes:
    if value["in"] == "body":
        return _field(1, _within(1, _one(_message(_BODY))), value)
    number, fields = (4, _IN_PATH) if value["in"] == "path" else (3, _QUERY)
    return _field(1, _within(2, _within(number, _one(_message(fields)))), value)


_RESPONSE: Fields = {"description": (1, _text), "schema": (2, _within(1, _one(_schema)))}
_OPERATION: Fields = {
    "tags": (1, _texts),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _each(_parameter)),
    "responses": (9, _within(1, _named(_within(1, _one(_message(_RESPONSE)))))),
    "schemes": (10, _texts),
}
_OPERATION_MESSAGE = _one(_message(_OPERATION, 13))
_PATH: Fields = {
    "get": (2, _OPERATION_MESSAGE),
    "put": (3, _OPERATION_MESSAGE),
    "post": (4, _OPERATION_MESSAGE),
    "delete": (5, _OPERATION_MESSAGE),
    "patch": (8, _OPERATION_MESSAGE),
    "parameters": (9, _each(_parameter)),
}
_DOCUMENT: Fields = {
    "swagger": (1, _text),
    "info": (2, _one(_message({"title": (1, _text), "version": (2, _text)}))),
    "paths": (8, _within(2, _named(_one(_message(_PATH))))),
    "definitions": (9, _within(1, _named(_one(_schema)))),
}
