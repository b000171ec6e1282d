"""When a cron schedule is due next."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_NAMES = ((), (), (), ("", *_MONTHS), tuple(_DAYS))
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS = {"h": 3600, "m": 60, "s": 1}
_DAYS_AHEAD = 5 * 366
"""Whatever does not come in five years, the 30th of February for one, never does."""


def following(schedule: str, after: datetime) -> datetime | None:
    """The first time after a moment, in its time zone, at which a schedule the API server accepted is due."""
    if schedule.startswith("@every "):
        parts = re.findall(r"(\d+)([hms])", schedule)
        return after + timedelta(seconds=max(sum(int(count) * _UNITS[unit] for count, unit in parts), 1))
    fields = _DESCRIPTORS.get(schedule, schedule).split()
    minutes, hours, days, months, weekdays = (_values(*each) for each in zip(fields, _BOUNDS, _NAMES, strict=True))
    start = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    for ahead in range(_DAYS_AHEAD):
        day = start if not ahead else (start + timedelta(days=ahead)).replace(hour=0, minute=0)
        if day.month not in months or not _is_day(day, fields, days, weekdays):
            continue
        times = ((hour, minute) for hour in sorted(hours) for minute in sorted(minutes))
        first = next((each for each in times if each >= (day.hour, day.minute)), None)
        if first is not None:
            return day.replace(hour=first[0], minute=first[1])
    return None


def _is_day(day: datetime, fields: list[str], days: set[int], weekdays: set[int]) -> bool:
    """By the day of the month and of the week; where both are given, either will do."""
    right_day, right_weekday = day.day in days, (day.weekday() + 1) % 7 in weekdays
    if any(field.startswith(("*", "?")) for field in (fields[2], fields[4])):
        return right_day and right_weekday
    return right_day or right_weekday


def _values(field: str, bounds: tuple[int, int], names: tuple[str, ...]) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        if low in ("*", "?"):
            first, last = bounds
        else:
            first = _number(low, names)
            last = _number(high, names) if high else (bounds[1] if step else first)
        found.update(range(first, last + 1, int(step or 1)))
    return found


def _number(text: str, names: tuple[str, ...]) -> int:
    return names.index(text.lower()) if text.lower() in names else int(text)
