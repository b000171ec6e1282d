"""Fields that no schema mentions, and nulls where null is not allowed: both leave the object."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from . import embedded
from .decoding import Malformed
from .model import ANYTHING, MISSING, Schema
from .shape import META_FIELDS, Check, custom_shape
from .values import INT64_MAX, INT64_MIN


def prune(value: Any, schema: Schema, path: str = "", *, keeps_nulls: bool = False) -> list[str]:
    """Remove, in place, what the schema does not know; answers the paths of the removed fields, in order.

    Numbers become what Go reads them as.

    A value without a path is a whole object: its apiVersion, kind and metadata stay, whatever the schema says.
    Metadata of embedded objects is decoded as well. Raises Malformed when it cannot be.
    """
    unknown: list[str] = []
    if not _shape(schema, not path)(value):
        _prune(value, schema, path, unknown, keeps_meta=not path)
        if not keeps_nulls:
            _drop_nulls(value, schema)
        _round_numbers(value)
        unknown.sort()
    inner = embedded.objects(schema)
    try:
        return unknown + embedded.decode(value, inner, path) if inner else unknown
    except embedded.MalformedObject as error:
        raise Malformed(str(error)) from error


def prune_fields(value: Any, schema: Schema) -> None:
    """Only remove, in place, the fields the schema does not know."""
    _prune(value, schema, "", [])


@lru_cache(maxsize=4096)
def _shape(schema: Schema, root: bool) -> Check:
    return custom_shape(schema, root=root)


def _prune(
    value: Any,
    schema: Schema | None,
    path: str,
    unknown: list[str],
    *,
    keeps_meta: bool = False,
    keeps_all: bool = False,
) -> None:
    keeps_all = keeps_all or (schema is not None and schema.preserve_unknown)
    if isinstance(value, dict):
        keeps_meta = keeps_meta or (schema is not None and schema.embedded)
        for name in list(value):
            if keeps_meta and name in META_FIELDS:
                continue
            inner = f"{path}.{name}" if path else name
            known, below = _member(schema, name)
            if known:
                _prune(value[name], below, inner, unknown)
            elif not keeps_all:
                unknown.append(inner)
                del value[name]
    elif isinstance(value, list):
        items = schema.items if schema is not None else None
        for index, item in enumerate(value):
            # A list that keeps everything hands that on to its items.
            _prune(item, items, f"{path}[{index}]", unknown, keeps_all=keeps_all)


def _member(schema: Schema | None, name: str) -> tuple[bool, Schema | None]:
    """Whether a member is known, and its schema.

    With a yes or no in `additionalProperties` members are known, but not what is in them; a no is for validation."""
    if schema is None:
        return False, None
    if name in schema.properties:
        return True, schema.properties[name]
    known = schema.additional is not None or schema.source.get("additionalProperties") is False
    return known, None if schema.additional is ANYTHING else schema.additional


def _drop_nulls(value: Any, schema: Schema | None) -> None:
    """Null is dropped where it is not allowed, unless a default takes its place."""
    if isinstance(value, dict):
        for name in list(value):
            below = _member(schema, name)[1]
            if value[name] is None and below is not None and not below.nullable and _has_no_default(below):
                del value[name]
            else:
                _drop_nulls(value[name], below)
    elif isinstance(value, list):
        below = schema.items if schema is not None else None
        for item in value:
            _drop_nulls(item, below)


def _round_numbers(value: Any) -> None:
    """Go reads an integer of more than 64 bits as a floating-point number."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, one in list(places):
        if isinstance(one, int) and not INT64_MIN <= one <= INT64_MAX:
            value[place] = float(one)
        else:
            _round_numbers(one)


def _has_no_default(schema: Schema) -> bool:
    return schema.default is MISSING or schema.default is None
