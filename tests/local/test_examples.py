"""The example for the local platform becomes a running cluster."""

from __future__ import annotations

from pathlib import Path

import yaml

from butler.api.cluster import ClusterPhase, TenantCluster
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from tests.local.test_change_plan import TENANTS, World

EXAMPLE = Path(__file__).parents[2] / "examples" / "01-first-cluster.yaml"


async def test_the_first_example_becomes_a_running_cluster(tmp_path: Path) -> None:
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        await platform.client.create(yaml.safe_load(EXAMPLE.read_text()), TenantCluster.address)
        await World(platform.client).until(lambda now: now.status.phase is ClusterPhase.RUNNING)
        made = await platform.client.get(TenantCluster, "first", TENANTS)
    assert made.status.worker_nodes_ready == 3
