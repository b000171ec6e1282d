"""Where a platform is found, and when it is not."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from butler.local.home import Home, Remembered, Running, announced, default_place
from kubekit.server.store import data_lock


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("BUTLER_HOME", str(tmp_path / "home"))
    place = default_place()
    place.remember(Remembered())
    return place


def running_as(pid: int, place: Home) -> Running:
    return Running(
        data=str(place.data), kubeconfig="k", pid=pid, url="https://h:1", started=datetime.now(UTC), version="1"
    )


def test_a_platform_that_holds_its_data_is_found(place: Home) -> None:
    held = data_lock.take(place.data)
    running = running_as(os.getpid(), place)
    place.announce(running)
    assert place.running() == running
    assert announced() == running
    os.close(held)


def test_a_platform_that_was_killed_is_not_found(place: Home) -> None:
    place.announce(running_as(os.getpid(), place))
    assert place.running() is None
    assert announced() is None


def test_a_process_that_only_has_the_same_number_is_not_taken_for_the_platform(place: Home) -> None:
    place.announce(running_as(1, place))
    assert place.running() is None


def test_who_stops_takes_back_only_their_own_announcement(place: Home) -> None:
    held = data_lock.take(place.data)
    place.announce(running_as(1, place))
    place.withdraw()
    assert place.running() is not None
    os.close(held)


def test_damaged_notes_are_as_good_as_none(place: Home) -> None:
    (place.data / "settings.json").write_text("{")
    (place.data / "running.json").write_text("[]")
    assert place.remembered() == Remembered()
    assert place.running() is None
