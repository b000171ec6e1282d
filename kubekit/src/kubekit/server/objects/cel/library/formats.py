"""Named formats of strings, such as DNS labels."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..language import times
from ..language.budget import LETTERS
from ..language.functions import Overload, Priced, functions, members
from ..language.values import NONE, Optional, name_type
from . import urls

NAME = "kubernetes.NamedFormat"

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_OLD_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED})?"
_UUID = "[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"

_ENDS = "and must start and end with an alphanumeric character"
_LABEL_WORDS = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}"
_SUBDOMAIN_WORDS = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS}"
)
_OLD_LABEL_WORDS = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_QUALIFIED_WORDS = f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"
_VALUE_WORDS = f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"

Check = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format and how to find what is wrong with a string."""

    name: str
    check: Check


name_type(NamedFormat, NAME)


def _unless(pattern: str, text: str, words: str, *examples: str) -> list[str]:
    if re.fullmatch(pattern, text, re.ASCII):
        return []
    shown = "".join(f" or '{example}', " for example in examples)[len(" or ") :]
    return [f"{words} (e.g. {shown}regex used for validation is '{pattern}')"]


def _at_most(limit: int, text: str, unit: str = "characters") -> list[str]:
    return [f"must be no more than {limit} {unit}"] if len(text.encode()) > limit else []


def _label(text: str) -> list[str]:
    problems = _unless(_LABEL, text, _LABEL_WORDS, "my-name", "123-abc")
    if problems and re.fullmatch(_SUBDOMAIN, text, re.ASCII):
        problems = ["must not contain dots"]
    return _at_most(63, text) + problems


def _subdomain(text: str) -> list[str]:
    return _at_most(253, text) + _unless(_SUBDOMAIN, text, _SUBDOMAIN_WORDS, "example.com")


def _old_label(text: str) -> list[str]:
    return _at_most(63, text) + _unless(_OLD_LABEL, text, _OLD_LABEL_WORDS, "my-name", "abc-123")


def _qualified(text: str) -> list[str]:
    parts = text.split("/")
    name, problems = parts[-1], []
    if len(parts) > 2:
        problem = _unless(_QUALIFIED, "", f"a valid label key {_QUALIFIED_WORDS}", "MyName", "my.name", "123-abc")[0]
        return [f"{problem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if len(parts) == 2 and not parts[0]:
        problems.append("prefix part must be non-empty")
    elif len(parts) == 2:
        problems += [f"prefix part {problem}" for problem in _subdomain(parts[0])]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append("name part must be no more than 63 bytes")
    return problems + _unless(_QUALIFIED, name, f"name part {_QUALIFIED_WORDS}", "MyName", "my.name", "123-abc")


def _label_value(text: str) -> list[str]:
    wrong = _unless(_LABEL_VALUE, text, _VALUE_WORDS, "MyValue", "my_value", "12345")
    return _at_most(63, text, "bytes") + wrong


def _prefix_of(check: Check) -> Check:
    """A name that something will follow may end in a dash."""
    return lambda text: check(f"{text[:-1]}a" if text.endswith("-") else text)


def _uri(text: str) -> list[str]:
    try:
        urls.parse(text)
    except ValueError as error:
        return [str(error)]
    return []


def _refused(read: Callable[[str], object], problem: str) -> Check:
    """The problem, when reading the string raises ValueError."""

    def check(text: str) -> list[str]:
        try:
            read(text)
        except (ValueError, binascii.Error):
            return [problem]
        return []

    return check


def _base64(text: str) -> None:
    if not text:
        raise ValueError("empty")
    base64.b64decode(text, validate=True)


def _uuid(text: str) -> None:
    if not re.fullmatch(_UUID, text, re.ASCII | re.IGNORECASE):
        raise ValueError("not a UUID")


FORMATS: dict[str, NamedFormat] = {
    name: NamedFormat(name, check)
    for name, check in {
        "dns1123Label": _label,
        "dns1123Subdomain": _subdomain,
        "dns1035Label": _old_label,
        "qualifiedName": _qualified,
        "dns1123LabelPrefix": _prefix_of(_label),
        "dns1123SubdomainPrefix": _prefix_of(_subdomain),
        "dns1035LabelPrefix": _prefix_of(_old_label),
        "labelValue": _label_value,
        "uri": _uri,
        "uuid": _refused(_uuid, "does not match the UUID format"),
        "byte": _refused(_base64, "invalid base64"),
        "date": _refused(times.day, "invalid date"),
        "datetime": _refused(times.loose_timestamp, "invalid datetime"),
    }.items()
}


def _named(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _validate(one: NamedFormat, text: str) -> Optional:
    problems = one.check(text)
    return Optional(problems) if problems else NONE


def _constant(one: NamedFormat) -> Callable[[], NamedFormat]:
    return lambda: one


def _reading(_format: NamedFormat, text: str) -> int:
    return 100 + (1 + len(text) // LETTERS) * (_LONGEST_PATTERN // 4)


_LONGEST_PATTERN = 128


def overloads() -> list[Overload]:
    return [
        *functions(*((f"format.{name}", f"-> {NAME}", _constant(one)) for name, one in FORMATS.items())),
        *functions(("format.named", f"string -> optional_type({NAME})", _named)),
        *members(("validate", f"{NAME}, string -> optional_type(list(string))", Priced(_reading, _validate))),
    ]
