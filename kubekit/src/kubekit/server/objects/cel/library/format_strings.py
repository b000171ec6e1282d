"""`'%s of %d'.format([...])`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cache

from ..language.budget import LETTERS, PER_CALL, Frame, charge, weight
from ..language.functions import Overload, call
from ..language.values import CelError, UInt, Value, type_name
from . import conversions

_CLAUSE = re.compile(r"%%|%(?:\.(\d+))?(.)?", re.DOTALL)
_DEFAULT_DIGITS = 6
_LONGEST_PRECISION = 9


_CLAUSE_COST, _PART_COST = 40, 25
"""What a clause costs, and what every part of the value it shows."""


def format_text(frame: Frame, template: str, args: list[Value]) -> str:
    """The template with its clauses replaced. Raises CelError and CostExceeded."""
    charge(frame, len(template) // LETTERS)
    shown, at = [], 0
    for number, clause, start, end in clauses(template):
        shown.append(template[at:start].replace("%%", "%"))
        if number >= len(args):
            raise CelError(f"index {number} out of range")
        charge(frame, _CLAUSE_COST + _PART_COST * weight(args[number]) + _digits(clause))
        shown.append(_formatted(clause, args[number]))
        at = end
    return "".join([*shown, template[at:].replace("%%", "%")])


def clauses(template: str) -> Iterator[tuple[int, re.Match[str], int, int]]:
    """Every clause of a template: the number of its argument, its text, where it starts and ends. Raises CelError."""
    number = 0
    for found in _CLAUSE.finditer(template):
        if found[0] == "%%":
            continue
        if found[2] is None:
            raise CelError("unexpected end of string")
        if found[2] not in _CLAUSES:
            problem = f'could not parse formatting clause: unrecognized formatting clause "{found[2]}"'
            raise CelError(problem)
        yield number, found, found.start(), found.end()
        number += 1


def clause_problem(letter: str, kind: str) -> str:
    """Why a clause cannot show a value of a type; empty when it can."""
    _, accepted, name, words = _CLAUSES[letter]
    if kind == "dyn" or kind in accepted:
        return ""
    return f"error during formatting: {name} clause can only be used on {words}, was given {kind}"


def _formatted(clause: re.Match[str], value: Value) -> str:
    show = _CLAUSES[clause[2]][0]
    problem = clause_problem(clause[2], type_name(value))
    if problem:
        raise CelError(problem)
    return show(value, _digits(clause))


def _digits(clause: re.Match[str]) -> int:
    """How many digits are asked for. Raises CelError."""
    if not clause[1]:
        return _DEFAULT_DIGITS
    if len(clause[1]) > _LONGEST_PRECISION:
        raise CelError(
            f'could not parse formatting clause: strconv.ParseInt: parsing "{clause[1]}": value out of range'
        )
    return int(clause[1])


def _string(value: Value, _digits: int = 0) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    if isinstance(value, dict):
        shown = sorted((_nested(key), _nested(one)) for key, one in value.items())
        return f"{{{', '.join(f'{key}:{one}' for key, one in shown)}}}"
    if value is None:
        return "null"
    kind = type_name(value)
    if kind == "type":
        return str(value.name)
    return str(call([PER_CALL], _as_string(), value))


def _nested(value: Value) -> str:
    """A value inside a list or map: strings and times are quoted."""
    problem = clause_problem("s", type_name(value))
    if problem:
        raise CelError(problem)
    shown = _string(value)
    match type_name(value):
        case "string":
            return json.dumps(shown, ensure_ascii=False)
        case "bytes":
            return f"b{json.dumps(shown, ensure_ascii=False)}"
        case "double":
            return _fixed(value, _DEFAULT_DIGITS)
        case "google.protobuf.Timestamp":
            return f'timestamp("{shown}")'
        case "google.protobuf.Duration":
            return f'duration("{shown}")'
        case _:
            return shown


def _decimal(value: int, _digits: int) -> str:
    return str(int(value))


def _number(value: float | str) -> float | None:
    """The number, None for the ones that have names. Raises CelError."""
    if isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity"):
        raise CelError(clause_problem("f", "text").replace("text", "string"))
    number = float(value)
    return number if math.isfinite(number) else None


def _name_of(value: float | str) -> str:
    number = float(value)
    if math.isnan(number):
        return "NaN"
    return "∞" if number > 0 else "-∞"


def _fixed(value: float | str, digits: int) -> str:
    number = _number(value)
    return _name_of(value) if number is None else f"{number:,.{digits}f}"


_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _scientific(value: float | str, _digits: int) -> str:
    number = _number(value)
    if number is None:
        return _name_of(value)
    mantissa, _, exponent = f"{number:.{_DEFAULT_DIGITS}e}".partition("e")
    return f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPT)}"


def _binary(value: int, _digits: int) -> str:
    return f"{int(value):b}"


def _octal(value: int, _digits: int) -> str:
    return f"{int(value):o}"


def _hexadecimal(value: Value, _digits: int) -> str:
    if isinstance(value, (int, UInt)):
        return f"{int(value):x}"
    return (value.encode() if isinstance(value, str) else value).hex()


def _upper_hexadecimal(value: Value, digits: int) -> str:
    return _hexadecimal(value, digits).upper()


_ANY = (
    *("list", "map", "int", "uint", "double", "bool", "string", "bytes", "type", "null_type"),
    *("google.protobuf.Timestamp", "google.protobuf.Duration"),
)
_ANY_WORDS = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
_HEX = ("int", "uint", "string", "bytes")
_HEX_WORDS = "integers, byte buffers, and strings"
_CLAUSES: dict[str, tuple[Callable[[Value, int], str], tuple[str, ...], str, str]] = {
    "s": (_string, _ANY, "string", _ANY_WORDS),
    "d": (_decimal, ("int", "uint"), "decimal", "integers"),
    "f": (_fixed, ("double", "string"), "fixed-point", "doubles"),
    "e": (_scientific, ("double", "string"), "scientific", "doubles"),
    "b": (_binary, ("int", "uint", "bool"), "binary", "integers and bools"),
    "o": (_octal, ("int", "uint"), "octal", "integers"),
    "x": (_hexadecimal, _HEX, "hex", _HEX_WORDS),
    "X": (_upper_hexadecimal, _HEX, "hex", _HEX_WORDS),
}


@cache
def _as_string() -> tuple[Overload, ...]:
    """The conversion `string(value)`."""
    return tuple(one for one in conversions.overloads() if one.name == "string")
