"""The fields of ProviderConfig, MachineRequest, ImageSync and LoadBalancerRequest, proven on the providers' fakes.

A key is a kind and the path of a leaf, written as in docs/reference/kinds.md: `MachineRequest.spec.image`,
`ProviderConfig.spec.network.poolRefs[].name`; a map or free-form object is a leaf by its own name. Every one of them
is run as a test of its own by `tests/fields/test_acts.py`; `tests/fields/test_walk.py` says which leaves are in no
list. What does not act yet has the mark NOT_YET in `src/butler/api` and no entry here; what is in REFUSALS has the mark
REFUSED."""

from __future__ import annotations

from tests.fields.proof import Proof, Refusal

PROOFS: dict[str, Proof] = {}
REFUSALS: dict[str, Refusal] = {}
"""Fields of which nothing but the default is accepted."""
