"""What a tenant asks for beyond all measure: it gets as much as it may have, and the platform goes on."""

from __future__ import annotations

import pytest

from butler.api.model import MOST_PODS
from butler.simulation.workloads.jobs.kinds import Job
from butler.simulation.workloads.kinds import Deployment, ReplicaSet, StatefulSet
from tests.simulation.workloads.test_sets_and_jobs import stateful_set
from tests.simulation.workloads.world import World, deployment, job

FAR_TOO_MANY = 200_000


@pytest.mark.timeout(400)
async def test_a_tenant_has_no_more_pods_than_it_may(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=FAR_TOO_MANY))
        await world.settled(5)
        made = len(await world.pods())
    replica_set = (await world.client.list(ReplicaSet)).items[0]
    assert (made, replica_set.status.replicas) == (MOST_PODS, MOST_PODS)


@pytest.mark.timeout(400)
async def test_no_kind_of_workload_gets_more(world: World) -> None:
    async with world.running():
        await world.add(Job, job("work", parallelism=100_000, completions=100_000, completionMode="Indexed"))
        await world.add(StatefulSet, stateful_set(FAR_TOO_MANY, podManagementPolicy="Parallel"))
        await world.settled(5)
        assert len(await world.pods()) <= MOST_PODS + 500
