"""The arithmetic of replacing machines, against sets that act whenever they like."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as some

from butler.engines.capi.kinds import (
    MachineDeployment,
    MachineDeploymentSpec,
    MachineSpec,
    MachineTemplateSpec,
    RollingUpdate,
    Rollout,
    RolloutStrategy,
)
from butler.simulation.capi.sets.rollout import Bounds, Revision, bounds_of, plan


@dataclass
class Model:
    """A set with its machines: each True when available, None when on its way out."""

    name: str
    wanted: int = 0
    machines: list[bool | None] = field(default_factory=list)

    def numbers(self) -> Revision:
        going = self.machines.count(None)
        return Revision(self.name, self.wanted, len(self.machines), self.machines.count(True), going)

    def act(self, chance: random.Random) -> None:
        """Whatever could happen next."""
        more = self.wanted - len(self.machines)
        if more > 0:
            self.machines.append(False)
        elif -more > self.machines.count(None):
            # The worst case: of those that could go, one that is of use.
            victim = True in self.machines
            self.machines[self.machines.index(victim)] = None
        elif self.machines:
            at = chance.randrange(len(self.machines))
            if self.machines[at] is None:
                self.machines.pop(at)
            else:
                self.machines[at] = True


@given(
    replicas=some.integers(0, 6),
    surge=some.integers(0, 4),
    unavailable=some.integers(0, 4),
    start=some.integers(0, 6),
    seed=some.integers(0, 10_000),
)
def test_a_rollout_stays_within_its_bounds_and_ends(
    replicas: int, surge: int, unavailable: int, start: int, seed: int
) -> None:
    if not surge and not unavailable:
        unavailable = 1
    bounds, chance = Bounds(replicas, surge, min(unavailable, replicas)), random.Random(seed)
    old, new = Model("old", start, [True] * start), Model("new")
    for _ in range(3000):
        for name, target in plan(bounds, new.numbers(), [old.numbers()]).items():
            (old if name == "old" else new).wanted = target
        if not old.machines and new.machines == [True] * replicas:
            return
        chance.choice((old, new)).act(chance)
        machines = old.machines + new.machines
        assert len(machines) <= max(bounds.most, start)
        assert machines.count(True) >= min(bounds.fewest, start)
    pytest.fail(f"never ends: {old} {new}")


def test_a_machine_that_never_works_does_not_stop_its_replacement() -> None:
    bounds = Bounds(3, 1, 0)
    old, new = Revision("old", wanted=3, actual=3, available=2), Revision("new", wanted=1, actual=1, available=1)
    assert plan(bounds, new, [old]) == {"old": 2}


def test_nothing_goes_while_the_new_machines_do_not_work() -> None:
    bounds = Bounds(3, 1, 0)
    old, new = Revision("old", wanted=3, actual=3, available=3), Revision("new", wanted=1, actual=1, available=0)
    assert plan(bounds, new, [old]) == {}


def test_fewer_machines_are_wanted_of_the_newest_too() -> None:
    assert plan(Bounds(1, 1, 0), Revision("new", 3, 3, 3), []) == {"new": 1}


def test_machines_are_replaced_only_as_they_are_deleted_if_that_is_asked_for() -> None:
    bounds = Bounds(3, 0, 0)
    old, new = Revision("old", 3, 3, 3), Revision("new", 0, 0, 0)
    assert plan(bounds, new, [old], on_delete=True) == {}
    assert plan(bounds, new, [Revision("old", 3, 2, 2)], on_delete=True) == {"old": 2, "new": 1}


@pytest.mark.parametrize(
    ("surge", "unavailable", "expected"),
    [
        (None, None, Bounds(10, 1, 0)),
        (2, 3, Bounds(10, 2, 3)),
        ("25%", "25%", Bounds(10, 3, 2)),
        (0, 0, Bounds(10, 0, 1)),
        ("0%", "100%", Bounds(10, 0, 10)),
    ],
)
def test_bounds_are_numbers_or_shares(surge: int | str | None, unavailable: int | str | None, expected: Bounds) -> None:
    rolling = RollingUpdate(max_surge=surge, max_unavailable=unavailable)
    deployment = MachineDeployment(
        spec=MachineDeploymentSpec(
            cluster_name="shop",
            replicas=10,
            rollout=Rollout(strategy=RolloutStrategy(rolling_update=rolling)),
            template=MachineTemplateSpec(spec=MachineSpec(cluster_name="shop")),
        )
    )
    assert bounds_of(deployment) == expected
