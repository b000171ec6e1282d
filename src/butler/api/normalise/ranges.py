"""The addresses for LoadBalancer Services, which may stand in any of three places."""

from __future__ import annotations

from .. import units
from ..shared import IPRange, IPv4Range
from .spellings import Spellings

Ranges = tuple[IPRange, ...]


def chosen(spellings: Spellings, *places: tuple[str, IPRange | IPv4Range | str | None]) -> Ranges:
    """The ranges that stand in one of these places, or the same ranges in several."""
    found: Ranges | None = None
    found_at = ""
    for path, value in places:
        ranges = None if value is None else _ranges(spellings, path, value)
        found_at = path if found is None else found_at
        found = spellings.either(found_at, found, path, ranges)
    return found or ()


def text_of(ranges: Ranges) -> str:
    return ",".join(f"{one.start}-{one.end}" for one in ranges)


def _ranges(spellings: Spellings, path: str, value: IPRange | IPv4Range | str) -> Ranges:
    if isinstance(value, str):
        return spellings.parsed(path, units.address_ranges, value)
    return (IPRange(start=value.start, end=value.end),)
