"""What is looked after while a server runs."""

from __future__ import annotations

from datetime import timedelta

from kubekit.server.spaces.background.housekeeping import Housekeeping
from kubekit.server.store.store import Store
from tests.server.auth.world import TurnedClock


async def test_certificates_are_renewed_every_day_and_when_the_clock_is_set_back() -> None:
    clock, renewed = TurnedClock(), list[str]()
    housekeeping = Housekeeping(Store(None), clock, lambda: renewed.append(clock.now().isoformat()))
    for hours in range(25):
        clock.turn(hours=1 if hours else 0)
        housekeeping.tidy()
    assert not renewed
    clock.turn(seconds=1)
    housekeeping.tidy()
    assert len(renewed) == 1
    clock.time += timedelta(days=400)
    housekeeping.tidy()
    assert len(renewed) == 1
    clock.time -= timedelta(days=400)
    housekeeping.tidy()
    housekeeping.tidy()
    assert len(renewed) == 2
