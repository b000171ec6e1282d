"""Quantities: the `500m`, `1.5Gi` and `2e3` of resource requests, with exact arithmetic."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import total_ordering

_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIX_OF = {exponent: suffix for suffix, exponent in _SUFFIXES.items()}
_BINARY_SUFFIX_OF = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}

_PARTS = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[-+]?[0-9]*+)", re.ASCII)
_WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_WRONG_NUMBER = "unable to parse numeric part of quantity"
_WRONG_SUFFIX = "unable to parse quantity's suffix"

_MAX_INT64 = 2**63 - 1
_SMALLEST_EXPONENT = -9
_LARGEST_EXPONENT = 1000
"""Beyond any quantity with a meaning; keeps `1e999999999` from filling the memory."""


class Format(StrEnum):
    """How a quantity is written."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


@total_ordering
class Quantity:
    """An exact number, `digits * 10 ** exponent`, that remembers how it likes to be written. Immutable."""

    __slots__ = ("_text", "_wide", "digits", "exponent", "format")

    def __init__(
        self,
        digits: int,
        exponent: int = 0,
        format: Format = Format.DECIMAL,  # noqa: A002 - the word of the Kubernetes API
        *,
        text: str = "",
        wide: bool = False,
    ) -> None:
        self.digits, self.exponent, self.format = digits, exponent, format
        self._text = text
        # Kubernetes does not offer numbers that once left 64 bits as integers, even when they would fit again.
        self._wide = wide or abs(digits) > _MAX_INT64

    def __str__(self) -> str:
        if not self._text:
            self._text = self._canonical()
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self.compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __hash__(self) -> int:
        return hash(_without_factors(self.digits, self.exponent))

    def __add__(self, other: Quantity) -> Quantity:
        mine, theirs, exponent = self._aligned(other)
        kind = other.format if self.sign == 0 else self.format
        return Quantity(mine + theirs, exponent, kind, wide=self._wide or other._wide)

    def __neg__(self) -> Quantity:
        return Quantity(-self.digits, self.exponent, self.format, wide=self._wide)

    def __sub__(self, other: Quantity) -> Quantity:
        return self + -other

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1."""
        mine, theirs, _ = self._aligned(other)
        return (mine > theirs) - (mine < theirs)

    @property
    def sign(self) -> int:
        return (self.digits > 0) - (self.digits < 0)

    @property
    def exact_int(self) -> int | None:
        """The number when Kubernetes shows it as a 64-bit integer (`1k`, but neither `1000m` nor `1e30`)."""
        if self._wide or self.exponent < 0:
            return None
        whole = self.digits * 10**self.exponent
        return whole if -_MAX_INT64 - 1 <= whole <= _MAX_INT64 else None

    def as_int(self) -> int:
        """The number, away from zero to the next whole one."""
        if self.exponent >= 0:
            return self.digits * _power(self.exponent)
        return self.sign * -(-abs(self.digits) // _power(-self.exponent))

    def as_float(self) -> float:
        """The nearest float, infinite when there is none."""
        try:
            if self.exponent >= 0:
                return float(self.digits * _power(self.exponent))
            return self.digits / _power(-self.exponent)
        except OverflowError:
            return float("inf") * self.sign

    def _aligned(self, other: Quantity) -> tuple[int, int, int]:
        """Both numbers as whole multiples of the smaller power of ten, and that power."""
        exponent = min(self.exponent, other.exponent)
        mine = self.digits * 10 ** (self.exponent - exponent)
        return mine, other.digits * 10 ** (other.exponent - exponent), exponent

    def _canonical(self) -> str:
        if self.digits == 0:
            return "0"
        number, exponent = _without_factors(self.digits, self.exponent)
        if self.format is Format.BINARY and exponent >= 0 and abs(number) * 10**exponent >= 1024:
            return _binary_text(number * 10**exponent)
        shift = exponent % 3
        number, exponent = number * 10**shift, exponent - shift
        if self.format is Format.EXPONENT or exponent not in _SUFFIX_OF:
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_SUFFIX_OF[exponent]}"


def parse(text: str) -> Quantity:
    """The quantity `text` stands for; as for Kubernetes, `Mi` without a number is zero.

    Raises ValueError with the words of the Kubernetes API.
    """
    found = _PARTS.fullmatch(text)
    if not text or not found:
        raise ValueError(_WRONG_FORMAT)
    sign, whole, fraction, suffix = found[1], found[2].lstrip("0") or "0", found[3] or "", found[4]
    base, power, kind = _suffix(suffix)
    digits = int(whole + fraction) * (-1 if sign == "-" else 1)
    exponent = -len(fraction)
    if base == 2 and not fraction and 15 - len(whole) - int(power * 3 / 10) - 1 >= 0:
        return Quantity(digits << power, 0, Format.BINARY, text=text if digits & 7 else "")
    if base == 10 and len(whole) + len(fraction) <= 18 and exponent + power >= _SMALLEST_EXPONENT:
        written = whole + fraction
        canonical = (exponent + power) % 3 == 0 and not written.endswith("000") and written[0] != "0"
        return Quantity(digits, exponent + power, kind, text=text if canonical else "")
    if not found[2] and not fraction:
        raise ValueError(_WRONG_NUMBER)
    if base == 2:
        return _wide_binary(digits << power, exponent)
    return Quantity(*_rounded(digits, exponent + power), kind, wide=True)


def is_quantity(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _suffix(suffix: str) -> tuple[int, int, Format]:
    """Base, power and format of a suffix."""
    if suffix in _SUFFIXES:
        return 10, _SUFFIXES[suffix], Format.DECIMAL
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], Format.BINARY
    number = suffix[1:]
    if suffix[:1] not in ("e", "E") or not re.fullmatch(r"[-+]?[0-9]+", number):
        raise ValueError(_WRONG_SUFFIX)
    if abs(int(number)) > _LARGEST_EXPONENT:
        raise ValueError(_WRONG_SUFFIX)
    return 10, int(number), Format.EXPONENT


def _wide_binary(digits: int, exponent: int) -> Quantity:
    digits, exponent = _rounded(digits, exponent)
    if abs(digits) * 10 ** max(exponent, 0) > _MAX_INT64 * 10 ** max(-exponent, 0):
        digits, exponent = (_MAX_INT64 if digits > 0 else -_MAX_INT64), 0
    below_one = 0 < abs(digits) < 10 ** max(-exponent, 0)
    return Quantity(digits, exponent, Format.DECIMAL if below_one else Format.BINARY, wide=True)


def _power(exponent: int) -> int:
    return int(10**exponent)


def _rounded(digits: int, exponent: int) -> tuple[int, int]:
    """Away from zero to whole billionths, the smallest share Kubernetes knows."""
    if exponent >= _SMALLEST_EXPONENT:
        return digits, exponent
    sign = -1 if digits < 0 else 1
    return sign * -(-abs(digits) // 10 ** (_SMALLEST_EXPONENT - exponent)), _SMALLEST_EXPONENT


def _without_factors(digits: int, exponent: int) -> tuple[int, int]:
    """The same number with the fewest digits."""
    if digits == 0:
        return 0, 0
    while digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    return digits, exponent


def _binary_text(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < 60:
        number, power = number // 1024, power + 10
    return f"{number}{_BINARY_SUFFIX_OF.get(power, '')}"
