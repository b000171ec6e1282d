"""Kubernetes versions: which there are, and which steps from one to another are allowed."""

from __future__ import annotations

import re
from typing import NamedTuple

DEFAULT = "v1.32.2"
"""What a new cluster gets when nobody says."""

OLDEST, NEWEST = (1, 28), (1, 36)
"""The minors that can be asked for."""

_LAST_PATCHES = {(1, 28): 15, (1, 29): 15, (1, 30): 14, (1, 31): 14}
"""The last releases of minors that get no more."""
_MOST_PATCHES = 20
"""No minor has ever had more."""

_FORM = re.compile(r"^v?(\d+)\.(\d+)\.(\d+)$")


class Version(NamedTuple):
    """A version that can be compared."""

    major: int
    minor: int
    patch: int

    @property
    def line(self) -> tuple[int, int]:
        return self.major, self.minor

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}.{self.patch}"


def parse(text: str) -> Version | None:
    """The version a text stands for, with or without its v; None when it is not one."""
    found = _FORM.match(text)
    return Version(*map(int, found.groups())) if found else None


def unsupported(text: str) -> str:
    """What is wrong with a version somebody asks for; empty when nothing is."""
    version = parse(text)
    if version is None or not text.startswith("v"):
        return f"must look like {DEFAULT}"
    if not OLDEST <= version.line <= NEWEST:
        return f"must be between {_line(OLDEST)} and {_line(NEWEST)}"
    last = _LAST_PATCHES.get(version.line)
    if version.patch > (_MOST_PATCHES if last is None else last):
        return "there is no such release" + (f": the last is {_line(version.line)}.{last}" if last is not None else "")
    return ""


def forbidden_step(old: str, new: str) -> str:
    """Why a cluster at `old` may not go to `new`; empty when it may. A minor is never skipped and never taken back."""
    before, after = parse(old), parse(new)
    if before is None or after is None:
        return ""
    if after < before:
        return f"the cluster runs {before}, and Kubernetes cannot go back"
    if after.line > (before.major, before.minor + 1):
        return f"the cluster runs {before}, and no minor may be skipped: go to {_line((1, before.minor + 1))} first"
    return ""


def _line(line: tuple[int, int]) -> str:
    return f"v{line[0]}.{line[1]}"
