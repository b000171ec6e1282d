"""What a tenant asks for beyond all measure: it gets as much as it may have, and the platform goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from butler.api.model import MOST_PODS
from butler.simulation.workloads.jobs.kinds import Job
from butler.simulation.workloads.kinds import DaemonSet, Deployment, ReplicaSet, StatefulSet
from kubekit.model.resource import Address
from tests.simulation.workloads.test_sets_and_jobs import daemon_set, stateful_set
from tests.simulation.workloads.world import Object, World, deployment, job

FAR_TOO_MANY = 200_000
QUOTAS = Address("", "v1", "ResourceQuota", "resourcequotas", True)


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


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (DaemonSet, daemon_set),
        (StatefulSet, lambda: stateful_set(2)),
        (Deployment, lambda: deployment(replicas=2)),
    ],
    ids=["DaemonSet", "StatefulSet", "Deployment"],
)
async def test_whoever_found_no_room_asks_again(world: World, kind: type[Any], make: Callable[[], Object]) -> None:
    async with world.running():
        await world.add(QUOTAS, {"metadata": {"name": "few", "namespace": "default"}, "spec": {"hard": {"pods": "1"}}})
        await world.add(kind, make())
        await world.settled()
        assert len(await world.pods()) == 1
        await world.delete(QUOTAS, "few")
        await world.settled(600)
        assert len(await world.pods()) == 2
