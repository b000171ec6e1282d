"""Semantic versions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.functions import Overload, Priced, functions, members
from ..language.values import CelError, name_type

NAME = "kubernetes.Semver"
_MAX = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Version:
    """major.minor.patch-prerelease; what follows a plus sign does not count."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()

    def compare(self, other: Version) -> int:
        first, second = self._order(), other._order()
        return (first > second) - (first < second)

    def _order(self) -> tuple[object, ...]:
        # A release comes after its prereleases; in those, numbers come before words.
        parts = tuple((0, len(part), part) if part.isdecimal() else (1, 0, part) for part in self.prerelease)
        return (self.major, self.minor, self.patch, not parts, parts)


name_type(Version, NAME)


def _parse(text: str) -> Version:
    """Raises CelError."""
    if not text:
        raise CelError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise CelError("No Major.Minor.Patch elements found")
    rest, _, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    numbers = [_number(word, part) for word, part in zip(("Major", "Minor", "Patch"), (*parts[:2], patch), strict=True)]
    identifiers = tuple(prerelease.split(".")) if dash else ()
    for identifier in identifiers:
        _check_prerelease(identifier)
    for identifier in build.split(".") if "+" in parts[2] else ():
        _check_identifier(identifier, "Build meta data")
    return Version(numbers[0], numbers[1], numbers[2], identifiers)


def _number(word: str, text: str) -> int:
    if not re.fullmatch("[0-9]+", text):
        problem = f"Invalid character(s) found in {word.lower()} number"
        raise CelError(f'{problem} "{text}"')
    if len(text) > 1 and text.startswith("0"):
        raise CelError(f'{word} number must not contain leading zeroes "{text}"')
    if len(text) > len(str(_MAX)) or int(text) > _MAX:
        raise CelError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _check_prerelease(identifier: str) -> None:
    _check_identifier(identifier, "Prerelease")
    if identifier.isdecimal() and len(identifier) > 1 and identifier.startswith("0"):
        raise CelError(f'Numeric PreRelease version must not contain leading zeroes "{identifier}"')


def _check_identifier(identifier: str, what: str) -> None:
    if not identifier:
        raise CelError(f"{what} is empty")
    if not re.fullmatch("[0-9A-Za-z-]+", identifier):
        raise CelError(f'Invalid character(s) found in {what.lower()} "{identifier}"')


def _normalized(text: str) -> str:
    """Without a leading v and leading zeros, with every number. Raises CelError."""
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and set(parts[-1]) & {"+", "-"}:
        raise CelError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][:3])


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    bare = part.lstrip("0")
    return bare if bare[:1].isdecimal() else f"0{bare}"


def _semver(text: str, normalize: bool = False) -> Version:
    return _parse(_normalized(text) if normalize else text)


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except CelError:
        return False
    return True


def _reading(text: str, _normalize: bool = False) -> int:
    return 100 + len(text)


def _comparing(one: Version, other: Version) -> int:
    return 40 + 4 * (len(one.prerelease) + len(other.prerelease))


def overloads() -> list[Overload]:
    return [
        *functions(
            ("semver", f"string -> {NAME}", Priced(_reading, _semver)),
            ("semver", f"string, bool -> {NAME}", Priced(_reading, _semver)),
            ("isSemver", "string -> bool", Priced(_reading, _is_semver)),
            ("isSemver", "string, bool -> bool", Priced(_reading, _is_semver)),
        ),
        *members(
            ("isGreaterThan", f"{NAME}, {NAME} -> bool", Priced(_comparing, lambda one, other: one.compare(other) > 0)),
            ("isLessThan", f"{NAME}, {NAME} -> bool", Priced(_comparing, lambda one, other: one.compare(other) < 0)),
            ("compareTo", f"{NAME}, {NAME} -> int", Priced(_comparing, Version.compare)),
            ("major", f"{NAME} -> int", lambda one: one.major),
            ("minor", f"{NAME} -> int", lambda one: one.minor),
            ("patch", f"{NAME} -> int", lambda one: one.patch),
        ),
    ]
