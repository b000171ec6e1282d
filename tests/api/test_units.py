"""Amounts, durations and address ranges are read as people write them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from butler.api import units
from butler.api.shared import IPRange


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8Gi", 8 * 2**30),
        ("500m", "0.5"),
        ("1e3", 1000),
        (".5", "0.5"),
        (4, 4),
        ("16G", 16 * 10**9),
        ("-2", -2),
        ("1E", 10**18),
    ],
)
def test_a_quantity_is_a_number(text: str | int, number: int | str) -> None:
    assert units.amount(text) == Decimal(number)


@pytest.mark.parametrize("text", ["16GB", "", "Gi", "1.2.3", "one"])
def test_other_text_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        units.amount(text)


def test_a_part_of_a_unit_counts_as_a_whole() -> None:
    assert units.whole("1500m") == 2
    assert units.whole("16G", units.MIB) == 15259


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("4h", 14400), ("1h30m", 5400), ("0", 0), ("0s", 0), ("1.5s", 1.5), ("250ms", 0.25), ("-2m", -120)],
)
def test_a_duration_is_a_time_span(text: str, seconds: float) -> None:
    assert units.duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "4", "4 h", "h", "1d"])
def test_other_text_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        units.duration(text)


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("10.127.14.30-10.127.14.50", [("10.127.14.30", "10.127.14.50")]),
        ("10.0.0.7", [("10.0.0.7", "10.0.0.7")]),
        ("10.0.0.0/30", [("10.0.0.0", "10.0.0.3")]),
        ("10.0.0.4 - 10.0.0.5, 10.0.0.0/30", [("10.0.0.0", "10.0.0.5")]),
        ("10.0.0.9,10.0.0.1", [("10.0.0.1", "10.0.0.1"), ("10.0.0.9", "10.0.0.9")]),
    ],
)
def test_addresses_are_written_in_four_ways(text: str, ranges: list[tuple[str, str]]) -> None:
    assert units.address_ranges(text) == tuple(IPRange(start=start, end=end) for start, end in ranges)


@pytest.mark.parametrize("text", ["", "a-b", "10.0.0.300", "10.0.0.0/40", "10.0.0.5-10.0.0.1", "10.0.0.1,"])
def test_other_text_is_no_address_range(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an IPv4|ends before"):
        units.address_ranges(text)
