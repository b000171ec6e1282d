"""The string formats that Kubernetes enforces in the schemas of custom resources."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from ..go import regex
from .values import INT64_MAX

Check = Callable[[str], bool]


def _matches(pattern: str, flags: int = 0) -> Check:
    compiled = re.compile(pattern, re.ASCII | flags)
    return lambda text: compiled.fullmatch(text) is not None


def is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text)) and bool(date(int(text[:4]) or 4, int(text[5:7]), int(text[8:])))
    except ValueError:
        return False


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"(\d{2}):(\d{2}):(\d{2})(.[0-9]+)?(z|[+-]\d{2}:\d{2})", re.ASCII)


def is_datetime(text: str) -> bool:
    """An RFC 3339 time; leap seconds are not accepted, and only the first two parts around a T are looked at."""
    parts = text.lower().split("t", 2)
    if len(parts) < 2 or not is_date(parts[0]):
        return False
    found = _TIME.fullmatch(parts[1])
    return bool(found) and found[1] <= "23" and found[2] <= "59" and found[3] <= "59" if found else False


_GO_DURATION = _matches(r"[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)")
_SCALA_DURATION = re.compile(r"(?<!\d)(\d++)\s*+([A-Za-zµ]+)", re.ASCII)
_LONGEST_DURATION = 1_000
_UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_LONG_UNITS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def is_duration(text: str) -> bool:
    """A duration of Go (`1h30m`) or of Scala (`3 days`)."""
    if len(text) > _LONGEST_DURATION:
        return False
    if _GO_DURATION(text):
        return True
    found = [(number.lstrip("0"), unit.lower()) for number, unit in _SCALA_DURATION.findall(text)]
    fits = all(len(number) < 19 or (len(number) == 19 and number <= str(INT64_MAX)) for number, _ in found)
    return fits and any(unit in _UNITS or unit.startswith(_LONG_UNITS) for _, unit in found)


_LONGEST_ADDRESS = 64


def _without_leading_zeros(address: str) -> str:
    """IPv4 parts with leading zeros are accepted for the sake of old objects."""
    if len(address) > _LONGEST_ADDRESS:
        return address
    return re.sub(r"(^|[.:])0+(?=[0-9]+(\.|$))", r"\1", address) if "." in address else address


def _is_address(text: str) -> bool:
    if len(text) > _LONGEST_ADDRESS:
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def is_ipv4(text: str) -> bool:
    return "." in text and _is_address(_without_leading_zeros(text))


def is_ipv6(text: str) -> bool:
    return ":" in text and _is_address(text)


_PREFIX_LENGTH = _matches("[0-9]{1,8}")


def is_cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    if not slash or not _PREFIX_LENGTH(length) or not _is_address(_without_leading_zeros(address)):
        return False
    return int(length) <= (128 if ":" in address else 32)


_LONGEST_HOSTNAME = 255
_HOSTNAME = (
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)"
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
)


def is_hostname(text: str) -> bool:
    if len(text) > _LONGEST_HOSTNAME:
        return False
    labels = [len(label.encode()) for label in text.split(".")]
    return max(labels) <= 63 and len(text.encode()) <= _LONGEST_HOSTNAME and regex.matcher(_HOSTNAME)(text)


_HEX = "[0-9a-fA-F]"
_IS_MAC = _matches(
    f"{_HEX}{{2}}(:{_HEX}{{2}}){{5}}((:{_HEX}{{2}}){{2}}|(:{_HEX}{{2}}){{14}})?"
    f"|{_HEX}{{2}}(-{_HEX}{{2}}){{5}}((-{_HEX}{{2}}){{2}}|(-{_HEX}{{2}}){{14}})?"
    rf"|{_HEX}{{4}}(\.{_HEX}{{4}}){{2}}((\.{_HEX}{{4}})|(\.{_HEX}{{4}}){{7}})?"
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_USER = r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*"
_PLAIN_HOST = r"(?:[A-Za-z0-9_.~!$&'()*+,;=<>\"\u0080-\U0010ffff-]|%[89A-Fa-f][0-9A-Fa-f]|%25)*"
_HOST = re.compile(rf"(?:{_USER}@)?(?:\[[^\]\s]+\]|{_PLAIN_HOST})(?::[0-9]*)?")


def is_uri(text: str) -> bool:
    """An absolute URI or an absolute path."""
    if not text or _CONTROL.search(text):
        return False
    if text == "*":
        return True
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    if not rest.startswith("/"):
        return scheme is not None
    location = rest.partition("?")[0]
    if _BAD_ESCAPE.search(location):
        return False
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        return bool(_HOST.fullmatch(location[2:].partition("/")[0]))
    return True


_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_ADDRESS = rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_ATOM}(?:\.{_ATOM})*|\[[^\[\]\\\s]*\])"
_PHRASE = rf"(?:{_ATOM[:-1]}|[. \t]|{_QUOTED})*"
_EMAIL = re.compile(rf"[ \t]*+(?:{_ADDRESS}|{_PHRASE}<{_ADDRESS}>)[ \t]*(?:\([^()]*\)[ \t]*)?")

_CREDIT_CARD = _matches(
    r"(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})"
)


def is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not _CREDIT_CARD(digits):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value if value < 10 else value - 9 for value in doubled) % 10 == 0


def is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return False
    return sum(place * (10 if digit == "X" else int(digit)) for place, digit in enumerate(digits, 1)) % 11 == 0


def is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(digits)) % 10 == 0


_SHORT_NAME = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_LONG_NAME = _matches(rf"{_SHORT_NAME}(?:\.{_SHORT_NAME})*")
_IS_SHORT_NAME = _matches(_SHORT_NAME)
_COLOUR = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*"
_IS_SSN = _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}")

_FORMATS: Mapping[str, Check] = {
    "bsonobjectid": _matches(f"{_HEX}{{24}}"),
    "uri": is_uri,
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "cidr": is_cidr,
    "mac": _IS_MAC,
    "uuid": _matches(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE),
    "uuid3": _matches(r"[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE),
    "uuid4": _matches(r"[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}", re.IGNORECASE),
    "uuid5": _matches(r"[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}", re.IGNORECASE),
    "isbn": lambda text: is_isbn10(text) or is_isbn13(text),
    "isbn10": is_isbn10,
    "isbn13": is_isbn13,
    "creditcard": is_credit_card,
    "ssn": lambda text: len(text) == 11 and _IS_SSN(text),
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(rf"rgb\({_COLOUR},{_COLOUR},{_COLOUR}\)"),
    "byte": _matches(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "password": lambda _: True,
    "date": is_date,
    "duration": is_duration,
    "datetime": is_datetime,
    "k8sshortname": lambda text: len(text) <= 63 and _IS_SHORT_NAME(text),
    "k8slongname": lambda text: len(text) <= 253 and _LONG_NAME(text),
}


NUMBERS = frozenset({"int32", "int64", "float", "double"})
"""The formats of numbers."""


def string_check(name: str) -> Check | None:
    """The check of a string format; None when Kubernetes does not know it and so ignores it."""
    return _FORMATS.get(name.replace("-", ""))


def enforced(source: Mapping[str, Any]) -> str:
    """The format of a schema, if Kubernetes enforces it for the schema's type; otherwise empty."""
    name = str(source.get("format", ""))
    kind = "" if source.get("x-kubernetes-int-or-string") else source.get("type", "")
    if kind in ("", "string"):
        known = string_check(name) is not None
    elif kind == "integer":
        known = name in ("int32", "int64")
    else:
        known = kind == "number" and name in ("float", "double")
    return name if known else ""
