"""The order of API versions: v10, v2, v1, v2beta1, v1beta2, v1alpha1, then anything else by name."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?", re.ASCII)
_STABILITY = {None: 0, "beta": 1, "alpha": 2}


def rank(version: str) -> tuple[int, int, int, str]:
    """Sorts the version a client should prefer first."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    major, stage, minor = match.groups()
    return (_STABILITY[stage], -int(major), -int(minor or 0), "")
