"""The fields of ProviderConfig, MachineRequest, ImageSync and LoadBalancerRequest, proven on the providers' fakes.

A key is a kind and the path of a leaf, written as in docs/reference/kinds.md:
`MachineRequest.spec.extraDisks[].sizeGB`, `ProviderConfig.spec.proxmox.storage`; a map or free-form object is a leaf by
its own name. `tests/fields/test_acts.py` runs every one of them as a test of its own; `tests/fields/test_walk.py` says
which leaves are in no list. What does not act yet has the mark NOT_YET in `src/butler/api` and no entry here; a field
in REFUSALS has the mark REFUSED."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from butler.api.provider import ProviderConfig
from butler.controllers.cluster.acceptance import Refused
from butler.controllers.cluster.steps.quota import Quota
from butler.controllers.cluster.steps.workers import Workers
from butler.providers import account_fields
from butler.simulation.infrastructure.kinds import SimulatedCluster
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.clusters import cluster, provider, scope_of, surroundings, team
from tests.fields.proof import Proof, Refusal, in_virtual_time
from tests.fields.request_proofs import REQUEST_PROOFS
from tests.fields.section_proofs import SECTION_PROOFS
from tests.simulation.infrastructure_world import NAMESPACE, REALISTIC, Process, World


def _judged(of: Callable[[Any], ProviderConfig], one: Any, other: Any) -> Proof:
    """Seen by what becomes of a team's second cluster on the provider: refused, held up, or made in some form."""

    async def observe(value: Any) -> object:
        first = cluster("first", uid="first", created="2025-01-01T00:00:00Z", teamRef={"name": "web"})
        world = surroundings(of(value), team("web"), team("data"), first)
        try:
            scope = scope_of(cluster(workers={"replicas": 3}, teamRef={"name": "web"}), world)
        except Refused as refused:
            return str(refused)
        return Quota().verdict(scope), [manifest.body for manifest in Workers().manifests(scope)]

    return Proof(observe, one, other)


async def _zones(names: list[str]) -> object:
    """What Cluster API sees of a cluster's zones."""

    async def main(loop: Loop) -> object:
        world = World(loop)
        await world.furnish(failure_domains=tuple(names))
        await world.cluster({"host": "10.0.0.1", "port": 6443})
        account = {"providerConfigRef": {"name": "simulated", "namespace": "butler-system"}}
        await world.client.patch(SimulatedCluster, "shop", {"spec": account}, NAMESPACE)
        process = Process(world, REALISTIC)
        await asyncio.sleep(5)
        found = await world.client.get(SimulatedCluster, "shop", NAMESPACE)
        await process.end()
        return found.status.failure_domains

    return await in_virtual_time(main)


class _Settings(msgspec.Struct, frozen=True):
    """What some other provider wants to know."""

    endpoint: str


async def _settings(endpoint: str) -> object:
    """What a provider that others wrote gets to see."""
    external = {"name": "tinycloud", "settings": {"endpoint": endpoint}}
    return account_fields.settings(provider(provider="external", external=external), _Settings)


PROOFS: dict[str, Proof] = {
    **SECTION_PROOFS,
    **REQUEST_PROOFS,
    "ProviderConfig.spec.simulated.failureDomains": Proof(_zones, ["a"], ["a", "b"]),
    "ProviderConfig.spec.external.settings": Proof(_settings, "https://a", "https://b"),
    "ProviderConfig.spec.network.timeServers": _judged(
        lambda servers: provider(network={"timeServers": servers}), ["ntp1.example.com"], ["ntp2.example.com"]
    ),
    "ProviderConfig.spec.limits.maxClustersPerTeam": _judged(
        lambda most: provider(limits={"maxClustersPerTeam": most}), 1, 2
    ),
    "ProviderConfig.spec.limits.maxNodesPerTeam": _judged(
        lambda most: provider(limits={"maxNodesPerTeam": most}), 3, 4
    ),
    "ProviderConfig.spec.scope.type": _judged(
        lambda kind: provider(scope={"type": kind, **({"teamRef": {"name": "data"}} if kind == "team" else {})}),
        "platform",
        "team",
    ),
    "ProviderConfig.spec.scope.teamRef.name": _judged(
        lambda name: provider(scope={"type": "team", "teamRef": {"name": name}}), "web", "data"
    ),
}
REFUSALS: dict[str, Refusal] = {}
"""Fields of which nothing but the default is accepted."""
