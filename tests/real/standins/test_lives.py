"""The stand-ins of Cluster API look like Cluster API, through whole lives of clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from butler.simulation.delays import NONE
from tests.real.standins import accounts, running, views
from tests.real.standins.differences import AT_REST, IN_PASSING, KAMAJI, ORDER, Difference, Found
from tests.real.standins.life import LAST, STAGES
from tests.real.standins.objects import EVENTS, OF_CLUSTER_API, WATCHED
from tests.real.standins.recording import KINDS, Record

pytestmark = [
    pytest.mark.real,
    # The first test waits for the lives with the real managers.
    pytest.mark.timeout(600),
]
on_the_real_server = pytest.mark.parametrize("on", ["real"], indirect=True, scope="session")
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "local-platform.md"
each_kind = pytest.mark.parametrize("kind", [one.address.kind for one in OF_CLUSTER_API])


def found_at_rest(really: Record, simulated: Record, stage: str) -> list[Found]:
    """Where the two are different at the end of a stage."""
    here, there = really.snapshots[stage], simulated.snapshots[stage]
    return [
        Found(stage, kind, *found)
        for kind in KINDS
        if kind != EVENTS.kind
        for found in views.differences(views.views(here, kind), views.views(there, kind))
    ]


@on_the_real_server
@pytest.mark.parametrize("stage", STAGES)
def test_objects_are_alike_when_nothing_happens_any_more(really: Record, simulated: Record, stage: str) -> None:
    found = found_at_rest(really, simulated, stage)
    assert [one for one in found if not any(listed.covers(one) for listed in AT_REST)] == []


@on_the_real_server
@pytest.mark.parametrize("listed", AT_REST, ids=lambda one: f"{one.kind}.{one.path}")
def test_a_listed_difference_is_one(really: Record, simulated: Record, listed: Difference) -> None:
    found = [one for stage in STAGES for one in found_at_rest(really, simulated, stage)]
    assert any(listed.covers(one) for one in found), "it is no longer different"


@on_the_real_server
@each_kind
def test_phases_come_in_the_same_order(really: Record, simulated: Record, kind: str) -> None:
    assert accounts.phases(simulated, kind) == accounts.phases(really, kind)


@on_the_real_server
@each_kind
def test_people_are_told_the_same(really: Record, simulated: Record, kind: str) -> None:
    assert accounts.told(simulated, kind) == accounts.told(really, kind)


@on_the_real_server
def test_conditions_never_say_what_they_would_not_really_say(really: Record, simulated: Record) -> None:
    assert accounts.said(simulated) - accounts.said(really) - {one.said for one in IN_PASSING} == set()


@on_the_real_server
def test_what_conditions_really_say_in_passing_is_said_or_listed(really: Record, simulated: Record) -> None:
    unsaid = accounts.said(really) - accounts.said(simulated)
    assert unsaid - {one.said for one in IN_PASSING} == set()
    # Some are there only for a moment, and nobody knows whether it is seen.
    assert {one.said for one in IN_PASSING if one.always} - unsaid == set()


@on_the_real_server
@pytest.mark.parametrize("stage", STAGES)
def test_objects_come_and_go_in_the_same_order(really: Record, simulated: Record, stage: str) -> None:
    here, there = accounts.comings_and_goings(really)[stage], accounts.comings_and_goings(simulated)[stage]
    assert there == ORDER.ours(here)


@on_the_real_server
def test_the_listed_order_is_another(really: Record, simulated: Record) -> None:
    assert any(ORDER.ours(one) != one for one in accounts.comings_and_goings(really).values())


@on_the_real_server
def test_as_much_is_left(really: Record, simulated: Record) -> None:
    for last in LAST:
        left = [{kind.kind: len(record.snapshots[last][kind.kind]) for kind in WATCHED if kind != EVENTS}
                for record in (really, simulated)]  # fmt: skip
        assert left[0] == left[1]
        assert {kind for kind, count in left[1].items() if count} == {"Secret"}


def test_without_delays_everything_comes_to_rest_alike(simulated: Record, tmp_path: Path) -> None:
    """What is on its way is not told at once where nothing takes time, but after a while it is."""
    fast = running.with_standins(tmp_path, NONE, silence=40)
    found = {stage: found_at_rest(simulated, fast, stage) for stage in STAGES}
    assert {stage: one for stage, one in found.items() if one} == {}


@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_chance_changes_nothing(simulated: Record, tmp_path: Path, seed: int) -> None:
    again = running.with_standins(tmp_path, running.QUICK, seed=seed)
    assert [found for stage in STAGES for found in found_at_rest(simulated, again, stage)] == []
    for kind in OF_CLUSTER_API:
        name = kind.address.kind
        assert accounts.phases(again, name) == accounts.phases(simulated, name)
        assert accounts.told(again, name) == accounts.told(simulated, name)
    assert accounts.comings_and_goings(again) == accounts.comings_and_goings(simulated)
    assert accounts.said(again) ^ accounts.said(simulated) <= {one.said for one in IN_PASSING if not one.always}


def test_people_find_the_list() -> None:
    text = " ".join(PAGE.read_text().split())
    whys = [*(one.why for one in (*AT_REST, *KAMAJI)), *(one.why for one in IN_PASSING), ORDER.why]
    assert [why for why in whys if why not in text] == []
