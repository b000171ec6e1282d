"""A change that is refused: said to everyone who asks, and the cluster stays as it was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from butler.api.admission import BINDING, POLICY
from butler.api.cluster import ClusterPhase, TenantCluster, TenantClusterStatus
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE
from butler.engines.capi.kinds import MachineDeployment
from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from kubekit.client.protocol import Client, Selection, Signal
from tests.local.worlds import NAME, TENANTS, Done, create, runs, until

DEPLOYMENT = f"{NAME}-workers"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """Of a platform in which a cluster of two workers runs v1.31.4."""
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        await create(platform.client)
        await until(platform.client, runs("v1.31.4", 2))
        yield platform.client


async def change(client: Client, **spec: Any) -> None:
    await client.patch(TenantCluster, NAME, {"spec": spec}, TENANTS)


def says(reason: str) -> Done:
    """Whether a cluster is said not to be ready, of what is written now."""

    def is_said(cluster: TenantCluster | None) -> bool:
        ready = cluster.status.condition("Ready") if cluster is not None else None
        if cluster is None or ready is None or ready.observed_generation != cluster.metadata.generation:
            return False
        return (ready.status, ready.reason) == ("False", reason)

    return is_said


async def status_of(client: Client) -> TenantClusterStatus:
    return (await client.get(TenantCluster, NAME, TENANTS)).status


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        ({"kubernetesVersion": "v1.34.1"}, "VersionNotAllowed", "no minor may be skipped: go to v1.32 first"),
        ({"kubernetesVersion": "v1.30.1"}, "VersionNotAllowed", "Kubernetes cannot go back"),
        ({"networking": {"podCIDR": "10.9.0.0/16"}}, "ValidationFailed", "must stay 10.244.0.0/16"),
        ({"providerConfigRef": {"name": "nowhere"}}, "ProviderConfigNotFound", "there are: simulated"),
    ],
    ids=("jump", "downgrade", "network", "provider"),
)
async def test_a_cluster_is_not_ready_while_its_change_is_refused(
    client: Client, spec: dict[str, Any], reason: str, message: str
) -> None:
    before = await client.get(TenantCluster, NAME, TENANTS)
    await change(client, **spec)
    await until(client, says(reason))
    status = await status_of(client)
    ready, accepted = status.condition("Ready"), status.condition("Accepted")
    assert ready is not None
    assert accepted is not None
    access = status.condition("ProviderAccessGranted")
    assert access is not None
    assert access.status == "True"
    assert message in ready.message
    assert (accepted.status, accepted.message) == ("False", ready.message)
    assert (status.phase, status.worker_nodes_ready, status.worker_nodes_desired) == (ClusterPhase.RUNNING, 2, 2)
    assert status.observed_state is not None
    assert status.observed_state.kubernetes_version == "v1.31.4"
    undone = {name: None for name in spec if name != "kubernetesVersion"}
    await change(client, **undone, kubernetesVersion=before.spec.kubernetes_version)
    await until(client, runs("v1.31.4", 2))


async def test_too_many_workers_are_refused_and_those_there_are_stay(client: Client) -> None:
    limits = {"spec": {"limits": {"maxNodesPerTeam": 3}}}
    await client.patch(ProviderConfig, "simulated", limits, SYSTEM_NAMESPACE)
    await change(client, workers={"replicas": 5})
    await until(client, says("QuotaExceeded"))
    status = await status_of(client)
    assert (status.phase, status.worker_nodes_ready, status.worker_nodes_desired) == (ClusterPhase.RUNNING, 2, 2)
    workers = status.condition("WorkersReady")
    assert workers is not None
    assert workers.status == "True"
    await change(client, workers={"replicas": 3})
    await until(client, runs("v1.31.4", 3))


async def test_what_one_cluster_gives_up_another_gets(client: Client) -> None:
    limits = {"spec": {"limits": {"maxNodesPerTeam": 3}}}
    await client.patch(ProviderConfig, "simulated", limits, SYSTEM_NAMESPACE)
    await create(client, "second")
    await until(client, says("QuotaExceeded"), "second")
    await change(client, workers={"replicas": 1})
    await until(client, runs("v1.31.4", 2), "second")
    await create(client, "third")
    await until(client, says("QuotaExceeded"), "third")
    await client.delete(TenantCluster, NAME, TENANTS)
    await client.patch(TenantCluster, "second", {"spec": {"workers": {"replicas": 1}}}, TENANTS)
    await until(client, runs("v1.31.4", 2), "third")


async def test_a_cluster_is_kept_as_it_was_while_a_change_is_refused(client: Client) -> None:
    await change(client, kubernetesVersion="v1.34.1", workers={"replicas": 4})
    await until(client, says("VersionNotAllowed"))
    inside = (await status_of(client)).tenant_namespace or ""
    lost = await client.get(MachineDeployment, DEPLOYMENT, inside)
    listed = await client.list(MachineDeployment, Selection(inside))
    await client.delete(MachineDeployment, DEPLOYMENT, inside)
    async for event in client.watch(MachineDeployment, Selection(inside), version=listed.version):
        if event.signal is Signal.ADDED and event.item and event.item.metadata.uid != lost.metadata.uid:
            break
    made = await client.get(MachineDeployment, DEPLOYMENT, inside)
    assert (made.spec.replicas, made.spec.template.spec.version) == (2, "v1.31.4")


async def test_an_upgrade_goes_on_while_a_further_one_is_refused(client: Client) -> None:
    await change(client, kubernetesVersion="v1.32.2")
    await change(client, kubernetesVersion="v1.34.1")
    await until(client, says("VersionNotAllowed"))
    await change(client, kubernetesVersion="v1.32.2")
    await until(client, runs("v1.32.2", 2))


async def test_a_change_that_a_part_of_the_cluster_does_not_take_is_not_ready(client: Client) -> None:
    name = {"metadata": {"name": "keep-versions"}}
    rule = {
        "apiGroups": [KamajiControlPlane.address.group],
        "apiVersions": ["*"],
        "operations": ["UPDATE"],
        "resources": [KamajiControlPlane.address.plural],
    }
    deny = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.spec.version == oldObject.spec.version", "message": "not this week"}],
    }
    for kind, spec in (
        (POLICY, deny),
        (BINDING, {"policyName": "keep-versions", "validationActions": ["Deny"]}),
    ):
        await client.create({"apiVersion": kind.api_version, "kind": kind.kind, **name, "spec": spec}, kind)
    await change(client, kubernetesVersion="v1.32.2")
    await until(client, says("CAPIResourceError"))
    ready = (await status_of(client)).condition("Ready")
    assert ready is not None
    assert "not this week" in ready.message
    await change(client, kubernetesVersion="v1.31.4")
    await until(client, runs("v1.31.4", 2))
