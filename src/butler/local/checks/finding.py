"""What a check found."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Verdict(Enum):
    """How bad it is. A note is for those who wonder, and never fails."""

    PASS = "pass"  # noqa: S105 -- not a password
    NOTE = "note"
    FAIL = "fail"


class Finding(Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at, and what to do when it is not as it should be."""

    subject: str
    verdict: Verdict
    message: str
    remedy: str = ""


def passed(subject: str, message: str) -> Finding:
    return Finding(subject, Verdict.PASS, message)


def noted(subject: str, message: str, remedy: str = "") -> Finding:
    return Finding(subject, Verdict.NOTE, message, remedy)


def failed(subject: str, message: str, remedy: str) -> Finding:
    return Finding(subject, Verdict.FAIL, message, remedy)
