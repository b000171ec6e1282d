"""What the server gives to every new object."""

from __future__ import annotations

import re
import uuid

import pytest

from kubekit.clock import SeededChance, SystemClock
from kubekit.server.kinds.registry import Kinds
from kubekit.server.pipeline.space import Space
from kubekit.server.store.store import Store


@pytest.fixture
def space() -> Space:
    return Space("root", Store(None), Kinds(()), SystemClock(), SeededChance(7))


def test_a_uid_is_a_random_uuid(space: Space) -> None:
    chance = SeededChance(7)
    for _ in range(100):
        assert space.new_uid() == str(uuid.UUID(bytes=chance.bytes(16), version=4))


def test_a_timestamp_has_whole_seconds_in_utc(space: Space) -> None:
    before = space.now()
    stamp = space.timestamp()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stamp)
    assert f"{before:%Y-%m-%dT%H:%M:%SZ}" <= stamp <= f"{space.now():%Y-%m-%dT%H:%M:%SZ}"
