"""What a scalar of a YAML text stands for, as Go's decoder resolves it."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from math import isinf
from typing import Any

from ..schema.decoding import Malformed

MERGE = "tag:yaml.org,2002:merge"
_PREFIX = "tag:yaml.org,2002:"
_KINDS: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (float,), "null": (type(None),)}
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NOT_IN_JSON = {
    **dict.fromkeys((".nan", ".NaN", ".NAN"), "NaN"),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), "+Inf"),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), "-Inf"),
}
_DIGITS = frozenset("0123456789+-.")
_is_whole = re.compile(
    r"(?P<sign>[-+]?)(?:(?P<ten>0|[1-9][0-9]*)|0[xX](?P<hex>[0-9a-fA-F]+)|0[oO]?(?P<oct>[0-7]+)|0[bB](?P<bin>[01]+))",
).fullmatch
_is_float = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?").fullmatch
_BASES = {"ten": 10, "hex": 16, "oct": 8, "bin": 2}
_MOST_DIGITS = 64
"""Of a number that fits into 64 bits, in whatever base."""


def value_of(text: str, tag: str | None, *, is_plain: bool) -> Any:
    """The value; a tag that nobody knows does not matter. Raises Malformed."""
    if tag is None or tag == "!":
        return resolved(text) if is_plain and tag is None else text
    kind = tag.removeprefix(_PREFIX)
    if kind == "binary":
        return _binary(text)
    if kind not in _KINDS or kind == tag:
        return text
    value = resolved(text)
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, _KINDS[kind]) or (kind == "int" and isinstance(value, bool)):
        raise Malformed(f"yaml: cannot decode !!{_kind_of(value)} `{text}` as a !!{kind}")
    return value


def resolved(text: str) -> Any:
    """What a text without quotes stands for; one that looks like a number but is none, or a date, for itself."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _DIGITS:
        return text
    if text in _NOT_IN_JSON:
        raise Malformed(f"json: unsupported value: {_NOT_IN_JSON[text]}")
    number = _number(text.replace("_", "") if text[0] != "." else text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    found = _is_whole(text)
    if found is not None:
        base = str(found.lastgroup)
        digits = found[base].lstrip("0") or "0"
        if len(digits) <= _MOST_DIGITS:
            number = int(found["sign"] + digits, _BASES[base])
            if -(2**63) <= number < 2**64:
                return number
    if _is_float(text) is None:
        return None
    fraction = float(text)
    return None if isinf(fraction) else fraction


def _binary(text: str) -> str:
    try:
        return b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except Base64Error as error:
        raise Malformed("yaml: !!binary value contains invalid base64 data") from error


def _kind_of(value: Any) -> str:
    for kind, types in _KINDS.items():
        if isinstance(value, types):
            return kind
    return "str"
