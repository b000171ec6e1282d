"""Regular expressions in the dialect of Go, in which CRD schemas and rules are written.

Patterns come from tenants, so none ever runs on an engine that backtracks: one regular expression would stop everybody.
RE2 has Go's dialect and takes linear time. For schemas a pattern is also parsed by Go's rules and written out again
with every class, flag and escape spelled in full, for the engine inside jsonschema_rs, which is linear too; what that
lacks (line anchors, ASCII word boundaries) is left to RE2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import jsonschema_rs

from .regex_classes import PERL, POSIX, CharSet, fold, is_property

Matcher = Callable[[str], bool]

_MAX_REPEAT = 1000
_ESCAPED = frozenset("\\^$.*+?()[]{}|/")
_SIMPLE_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_REPEAT = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}", re.ASCII)


class GoRegexError(ValueError):
    """The pattern is not valid in Go; the message is Go's."""

    def __init__(self, problem: str, where: str) -> None:
        super().__init__(f"error parsing regexp: {problem}: `{where}`")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place between characters, if there is a way to write it for jsonschema_rs."""

    rust: str = ""


START = Anchor("^")
END = Anchor("$")
OTHER_PLACE = Anchor()
"""The beginning or the end of a line, or the edge of a word."""

Piece = str | Anchor | CharSet


@dataclass(slots=True)
class _Flags:
    fold: bool = False
    multi_line: bool = False
    dot_all: bool = False

    def copy(self) -> _Flags:
        return _Flags(self.fold, self.multi_line, self.dot_all)


@dataclass(slots=True)
class _Parser:
    """Reads a pattern from left to right; `pieces` is what has been understood so far."""

    pattern: str
    at: int = 0
    pieces: list[Piece] = field(default_factory=list)
    flags: _Flags = field(default_factory=_Flags)
    outer: list[_Flags] = field(default_factory=list)
    repeatable: bool = False
    repeated_from: int | None = None
    """Where the quantifier just read began; a second one after it is an error in Go."""

    def parse(self) -> list[Piece]:
        while self.at < len(self.pattern):
            began = self.repeated_from
            self.repeated_from = None
            self._step(self.pattern[self.at], began)
        if self.outer:
            raise GoRegexError("missing closing )", self.pattern)
        return self.pieces

    def _step(self, char: str, repeated_from: int | None) -> None:
        if char in "*+?":
            self._quantify(char, self.at + 1, repeated_from)
        elif char == "{" and (found := _REPEAT.match(self.pattern, self.at)):
            self._count(found, repeated_from)
        elif char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            self.pieces.append("|")
            self.at, self.repeatable = self.at + 1, False
        elif char == "[":
            self._class()
        elif char == "\\":
            self._escape()
        else:
            self._plain(char)

    def _plain(self, char: str) -> None:
        self.at += 1
        if char == "^":
            self._push(OTHER_PLACE if self.flags.multi_line else START)
        elif char == "$":
            self._push(OTHER_PLACE if self.flags.multi_line else END)
        elif char == ".":
            self._push(CharSet([] if self.flags.dot_all else [(10, 10)], negated=True))
        else:
            self._literal(char)

    def _push(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.repeatable = True

    def _literal(self, char: str) -> None:
        ranges = fold([(ord(char), ord(char))]) if self.flags.fold else []
        if len(ranges) > 1 or any(low != high for low, high in ranges):
            self._push(CharSet(ranges))
        else:
            self._push(f"\\{char}" if char in _ESCAPED else char)

    def _count(self, found: re.Match[str], repeated_from: int | None) -> None:
        low, comma, high = found.groups()
        if max(len(low), len(high or "")) > len(str(_MAX_REPEAT)):
            raise GoRegexError("invalid repeat count", found.group())
        least, most = int(low), int(high) if high else -1 if comma else int(low)
        if least > _MAX_REPEAT or most > _MAX_REPEAT or 0 <= most < least:
            raise GoRegexError("invalid repeat count", found.group())
        self._quantify(found.group(), found.end(), repeated_from)

    def _quantify(self, operator: str, end: int, repeated_from: int | None) -> None:
        start = self.at
        lazy = end < len(self.pattern) and self.pattern[end] == "?"
        end += lazy
        if repeated_from is not None:
            raise GoRegexError("invalid nested repetition operator", self.pattern[repeated_from:end])
        if not self.repeatable:
            raise GoRegexError("missing argument to repetition operator", self.pattern[start:end])
        if not isinstance(self.pieces[-1], Anchor):
            self.pieces.append(operator)
        elif operator[0] in "*?" or operator.startswith("{0"):
            self.pieces.pop()
            self.pieces.append("(?:)")
        self.at, self.repeated_from = end, start

    def _open(self) -> None:
        self.outer.append(self.flags.copy())
        self.repeatable = False
        if not self.pattern.startswith("(?", self.at):
            self.at += 1
            self.pieces.append("(?:")
        elif self.pattern.startswith(("(?P<", "(?<"), self.at):
            self._named_group()
        else:
            self._flag_group()

    def _named_group(self) -> None:
        end = self.pattern.find(">", self.at)
        if end < 0:
            raise GoRegexError("invalid named capture", self.pattern[self.at :])
        name = self.pattern[self.pattern.index("<", self.at) + 1 : end]
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):
            raise GoRegexError("invalid named capture", self.pattern[self.at : end + 1])
        self.at = end + 1
        self.pieces.append("(?:")

    def _flag_group(self) -> None:
        found = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])").match(self.pattern, self.at)
        if not found:
            wrong = re.compile(r"\(\?[imsU]*(?:-[imsU]*)?.?", re.DOTALL).match(self.pattern, self.at)
            assert wrong
            raise GoRegexError("invalid or unsupported Perl syntax", wrong.group())
        turned_on, turned_off, ending = found.groups()
        changed = self.flags.copy()
        for letter in turned_on:
            _set_flag(changed, letter, True)
        for letter in turned_off or "":
            _set_flag(changed, letter, False)
        self.flags, self.at = changed, found.end()
        if ending == ":":
            self.pieces.append("(?:")
        else:
            self.outer.pop()

    def _close(self) -> None:
        if not self.outer:
            raise GoRegexError("unexpected )", self.pattern)
        self.flags = self.outer.pop()
        self.at += 1
        self._push(")")

    def _escape(self) -> None:
        escape = self.pattern[self.at + 1 : self.at + 2]
        anchor = {"A": START, "z": END, "b": OTHER_PLACE, "B": OTHER_PLACE}.get(escape)
        if anchor:
            self.at += 2
            self._push(anchor)
        elif escape == "Q":
            end = self.pattern.find("\\E", self.at)
            quoted = self.pattern[self.at + 2 : end if end >= 0 else None]
            self.at = end + 2 if end >= 0 else len(self.pattern)
            for char in quoted:
                self._literal(char)
        elif found := self._class_escape():
            self._push(found)
        else:
            self._literal(self._char_escape())

    def _class_escape(self) -> CharSet | None:
        """A class such as `\\d` or `\\p{L}`, if one stands here."""
        perl = PERL.get(self.pattern[self.at : self.at + 2])
        if perl is not None:
            self.at += 2
            return CharSet(list(perl))
        found = re.compile(r"\\([pP])(?:\{(\^?)([^}]*)\}|([^{]))", re.DOTALL).match(self.pattern, self.at)
        if not found:
            if self.pattern.startswith(("\\p", "\\P"), self.at):
                raise GoRegexError("invalid character class range", self.pattern[self.at :])
            return None
        letter, caret, long_name, short_name = found.groups()
        name = long_name if short_name is None else short_name
        if not is_property(name):
            raise GoRegexError("invalid character class range", found.group())
        self.at = found.end()
        return CharSet([], [((letter == "P") != bool(caret), name)])

    def _char_escape(self) -> str:
        """The one character that an escape stands for."""
        start, self.at = self.at, self.at + 2
        char = self.pattern[start + 1 : start + 2]
        if not char:
            raise GoRegexError("trailing backslash at end of expression", "")
        if char in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[char]
        octal = re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})").match(self.pattern, start)
        if octal:
            self.at = octal.end()
            return chr(int(octal.group(1), 8))
        code = re.compile(r"\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))").match(self.pattern, start)
        if code and int(code.group(1) or code.group(2), 16) <= 0x10FFFF:
            self.at = code.end()
            return chr(int(code.group(1) or code.group(2), 16))
        if char.isascii() and not char.isalnum():
            return char
        raise GoRegexError("invalid escape sequence", self.pattern[start : self.at])

    def _class(self) -> None:
        start = self.at
        negated = self.pattern.startswith("[^", start)
        self.at += 2 if negated else 1
        found, first = CharSet([], negated=negated), True
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise GoRegexError("missing closing ]", self.pattern[start:])
            self._class_member(found, start)
            first = False
        self.at += 1
        if self.flags.fold:
            found.ranges = fold(found.ranges)
        self._push(found)

    def _class_member(self, found: CharSet, start: int) -> None:
        if self.pattern.startswith("[:", self.at) and (end := self.pattern.find(":]", self.at + 2)) >= 0:
            name = self.pattern[self.at : end + 2]
            if name not in POSIX:
                raise GoRegexError("invalid character class range", name)
            found.ranges += POSIX[name]
            self.at = end + 2
        elif self.pattern[self.at] == "\\" and (inner := self._class_escape()):
            found.ranges += inner.ranges
            found.properties += inner.properties
        else:
            self._class_range(found, start)

    def _class_range(self, found: CharSet, start: int) -> None:
        began = self.at
        low = high = self._class_char(start)
        if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
            self.at += 1
            high = self._class_char(start)
            if high < low:
                raise GoRegexError("invalid character class range", self.pattern[began : self.at])
        found.ranges.append((ord(low), ord(high)))

    def _class_char(self, start: int) -> str:
        if self.at >= len(self.pattern):
            raise GoRegexError("missing closing ]", self.pattern[start:])
        if self.pattern[self.at] == "\\":
            return self._char_escape()
        self.at += 1
        return self.pattern[self.at - 1]


def _set_flag(flags: _Flags, letter: str, value: bool) -> None:
    if letter == "i":
        flags.fold = value
    elif letter == "m":
        flags.multi_line = value
    elif letter == "s":
        flags.dot_all = value


def check(pattern: str) -> None:
    """Raises GoRegexError when Go would not compile the pattern."""
    _Parser(pattern).parse()


@lru_cache(maxsize=4096)
def rust_pattern(pattern: str) -> str | None:
    """The pattern for jsonschema_rs; None when it needs what that engine does not have. Raises GoRegexError."""
    pieces = _empty_alternatives_marked(_Parser(pattern).parse())
    if any(isinstance(piece, Anchor) and not piece.rust for piece in pieces):
        return None
    written = "".join(
        piece.rust if isinstance(piece, Anchor) else piece if isinstance(piece, str) else piece.rust()
        for piece in pieces
    )
    try:
        jsonschema_rs.Draft7Validator({"pattern": written}, pattern_options=jsonschema_rs.RegexOptions())
    except (ValueError, jsonschema_rs.ValidationError):
        return None
    return written


@lru_cache(maxsize=4096)
def matcher(pattern: str) -> Matcher:
    """Whether the pattern is found in a text. Raises GoRegexError."""
    rust = rust_pattern(pattern)
    if rust is not None:
        validator = jsonschema_rs.Draft7Validator({"pattern": rust}, pattern_options=jsonschema_rs.RegexOptions())
        is_valid: Matcher = validator.is_valid
        return is_valid
    found = compiled(pattern)
    return lambda text: found.search(text) is not None


def compiled(pattern: str) -> Any:
    """The pattern with the methods of Python's own, such as `search` and `finditer`. Raises GoRegexError."""
    return _COMPILED[pattern]


def is_compiled(pattern: str) -> bool:
    """Whether the pattern is at hand: to compile it takes longer than to use it."""
    return pattern in _COMPILED


class _Compiled(dict[str, Any]):
    """The patterns compiled last. What one takes up grows with what it is used on, to a few megabytes."""

    most = 256
    most_memory = 4 * 2**20

    def __missing__(self, pattern: str) -> Any:
        import re2  # noqa: PLC0415 - few need it

        check(pattern)
        options = re2.Options()
        options.log_errors, options.max_mem = False, self.most_memory
        try:
            found = re2.compile(pattern, options)
        except re2.error as error:
            # What Go takes and RE2 does not is larger than its memory allows.
            raise GoRegexError("expression too large", pattern) from error
        while len(self) >= self.most:
            self.pop(next(iter(self)), None)
        self[pattern] = found
        return found


_COMPILED = _Compiled()


def _empty_alternatives_marked(pieces: list[Piece]) -> list[Piece]:
    """Go allows nothing between bars and parentheses; some engines want it said."""
    marked: list[Piece] = []
    for before, piece in pairwise(["(?:", *pieces, ")"]):
        if before in ("(?:", "|") and piece in ("|", ")"):
            marked.append("(?:)")
        marked.append(piece)
    return marked[:-1]
