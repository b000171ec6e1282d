"""Histories with faults: what must hold holds, and if the runtime were broken we would know."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest

from tests.runtime import mutants
from tests.runtime.histories import problem
from tests.runtime.history import play
from tests.runtime.witnesses import Violation

COUNT = int(os.environ.get("KUBEKIT_HISTORIES", "300"))
"""How many histories; 10,000 are played by `python -m tests.runtime.histories`."""
BATCH = 25
_BOUND = 150
"""So many histories are enough to notice any breakage in the list."""


@pytest.fixture(autouse=True)
def _silence(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_every_history_ends_as_it_should(first: int) -> None:
    problems = {seed: found for seed in range(first, first + BATCH) if (found := problem(seed))}
    logging.disable(logging.NOTSET)
    assert problems == {}


def test_the_same_seed_gives_the_same_history() -> None:
    assert [play(seed) for seed in range(5)] == [play(seed) for seed in range(5)]


def test_another_seed_gives_another_history() -> None:
    assert len({play(seed) for seed in range(5)}) == 5


@pytest.mark.parametrize("breakage", mutants.ALL, ids=lambda breakage: breakage.__name__)
def test_a_broken_runtime_is_noticed(breakage: mutants.Breakage) -> None:
    with mutants.broken(breakage), pytest.raises((Violation, ExceptionGroup)):
        _play_many()


def _play_many() -> None:
    for seed in range(_BOUND):
        play(seed)


def test_the_order_in_memory_and_in_sets_does_not_matter() -> None:
    """Another process, another hash of every text: the same history."""
    ask = "import logging; logging.disable(50); from tests.runtime.history import play; print(play(1), play(2))"
    told = [_ask(ask, {**os.environ, "PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    assert told[0] == told[1] == [play(1), play(2)]


def _ask(code: str, environment: dict[str, str]) -> list[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
