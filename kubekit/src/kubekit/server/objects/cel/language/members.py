"""Members of objects, entries of maps and elements of lists."""

from __future__ import annotations

from ..library.standard import MISSING, find_key
from .budget import Frame, charge, weight
from .typesystem import Type
from .values import NONE, CelError, Optional, UInt, Value, type_name


def converted(frame: Frame, value: Value, kind: Type) -> Value:
    """What CEL sees of a value that lies in the data. Raises CelError and CostExceeded."""
    if kind.convert is None:
        return value
    charge(frame, kind.price * weight(value))
    return kind.convert(value)


def _find(frame: Frame, base: Value, name: str, kind: Type) -> Value:
    """The member of an object or entry of a map, MISSING when there is none."""
    if type(base) is not dict:
        return MISSING
    if not kind.is_object:
        return base.get(name, MISSING)
    field = kind.fields[name]
    value = base.get(field.key)
    if value is None:
        return MISSING
    return converted(frame, value, field.type)


def entry(frame: Frame, base: Value, name: str, kind: Type) -> Value:
    """`base.name` where base is a map, of unknown type, or optional. Raises CelError."""
    if type(base) is Optional:
        return optional_entry(frame, base, name, kind)
    value = _find(frame, base, name, kind)
    if value is MISSING:
        raise CelError("no such key: ", name)
    return value


def optional_entry(frame: Frame, base: Value, name: str, kind: Type) -> Optional:
    if type(base) is Optional:
        if not base.is_present:
            return NONE
        base = base.value
    inner = kind.params[0] if kind.name == "optional_type" else kind
    value = _find(frame, base, name, inner)
    return NONE if value is MISSING else Optional(value)


def has_entry(frame: Frame, base: Value, name: str, kind: Type) -> bool:
    if type(base) is Optional:
        return optional_entry(frame, base, name, kind).is_present
    return _find(frame, base, name, kind) is not MISSING


def element(base: Value, index: Value) -> Value:
    """`base[index]`. Raises CelError."""
    if type(base) is list:
        return base[_position(base, index)]
    if type(base) is dict:
        value = find_key(base, index)
        if value is MISSING:
            raise CelError("no such key: ", index)
        return value
    if type(base) is Optional:
        return optional_element(base, index)
    raise CelError("no such key: ", index)


def _position(values: list[Value], index: Value) -> int:
    at = _place(values, index)
    if at is not None:
        return at
    if type(index) in (int, UInt, float):
        raise CelError(f"index out of bounds: {index}")
    raise CelError(f"unsupported index type '{type_name(index)}' in list")


def _place(values: list[Value], index: Value) -> int | None:
    """Where in a list an index points; None when nowhere."""
    whole = type(index) in (int, UInt) or (type(index) is float and index.is_integer())
    return int(index) if whole and 0 <= index < len(values) else None


def optional_element(base: Value, index: Value) -> Optional:
    if type(base) is Optional:
        if not base.is_present:
            return NONE
        base = base.value
    if type(base) is dict:
        value = find_key(base, index)
        return NONE if value is MISSING else Optional(value)
    if type(base) is not list:
        raise CelError("no such overload")
    at = _place(base, index)
    return NONE if at is None else Optional(base[at])
