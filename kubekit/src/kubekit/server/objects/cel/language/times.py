"""Points and spans of time: reading and writing them as Go does."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from .values import MAX_INT, MIN_INT, CelError, Duration, Timestamp

SECOND = 1_000_000_000
_FIRST, _LAST = -62135596800 * SECOND, 253402300800 * SECOND - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_UNITS = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
_DURATION = re.compile(r"([+-]?)((?:[0-9]*+(?:\.[0-9]*+)?(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_DURATION_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_MOST_DIGITS, _LONGEST = 20, 1_000
_LOOSE_PART = re.compile(r"(?<![0-9])([0-9]++)\s*+([A-Za-zµ]++)")
_LOOSE_UNITS = (
    (("ns",), "nano", 1),
    (("us", "µs"), "micro", 1000),
    (("ms",), "milli", 10**6),
    (("s",), "sec", SECOND),
    (("m",), "min", 60 * SECOND),
    (("h", "hr"), "hour", 3600 * SECOND),
    (("d",), "day", 86400 * SECOND),
    (("w", "wk"), "week", 7 * 86400 * SECOND),
)
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:(Z)|([+-])(\d\d):(\d\d))", re.ASCII
)
_LOOSE_TIMESTAMP = re.compile(_TIMESTAMP.pattern.replace(":(\\d\\d))", ":?(\\d\\d))?"), re.ASCII)


def checked_timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    if _FIRST <= nanoseconds <= _LAST:
        return Timestamp(nanoseconds, offset)
    raise CelError("timestamp overflow")


def checked_duration(nanoseconds: int) -> Duration:
    if MIN_INT <= nanoseconds <= MAX_INT:
        return Duration(nanoseconds)
    raise CelError("integer overflow")


def duration(text: str) -> Duration:
    """`1h30m`, as Go reads it. Raises ValueError."""
    found = _DURATION.fullmatch(text) if len(text) <= _LONGEST else None
    if text in ("0", "+0", "-0"):
        return Duration(0)
    if not found:
        raise ValueError(f'time: invalid duration "{text}"')
    total = 0
    for whole, fraction, unit in _DURATION_PART.findall(found[2]):
        if not whole and not fraction:
            raise ValueError(f'time: invalid duration "{text}"')
        scale = _UNITS[unit]
        if len(whole.lstrip("0")) > _MOST_DIGITS:
            raise ValueError(f'time: invalid duration "{text}"')
        behind = fraction[:_MOST_DIGITS]
        total += int(whole.lstrip("0") or 0) * scale + int(behind or 0) * scale // 10 ** len(behind)
    total = -total if found[1] == "-" else total
    if not MIN_INT <= total <= MAX_INT:
        raise ValueError(f'time: invalid duration "{text}"')
    return Duration(total)


def loose_duration(text: str) -> Duration:
    """A string of format `duration` in a schema: as Go reads it, or `2 days`. Raises ValueError."""
    if len(text) > _LONGEST:
        raise ValueError("unable to parse it as duration: it is too long")
    try:
        return duration(text)
    except ValueError:
        spans = [_loose_span(int(number[:_MOST_DIGITS]), unit.lower()) for number, unit in _LOOSE_PART.findall(text)]
    if not any(span is not None for span in spans):
        raise ValueError(f"unable to parse {text} as duration")
    return Duration(sum(span or 0 for span in spans))


def _loose_span(number: int, unit: str) -> int | None:
    for exact, prefix, scale in _LOOSE_UNITS:
        if unit in exact or unit.startswith(prefix):
            return number * scale
    return None


def duration_text(span: Duration) -> str:
    """Seconds, as `string(duration)` writes them."""
    whole, rest = divmod(abs(span.nanoseconds), SECOND)
    shown = f"{whole}.{rest:09d}".rstrip("0").rstrip(".")
    return f"{'-' if span.nanoseconds < 0 else ''}{shown}s"


def timestamp(text: str) -> Timestamp:
    """RFC 3339. Raises ValueError."""
    return _read(_TIMESTAMP.fullmatch(text), text)


def loose_timestamp(text: str) -> Timestamp:
    """A string of format `date-time` in a schema. Raises ValueError."""
    return _read(_LOOSE_TIMESTAMP.fullmatch(text), text)


def day(text: str) -> Timestamp:
    """A string of format `date` in a schema. Raises ValueError."""
    return _stamp(datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC), 0, 0)


def _read(found: re.Match[str] | None, text: str) -> Timestamp:
    if not found:
        raise ValueError(f'parsing time "{text}"')
    offset = 0
    if found[9]:
        offset = (int(found[10]) * 3600 + int(found[11]) * 60) * (-1 if found[9] == "-" else 1)
    local = datetime(*(int(found[part]) for part in range(1, 7)), tzinfo=UTC)  # type: ignore[arg-type,misc]
    return _stamp(local - timedelta(seconds=offset), int((found[7] or "0")[:9].ljust(9, "0")), offset)


def _stamp(moment: datetime, nanoseconds: int, offset: int) -> Timestamp:
    since = moment - _EPOCH
    return Timestamp((since.days * 86400 + since.seconds) * SECOND + nanoseconds, offset)


def local_time(moment: Timestamp, zone: str = "") -> tuple[datetime, int]:
    """The wall clock of a place at a point in time, and the nanoseconds within the second. Raises CelError."""
    seconds, rest = divmod(moment.nanoseconds, SECOND)
    return (_EPOCH + timedelta(seconds=seconds)).astimezone(_zone(zone)), rest


def _zone(name: str) -> tzinfo:
    if name in ("", "UTC"):
        return UTC
    found = re.fullmatch(r"([+-]?)(\d\d?):(\d\d)", name)
    if found:
        span = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(-span if found[1] == "-" else span)
    zone = _named_zone(name)
    if zone is None:
        raise CelError("unknown time zone ", name)
    return zone


@lru_cache(maxsize=256)
def _named_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def timestamp_text(moment: Timestamp) -> str:
    seconds, rest = divmod(moment.nanoseconds, SECOND)
    local = _EPOCH + timedelta(seconds=seconds + moment.offset)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{local.year:04d}{local:-%m-%dT%H:%M:%S}{fraction}{_offset_text(moment.offset)}"


def _offset_text(offset: int) -> str:
    if not offset:
        return "Z"
    minutes = abs(offset) // 60
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
