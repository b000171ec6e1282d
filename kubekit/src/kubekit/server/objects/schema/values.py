"""JSON values as Go sees and prints them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def type_and_format(value: Any) -> tuple[str, str]:
    """The OpenAPI type and format that Kubernetes infers from a value that is not null."""
    if isinstance(value, bool):
        return "boolean", ""
    if isinstance(value, str):
        return "string", ""
    if isinstance(value, int) and INT64_MIN <= value <= INT64_MAX:
        return "integer", "int64"
    if isinstance(value, (int, float)):
        return "number", "float64"
    return ("array", "") if isinstance(value, list) else ("object", "")


def json_equal(one: Any, two: Any) -> bool:
    """Equality that tells true from 1 and 1 from 1.0, as Go does."""
    if type(one) is not type(two):
        return False
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(json_equal(value, two[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(two) and all(map(json_equal, one, two))
    return bool(one == two)


def copy_json(value: Any) -> Any:
    """A copy that shares no container with the original."""
    if isinstance(value, dict):
        return {key: copy_json(member) for key, member in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    return value


def in_key_order(value: Any) -> Any:
    """A value with the members of all objects in order, as Go prints maps."""
    if isinstance(value, dict):
        return {key: in_key_order(value[key]) for key in sorted(value)}
    return [in_key_order(item) for item in value] if isinstance(value, list) else value


def go_json(value: Any) -> str:
    """A value as Go writes it in JSON: keys in order, no spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def go_json_of_much(value: Any) -> str:
    """The same step by step, for whoever works beside the event loop."""
    return "".join(_in_steps.iterencode(value))


_in_steps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def go_quoted(text: str) -> str:
    """A string in Go's `%q`."""
    return json.dumps(text, ensure_ascii=False)


def go_float(value: float) -> str:
    """A float64 in Go's `%v`: the shortest digits, with an exponent below 1e-4 and from 1e6 on."""
    shortest = f"{value:e}" if value == 0 else f"{Decimal(repr(float(value))).normalize():e}"
    mantissa, _, power = shortest.partition("e")
    exponent = int(power)
    if value == 0 or -4 <= exponent < 6:
        return f"{Decimal(repr(float(value))).normalize():f}"
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
