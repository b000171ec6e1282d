"""Every field said to act does, and every field said to be refused is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fields import cluster_proofs, profile_proofs
from tests.fields.cluster_world import Setting, observing
from tests.fields.lists import PROOFS, REFUSALS
from tests.fields.proof import Proof, Refusal

MISTAKES = [*REFUSALS.items(), *cluster_proofs.MISTAKES.items()]


@pytest.mark.parametrize("proof", [pytest.param(proof, id=path) for path, proof in PROOFS.items()])
async def test_a_field_acts(proof: Proof) -> None:
    seen = await proof.observe(proof.one)
    assert seen != await proof.observe(proof.other)


@pytest.mark.parametrize("refusal", [pytest.param(refusal, id=path) for path, refusal in MISTAKES])
async def test_a_field_is_refused(refusal: Refusal) -> None:
    assert refusal.message in str(await refusal.observe(refusal.value))


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("TenantCluster.spec.kubernetesVersion", "v1.31.4", "v1.31.4"),
        ("TenantCluster.spec.networking.lbPoolSize", 1, 2),
        ("TenantCluster.spec.workspaces.enabled", True, False),
        ("TenantCluster.spec.workers.machineTemplate.os.type", "rocky", "flatcar"),
        ("Team.spec.description", "one", "two"),
        ("ButlerConfig.spec.audit.enabled", True, False),
    ],
)
async def test_where_nothing_acts_nothing_differs(path: str, one: Any, other: Any) -> None:
    """Otherwise the proofs would prove nothing."""
    observe = observing(path, Setting(team={}))
    assert await observe(one) == await observe(other)


async def test_the_same_profile_comes_to_the_same() -> None:
    observe = profile_proofs.observing("spec.addons[].values")
    assert await observe({"replicas": 1}) == await observe({"replicas": 1})
