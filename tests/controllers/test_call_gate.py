"""The gate in front of an account."""

from __future__ import annotations

from datetime import timedelta

import pytest

from butler.controllers.call_gate import Busy, Gate
from tests.providers.clocks import HandClock


def world(at_once: int = 2) -> tuple[Gate, HandClock, list[str]]:
    clock = HandClock()
    return Gate(at_once, clock), clock, []


def test_so_many_are_inside_and_the_others_are_woken_in_their_order() -> None:
    gate, _, woken = world()
    for name in ("a", "b"):
        gate.enter(name, woken.append)
    for name in ("c", "d", "c"):
        with pytest.raises(Busy):
            gate.enter(name, woken.append)
    gate.leave()
    assert woken == ["c"]
    gate.enter("c", woken.append)
    gate.leave()
    assert woken == ["c", "d"]


def test_nobody_is_let_in_while_it_is_closed_and_then_one_goes_first() -> None:
    gate, clock, woken = world(4)
    gate.enter("a", woken.append)
    gate.close("a", timedelta(seconds=30))
    gate.leave()
    with pytest.raises(Busy) as first:
        gate.enter("a", woken.append)
    assert first.value.again == timedelta(seconds=30)
    for name in ("b", "c", "d", "e"):
        with pytest.raises(Busy) as other:
            gate.enter(name, woken.append)
        assert other.value.again > timedelta(seconds=30)
    clock.pass_by(30)
    gate.enter("a", woken.append)
    assert woken == []
    gate.leave()
    assert woken == ["b", "c"]  # half as many as before


def test_after_a_while_there_is_room_for_as_many_as_before() -> None:
    gate, clock, woken = world(4)
    gate.enter("a", woken.append)
    gate.close("a", timedelta(seconds=1))
    gate.leave()
    clock.pass_by(1)
    for _ in range(200):
        gate.enter("a", woken.append)
        gate.leave()
    for name in ("a", "b", "c", "d"):
        gate.enter(name, woken.append)
    with pytest.raises(Busy):
        gate.enter("e", woken.append)
