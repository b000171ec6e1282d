"""Regular expressions as Go writes them (RE2), made into Python's."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NAMED = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


class UnsupportedPattern(ValueError):
    """A pattern Go takes and this translation does not know."""


_UNSUPPORTED_ESCAPE = "invalid escape sequence: "


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, ready to search. Raises ValueError when Go would not take it, and UnsupportedPattern."""
    try:
        return re.compile(_Translation(pattern).text(), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


class _Translation:
    """A walk along a pattern that rewrites what Python writes differently."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def text(self) -> str:
        out: list[str] = []
        while self._at < len(self._pattern):
            out.append(self._piece())
        return "".join(out)

    def _piece(self) -> str:
        letter = self._pattern[self._at]
        if letter == "\\":
            return self._escape(in_class=False)
        if letter == "[":
            return self._class()
        if letter == "(":
            return self._group()
        self._at += 1
        if letter == "$":
            # Python's $ also matches before a last newline. Patterns with (?m) keep it.
            return "$" if re.search(r"\(\?[a-zA-Z]*m", self._pattern) else "\\Z"
        if letter in "*+?}" and self._pattern[self._at : self._at + 1] == "+":
            raise ValueError("invalid nested repetition operator")
        return letter

    def _group(self) -> str:
        rest = self._pattern[self._at :]
        if rest.startswith(("(?=", "(?!", "(?<=", "(?<!", "(?#", "(?>", "(?P=", "(?P>", "(?(")):
            raise ValueError(f"invalid or unsupported Perl syntax: `{rest[:3]}`")
        named = re.match(r"\(\?P?<(\w+)>", rest)
        if named:
            self._at += len(named[0])
            return f"(?P<{named[1]}>"
        flags = re.match(r"\(\?([imsU]*)(-[imsU]+)?([:)])", rest)
        if not flags:
            self._at += 1
            return "("
        self._at += len(flags[0])
        return self._flags(flags[1], flags[2] or "", flags[3])

    def _flags(self, on: str, off: str, closing: str) -> str:
        if "U" in on + off:
            raise UnsupportedPattern("the flag U")
        if closing == ":":
            return f"(?{on}{off}:"
        # Flags hold to the end of the group they stand in; Python has them only at the start or as a group.
        depth, end = 0, self._at
        while end < len(self._pattern) and depth >= 0:
            letter = self._pattern[end]
            end += 2 if letter == "\\" else 1
            depth += (letter == "(") - (letter == ")")
        inner = self._pattern[self._at : end - 1 if depth < 0 else end]
        self._at += len(inner)
        return f"(?{on}{off}:{_Translation(inner).text()})"

    def _class(self) -> str:
        self._at += 1
        out = ["["]
        if self._pattern[self._at : self._at + 1] == "^":
            out.append("^")
            self._at += 1
        first = True
        while self._at < len(self._pattern):
            letter = self._pattern[self._at]
            if letter == "]" and not first:
                self._at += 1
                return "".join([*out, "]"])
            out.append(self._class_piece(letter))
            first = False
        raise ValueError("missing closing ]")

    def _class_piece(self, letter: str) -> str:
        named = re.match(r"\[:(\^?)(\w+):\]", self._pattern[self._at :])
        if named:
            if named[2] not in _NAMED:
                raise ValueError(f"invalid character class range: `{named[0]}`")
            if named[1]:
                raise UnsupportedPattern("a negated named class")
            self._at += len(named[0])
            return _NAMED[named[2]]
        if letter == "\\":
            return self._escape(in_class=True)
        self._at += 1
        return f"\\{letter}" if letter in "[&~|]" else letter

    def _escape(self, *, in_class: bool) -> str:
        following = self._pattern[self._at + 1 : self._at + 2]
        if not following:
            raise ValueError("trailing backslash at end of expression: ``")
        if following in "pP":
            return self._unicode_class(following, in_class=in_class)
        if following == "x" and self._pattern[self._at + 2 : self._at + 3] == "{":
            end = self._pattern.index("}", self._at)
            code = int(self._pattern[self._at + 3 : end], 16)
            self._at = end + 1
            return re.escape(chr(code))
        if following == "Q" and not in_class:
            end = self._pattern.find("\\E", self._at)
            literal = self._pattern[self._at + 2 : end if end >= 0 else None]
            self._at = end + 2 if end >= 0 else len(self._pattern)
            return re.escape(literal)
        self._at += 2
        if following == "z":
            return "\\Z"
        if following.isalnum() and following not in "abBdDfnrsStvwWxAQE01234567":
            raise ValueError(f"{_UNSUPPORTED_ESCAPE}`\\{following}`")
        if following in "123456789":
            raise ValueError(f"{_UNSUPPORTED_ESCAPE}`\\{following}`")
        return f"\\{following}"

    def _unicode_class(self, letter: str, *, in_class: bool) -> str:
        found = re.match(r"\\[pP](?:\{(\^?)(\w+)\}|([A-Z]))", self._pattern[self._at :])
        if not found:
            raise ValueError("invalid character class range")
        self._at += len(found[0])
        negated = (letter == "P") != bool(found[1])
        ranges = _category(found[2] or found[3])
        if in_class and negated:
            raise UnsupportedPattern("a negated Unicode class inside brackets")
        return ranges if in_class else f"[{'^' if negated else ''}{ranges}]"


@lru_cache(maxsize=32)
def _category(name: str) -> str:
    """The characters of a Unicode general category, as ranges of a character class."""
    ranges: list[str] = []
    start = -1
    for code in range(0x110001):
        inside = code < 0x110000 and unicodedata.category(chr(code)).startswith(name)
        if inside and start < 0:
            start = code
        elif not inside and start >= 0:
            ranges.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = -1
    if not ranges:
        raise ValueError(f"invalid character class range: `\\p{{{name}}}`")
    return "".join(ranges)
