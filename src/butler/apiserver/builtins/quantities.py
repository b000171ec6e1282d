"""Resource quantities (`100m`, `1Gi`): read, compare and write them in their one canonical spelling."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from butler.errors import BadRequest

from ..resources import Object

_PARTS = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)([eEinumkKMGTP]*[-+]?[0-9]*)").fullmatch
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)").fullmatch
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX = {power: suffix for suffix, power in _BINARY.items()}
_EXACT = Context(prec=60)
_NANO, _MILLI = Decimal("1e-9"), Decimal("1e-3")

MALFORMED = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@lru_cache(maxsize=4096)
def amount(text: str) -> Decimal:
    """The number a quantity stands for. Raises ValueError when it is none."""
    return _read(text)[0]


@lru_cache(maxsize=4096)
def canonical(text: str, smallest: Decimal = _NANO) -> str:
    """The spelling Kubernetes stores. Raises ValueError when it is no quantity."""
    value, style = _read(text)
    value = value.quantize(smallest, ROUND_UP, _EXACT) if value % smallest else value
    if not value:
        return "0"
    if style == "binary" and abs(value) >= 1024 and value == value.to_integral_value():
        return _binary(int(value))
    return _decimal(value, style)


def _read(text: str) -> tuple[Decimal, str]:
    parts = _PARTS(text)
    if not parts:
        raise ValueError(MALFORMED)
    sign, digits, suffix = parts.groups()
    number = Decimal(sign + digits)
    if suffix in _DECIMAL:
        return number.scaleb(_DECIMAL[suffix], _EXACT), "decimal"
    if suffix in _BINARY:
        return _EXACT.multiply(number, Decimal(1024 ** _BINARY[suffix])), "binary"
    exponent = _EXPONENT(suffix)
    if not exponent:
        raise ValueError("unable to parse quantity's suffix")
    return number.scaleb(int(exponent[1]), _EXACT), "exponent"


def _binary(value: int) -> str:
    power = 0
    while value % 1024 == 0 and power < 6:
        value, power = value // 1024, power + 1
    return f"{value}{_BINARY_SUFFIX.get(power, '')}"


def _decimal(value: Decimal, style: str) -> str:
    sign, digits, exponent = value.normalize(_EXACT).as_tuple()
    assert isinstance(exponent, int)
    spare = exponent % 3
    whole = "".join(map(str, digits)) + "0" * spare
    power = exponent - spare
    if style == "exponent":
        suffix = f"e{power}" if power else ""
    else:
        suffix = _DECIMAL_SUFFIX.get(power, f"e{power}")
    return f"{'-' if sign else ''}{whole}{suffix}"


def whole(text: str) -> int:
    """A quantity as a whole number, rounded up as Kubernetes does."""
    return int(amount(text).to_integral_value(ROUND_CEILING))


def settle(obj: Object, holder: Object | None, *names: str) -> None:
    """Write the quantities in the maps `names` of `holder` canonically, in place, rounded up to thousandths."""
    if not holder:
        return
    for name in names:
        listed = holder.get(name)
        if listed:
            for key, value in listed.items():
                listed[key] = _settled(obj, value, _MILLI)


def settle_one(obj: Object, holder: Object | None, *names: str) -> None:
    """Write the quantities called `names` canonically, in place."""
    if not holder:
        return
    for name in names:
        if holder.get(name) is not None:
            holder[name] = _settled(obj, holder[name], _NANO)


def _settled(obj: Object, value: Any, smallest: Decimal) -> str:
    try:
        return canonical(str(value).strip(), smallest)
    except (ValueError, ArithmeticError) as error:
        kind, version = obj.get("kind", ""), str(obj.get("apiVersion", "")).rpartition("/")[2]
        raise BadRequest(f'{kind} in version "{version}" cannot be handled as a {kind}: {error}') from error
