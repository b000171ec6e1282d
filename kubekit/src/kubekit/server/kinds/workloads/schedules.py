"""Cron schedules: are they valid, and if not, why, in the words of the parser Kubernetes uses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_DESCRIPTORS = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
_every = re.compile(r"@every ([0-9.]+(ns|us|µs|ms|s|m|h))+").fullmatch


@dataclass(frozen=True, slots=True)
class _Field:
    low: int
    high: int
    names: dict[str, int] = field(default_factory=dict)


_FIELDS = (
    _Field(0, 59),
    _Field(0, 23),
    _Field(1, 31),
    _Field(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


def problem(schedule: str) -> str:
    """Why a schedule cannot be read; empty when it can."""
    try:
        _read(schedule)
    except ValueError as error:
        return str(error)
    return ""


def _read(schedule: str) -> None:
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        schedule = schedule.partition(" ")[2].strip()
    if schedule.startswith("@"):
        if schedule not in _DESCRIPTORS and not _every(schedule):
            raise ValueError(f"unrecognized descriptor: {schedule}")
        return
    parts = schedule.split()
    if len(parts) != len(_FIELDS):
        raise ValueError(f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]")
    for part, bounds in zip(parts, _FIELDS, strict=True):
        for expression in filter(None, part.split(",")):
            _read_range(expression, bounds)


def _read_range(expression: str, bounds: _Field) -> None:
    limits, *steps = expression.split("/")
    low, *highs = limits.split("-")
    if low in {"*", "?"}:
        start, end = bounds.low, bounds.high
    else:
        start = _number(low, bounds)
        if len(highs) > 1:
            raise ValueError(f"too many hyphens: {expression}")
        end = _number(highs[0], bounds) if highs else start
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {expression}")
    step = _whole(steps[0]) if steps else 1
    if steps and not highs:
        end = bounds.high
    _check_range(expression, bounds, start, end, step)


def _check_range(expression: str, bounds: _Field, start: int, end: int, step: int) -> None:
    if start < bounds.low:
        raise ValueError(f"beginning of range ({start}) below minimum ({bounds.low}): {expression}")
    if end > bounds.high:
        raise ValueError(f"end of range ({end}) above maximum ({bounds.high}): {expression}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {expression}")


def _number(text: str, bounds: _Field) -> int:
    named = bounds.names.get(text.lower())
    return _whole(text) if named is None else named


def _whole(text: str) -> int:
    if not text.isdecimal() or not text.isascii():
        raise ValueError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)
