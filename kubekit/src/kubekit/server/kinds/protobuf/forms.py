"""The messages whose JSON is not made of their fields: times, quantities, raw JSON and the like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from ..builtin.data import NOTHING, Field
from .wire import Malformed

Members = dict[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)
"""Go's zero time, which JSON shows as null."""


@dataclass(frozen=True, slots=True)
class Form:
    """The fields a message has on the wire, and how they become JSON and back."""

    fields: tuple[Field, ...]
    to_json: Callable[[Members], Any]
    from_json: Callable[[Any], Members]


def _value(number: int, name: str, type_: str) -> Field:
    """A field that is always written."""
    return Field(name, number, type_, NOTHING)


def _optional(number: int, name: str, type_: str) -> Field:
    return Field(name, number, type_, NOTHING, pointer=True, omit_empty=True)


def wrapped_list(item: str) -> Form:
    """A list as the value of a map, which on the wire is a message with one repeated field."""
    items = Field("items", 1, f"[]{item}", NOTHING, omit_empty=True)
    return Form((items,), lambda members: members.get("items", []), lambda value: {"items": value})


def _moment(members: Members) -> datetime | None:
    if not members:
        return None
    # Like Go, which drops what is finer than a microsecond towards zero.
    microseconds = int(members.get("nanos", 0) / 1000)
    try:
        moment = _EPOCH + timedelta(seconds=members.get("seconds", 0), microseconds=microseconds)
    except OverflowError:
        raise Malformed(f"time {members.get('seconds', 0)} is out of range") from None
    return None if moment == _YEAR_ONE else moment


def _time_to_json(members: Members) -> str | None:
    # A Time has whole seconds only, whatever a client sends.
    moment = _moment({**members, "nanos": 0}) if members else None
    return f"{moment.isoformat()[:19]}Z" if moment else None


def _micro_time_to_json(members: Members) -> str | None:
    moment = _moment(members)
    return f"{moment.isoformat(timespec='microseconds')[:26]}Z" if moment else None


def _time_from_json(value: str | None) -> Members:
    if value is None:
        return {}
    since = datetime.fromisoformat(value).replace(microsecond=0) - _EPOCH
    return {"seconds": since // timedelta(seconds=1), "nanos": 0}


def _micro_time_from_json(value: str | None) -> Members:
    if value is None:
        return {}
    return {**_time_from_json(value), "nanos": datetime.fromisoformat(value).microsecond * 1000}


def _int_or_string_to_json(members: Members) -> int | str:
    match members["type"]:
        case 0:
            return int(members["intVal"])
        case 1:
            return str(members["strVal"])
    raise Malformed(f"impossible IntOrString.Type {members['type']}")


def _int_or_string_from_json(value: int | str | None) -> Members:
    if isinstance(value, str):
        return {"type": 1, "intVal": 0, "strVal": value}
    return {"type": 0, "intVal": value or 0, "strVal": ""}


def parse_json(raw: bytes) -> Any:
    """The value of JSON that is embedded as bytes; null when there are none."""
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Malformed(f"invalid JSON inside the message: {error}") from None


def _raw_to_json(members: Members) -> Any:
    return parse_json(members.get("raw", b""))


def _raw_from_json(value: Any) -> Members:
    return {} if value is None else {"raw": msgspec.json.encode(value)}


def _schema_or_bool_from_json(value: Any) -> Members:
    return {"allows": True, "schema": value} if isinstance(value, Mapping) else {"allows": bool(value)}


def _schema_or(listed: str) -> Form:
    """One schema, or a list of something."""
    item = "apiextensions.v1.JSONSchemaProps" if listed == "schemas" else "string"
    fields = (
        _optional(1, "schema", "apiextensions.v1.JSONSchemaProps"),
        Field(listed, 2, f"[]{item}", NOTHING, omit_empty=True),
    )
    return Form(
        fields,
        lambda members: members.get(listed) or members.get("schema"),
        lambda value: {"schema" if isinstance(value, Mapping) else listed: value},
    )


_TIMESTAMP = (_optional(1, "seconds", "int64"), _optional(2, "nanos", "int32"))
_RAW = Form((_optional(1, "raw", "raw"),), _raw_to_json, _raw_from_json)

FORMS: Mapping[str, Form] = {
    "meta.v1.Time": Form(_TIMESTAMP, _time_to_json, _time_from_json),
    "meta.v1.MicroTime": Form(_TIMESTAMP, _micro_time_to_json, _micro_time_from_json),
    "meta.v1.FieldsV1": _RAW,
    "pkg.runtime.RawExtension": _RAW,
    "apiextensions.v1.JSON": _RAW,
    "api.resource.Quantity": Form(
        (_value(1, "string", "string"),),
        lambda members: members["string"] or "0",
        lambda value: {"string": "0" if value is None else str(value)},
    ),
    "util.intstr.IntOrString": Form(
        (_value(1, "type", "int64"), _value(2, "intVal", "int32"), _value(3, "strVal", "string")),
        _int_or_string_to_json,
        _int_or_string_from_json,
    ),
    "apiextensions.v1.JSONSchemaPropsOrBool": Form(
        (_value(1, "allows", "bool"), _optional(2, "schema", "apiextensions.v1.JSONSchemaProps")),
        lambda members: members.get("schema", members["allows"]),
        _schema_or_bool_from_json,
    ),
    "apiextensions.v1.JSONSchemaPropsOrArray": _schema_or("schemas"),
    "apiextensions.v1.JSONSchemaPropsOrStringArray": _schema_or("property"),
}
