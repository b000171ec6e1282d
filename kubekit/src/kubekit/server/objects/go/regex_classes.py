"""Character classes of Go's regular expressions, spelled so that other engines read them the same way."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

Ranges = list[tuple[int, int]]

_DIGITS: Ranges = [(0x30, 0x39)]
_UPPER: Ranges = [(0x41, 0x5A)]
_LOWER: Ranges = [(0x61, 0x7A)]
_WORD: Ranges = [*_DIGITS, *_UPPER, (0x5F, 0x5F), *_LOWER]
_SPACE: Ranges = [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)]
_SMALL = 1024
"""A larger range beyond ASCII is folded as it is: it holds both cases of its letters."""
_LONE_FOLDS = {"k": "\u212a", "K": "\u212a", "s": "\u017f", "S": "\u017f"}


def complement(ranges: Ranges) -> Ranges:
    """All characters that are not in the ranges."""
    left: Ranges = []
    expected = 0
    for low, high in sorted(ranges):
        if low > expected:
            left.append((expected, low - 1))
        expected = max(expected, high + 1)
    return [*left, (expected, sys.maxunicode)] if expected <= sys.maxunicode else left


PERL = {
    "\\d": _DIGITS,
    "\\D": complement(_DIGITS),
    "\\s": _SPACE,
    "\\S": complement(_SPACE),
    "\\w": _WORD,
    "\\W": complement(_WORD),
}

_POSIX: dict[str, Ranges] = {
    "alnum": [*_DIGITS, *_UPPER, *_LOWER],
    "alpha": [*_UPPER, *_LOWER],
    "ascii": [(0, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0, 0x1F), (0x7F, 0x7F)],
    "digit": _DIGITS,
    "graph": [(0x21, 0x7E)],
    "lower": _LOWER,
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": [*_DIGITS, (0x41, 0x46), (0x61, 0x66)],
}
POSIX = {
    **{f"[:{name}:]": ranges for name, ranges in _POSIX.items()},
    **{f"[:^{name}:]": complement(ranges) for name, ranges in _POSIX.items()},
}

_CATEGORIES = frozenset(
    major + minor
    for major, minors in {
        "C": "cfos",
        "L": "lmotu",
        "M": "cen",
        "N": "dlo",
        "P": "cdefios",
        "S": "ckmo",
        "Z": "lps",
    }.items()
    for minor in ("", *minors)
)


def is_property(name: str) -> bool:
    """Whether `\\p{name}` may be used: a general category, a script, or Any."""
    return name in _CATEGORIES or name == "Any" or (name[:1].isupper() and len(name) > 2 and name.isascii())


def fold(ranges: Ranges) -> Ranges:
    """The ranges and the other case of every letter in them."""
    folded = list(ranges)
    for low, high in ranges:
        if high > 0x7F and high - low > _SMALL:
            low, high = min(low, 0x80), min(high, 0x7F)  # noqa: PLW2901 - only the part where letters pair up
        for code in range(low, high + 1):
            folded += [(other, other) for other in _other_cases(chr(code))]
    return folded


def _other_cases(char: str) -> set[int]:
    forms = {char.lower(), char.upper(), char.lower().upper(), char.upper().lower(), _LONE_FOLDS.get(char, char)}
    return {ord(form) for form in forms if len(form) == 1 and form != char}


@dataclass(slots=True)
class CharSet:
    """One character of a set; `properties` are Unicode properties, each possibly negated."""

    ranges: Ranges
    properties: list[tuple[bool, str]] = field(default_factory=list)
    negated: bool = False

    def rust(self) -> str:
        if not self.ranges and not self.properties:
            return r"[\s\S]" if self.negated else r"[^\s\S]"
        named = "".join(_property(negated, name) for negated, name in self.properties)
        return f"[{'^' if self.negated else ''}{_spelled(self.ranges)}{named}]"


def _property(negated: bool, name: str) -> str:
    known = name if name in _CATEGORIES or name == "Any" else f"Script={name}"
    return f"\\{'P' if negated else 'p'}{{{known}}}"


def _spelled(ranges: Ranges) -> str:
    return "".join(_char(low) if low == high else f"{_char(low)}-{_char(high)}" for low, high in ranges)


def _char(code: int) -> str:
    char = chr(code)
    return char if (char.isascii() and char.isalnum()) or code > 0xFFFF else f"\\u{code:04x}"
