"""Every field said to act does, and every field said to be refused is."""

from __future__ import annotations

import pytest

from tests.fields import provider_proofs
from tests.fields.proof import Proof, Refusal


@pytest.mark.parametrize("proof", [pytest.param(proof, id=path) for path, proof in provider_proofs.PROOFS.items()])
async def test_a_field_acts(proof: Proof) -> None:
    assert await proof.observe(proof.one) != await proof.observe(proof.other)


@pytest.mark.parametrize(
    "refusal", [pytest.param(refusal, id=path) for path, refusal in provider_proofs.REFUSALS.items()]
)
async def test_a_field_is_refused(refusal: Refusal) -> None:
    assert refusal.message in str(await refusal.observe(refusal.value))
