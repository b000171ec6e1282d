"""Ages as kubectl shows them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubekit.model import ages

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (150, "2m30s"),
        (10 * MINUTE + 5, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 5 * MINUTE, "3h5m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (2 * DAY, "2d"),
        (2 * DAY + HOUR, "2d1h"),
        (8 * DAY + HOUR, "8d"),
        (729 * DAY, "729d"),
        (730 * DAY, "2y"),
        (731 * DAY, "2y1d"),
        (9 * 365 * DAY + DAY, "9y"),
    ],
)
def test_a_duration_is_shown_in_a_few_characters(seconds: int, shown: str) -> None:
    assert ages.human(seconds) == shown


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        ("2026-11-15T11:20:00Z", "40m"),
        ("2026-11-15T11:20:00.123456Z", "39m"),
        ("2026-11-15T12:20:00+01:00", "40m"),
        ("2026-11-15", "<invalid>"),
        ("2026-13-15T11:20:00Z", "<invalid>"),
        ("", "<unknown>"),
        (None, "<unknown>"),
    ],
)
def test_the_age_of_a_timestamp(timestamp: str | None, shown: str) -> None:
    assert ages.age(timestamp, NOW) == shown
