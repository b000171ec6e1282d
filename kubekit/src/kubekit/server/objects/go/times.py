"""Times as Go reads and writes them in the Kubernetes API."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

LAYOUT = "2006-01-02T15:04:05Z07:00"
MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"

_FORM = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})([.,]\d+)?(Z|([+-])(\d{2}):(\d{2}))", re.ASCII)
_MICRO_FORM = re.compile(_FORM.pattern.replace(r"([.,]\d+)?", r"([.,]\d{6})"), re.ASCII)
_PARTS = (
    (r"\d{4}", "2006"),
    ("-", "-"),
    (r"\d{2}", "01"),
    ("-", "-"),
    (r"\d{2}", "02"),
    ("T", "T"),
    (r"\d{2}", "15"),
    (":", ":"),
    (r"\d{2}", "04"),
    (":", ":"),
    (r"\d{2}(?:[.,]\d+)?", "05"),
    (r"Z|[+-]\d{2}:\d{2}", "Z07:00"),
)
_MICRO_PARTS = (*_PARTS[:-2], (r"\d{2}", "05"), (r"[.,]\d{6}", ".000000"), _PARTS[-1])


def parse_time(text: str, layout: str = LAYOUT) -> datetime:
    """The time of an RFC 3339 text, in UTC. Raises ValueError in Go's words."""
    found = (_MICRO_FORM if layout == MICRO_LAYOUT else _FORM).fullmatch(text)
    if not found:
        raise ValueError(_mismatch(text, layout))
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    for name, value, low, high in (
        ("month", month, 1, 12),
        ("day", day, 1, _days(year, month)),
        ("hour", hour, 0, 23),
        ("minute", minute, 0, 59),
        ("second", second, 0, 59),
    ):
        if not low <= value <= high:
            raise ValueError(f'parsing time "{text}": {name} out of range')
    fraction = (found[7] or ".0")[1:7].ljust(6, "0")
    zone = UTC
    if found[9]:
        offset = timedelta(hours=int(found[10]), minutes=int(found[11]))
        zone = timezone(-offset if found[9] == "-" else offset) if offset < timedelta(hours=24) else UTC
    return datetime(max(year, 1), month, day, hour, minute, second, int(fraction), zone).astimezone(UTC)


def second_text(text: str) -> str:
    """The text Kubernetes stores for a `Time`: whole seconds in UTC. Raises ValueError."""
    return text if _PLAIN.fullmatch(text) and parse_time(text) else _written(parse_time(text), "seconds")


def micro_text(text: str) -> str:
    """The text Kubernetes stores for a `MicroTime`: microseconds in UTC. Raises ValueError."""
    return _written(parse_time(text, MICRO_LAYOUT), "microseconds")


def _written(moment: datetime, precision: str) -> str:
    # Unlike strftime, this writes the years of the first millennium with all their digits.
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"


_PLAIN = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _mismatch(text: str, layout: str) -> str:
    at = 0
    for pattern, element in _MICRO_PARTS if layout == MICRO_LAYOUT else _PARTS:
        found = re.compile(pattern, re.ASCII).match(text, at)
        if not found:
            shown, rest = _quoted(text), _quoted(text[at:])
            return f'parsing time {shown} as "{layout}": cannot parse {rest} as "{element}"'
        at = found.end()
    return f"parsing time {_quoted(text)}: extra text: {_quoted(text[at:])}"


def _quoted(text: str) -> str:
    """As Go's time package quotes: byte by byte."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').encode(errors="surrogatepass")
    shown = (chr(byte) if 0x20 <= byte < 0x80 else f"\\x{byte:02x}" for byte in plain)
    return f'"{"".join(shown)}"'
