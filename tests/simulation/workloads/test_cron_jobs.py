"""CronJobs start their Jobs in time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from butler.simulation.workloads.jobs.kinds import CronJob, Job
from butler.simulation.workloads.jobs.schedules import following
from tests.simulation.workloads.world import TENANT, Object, World, job


def cron_job(schedule: str = "*/10 * * * *", image: str = "work", **spec: Any) -> Object:
    template = {"spec": job("", image)["spec"]}
    return {
        "metadata": {"name": "tick", "namespace": "default"},
        "spec": {"schedule": schedule, "jobTemplate": template, **spec},
    }


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("* * * * *", "2026-01-01T00:00:30", "2026-01-01T00:01:00"),
        ("*/15 * * * *", "2026-01-01T00:45:00", "2026-01-01T01:00:00"),
        ("5/20 3 * * *", "2026-01-01T03:25:00", "2026-01-01T03:45:00"),
        ("30 8-10/2,17 * * *", "2026-01-01T10:30:00", "2026-01-01T17:30:00"),
        ("0 0 29 2 *", "2026-01-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 12 * jan MON-fri", "2026-01-02T12:00:00", "2026-01-05T12:00:00"),
        ("0 0 13 * 5", "2026-01-01T00:00:00", "2026-01-02T00:00:00"),
        ("0 0 1 * ?", "2026-01-31T10:00:00", "2026-02-01T00:00:00"),
        ("@weekly", "2026-01-01T00:00:00", "2026-01-04T00:00:00"),
        ("@every 1h30m", "2026-01-01T00:00:00", "2026-01-01T01:30:00"),
    ],
)
def test_a_schedule_is_due(schedule: str, after: str, expected: str) -> None:
    assert following(schedule, datetime.fromisoformat(after)) == datetime.fromisoformat(expected)


def test_a_schedule_that_never_comes_is_never_due() -> None:
    assert following("0 0 30 2 *", datetime(2026, 1, 1, tzinfo=UTC)) is None


def test_a_schedule_is_due_in_its_time_zone() -> None:
    noon = following("0 12 * * *", datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")))
    assert noon is not None
    assert noon.astimezone(UTC).hour == 10


async def test_jobs_come_in_time_and_old_ones_go(world: World) -> None:
    async with world.running():
        await world.add(CronJob, cron_job(successfulJobsHistoryLimit=2))
        await world.settled(3540)
        assert world.workloads.active == {TENANT}
    jobs = await world.all(Job)
    assert len(jobs) == 2
    starts = [one.status.start_time for one in jobs]
    assert [start.minute % 10 for start in starts] == [0, 0]
    made = await world.get(CronJob, "tick")
    assert (made.status.active, made.status.last_schedule_time) == ((), starts[-1])
    assert world.writes["create jobs"] in (5, 6)


async def test_a_forbidden_overlap_waits_for_the_job_before(world: World) -> None:
    async with world.running():
        await world.add(CronJob, cron_job("* * * * *", "simulated/missing", concurrencyPolicy="Forbid"))
        await world.settled(300)
    assert len(await world.all(Job)) == 1


async def test_a_suspended_one_does_nothing(world: World) -> None:
    async with world.running():
        await world.add(CronJob, cron_job(suspend=True))
        await world.settled(3600)
        assert (await world.all(Job), world.workloads.active) == ([], set())
