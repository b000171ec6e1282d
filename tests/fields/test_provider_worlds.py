"""The worlds in which fields of providers are proven to act are the same twice; otherwise they would prove nothing."""

from __future__ import annotations

import pytest

from tests.fields.infrastructures import KINDS, asked_of
from tests.fields.provider_proofs import PROOFS
from tests.fields.request_proofs import account


@pytest.mark.parametrize("kind", KINDS)
async def test_the_same_account_is_used_in_the_same_way(kind: str) -> None:
    seen = await asked_of(kind, lambda there, spec: None)
    assert len(seen) > 10
    assert await asked_of(kind, lambda there, spec: None) == seen


@pytest.mark.parametrize(
    "path",
    [
        "ProviderConfig.spec.credentialsRef.name",
        "ProviderConfig.spec.simulated.lostPercent",
        "MachineRequest.spec.cpu",
        "LoadBalancerRequest.spec.port",
        "ImageSync.spec.format",
    ],
)
async def test_the_same_objects_come_to_the_same(path: str) -> None:
    proof = PROOFS[path]
    assert await proof.observe(proof.other) == await proof.observe(proof.other)


async def test_a_field_that_does_not_act_changes_nothing() -> None:
    one, other = ([{"name": "main", "priority": priority}] for priority in (1, 2))
    proof = account("network.poolRefs", one, other, {"network.mode": "ipam"})
    assert await proof.observe(proof.one) == await proof.observe(proof.other)
