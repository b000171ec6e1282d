"""The fields of ProviderConfig, MachineRequest, ImageSync and LoadBalancerRequest, proven on the providers' fakes.

A key is a kind and the path of a leaf, written as in docs/reference/kinds.md:
`MachineRequest.spec.extraDisks[].sizeGB`, `ProviderConfig.spec.proxmox.storage`; a map or free-form object is a leaf by its own name. `tests/fields/test_acts.py`
runs every one of them as a test of its own; `tests/fields/test_walk.py` says which leaves are in no list. What does
not act yet has the mark NOT_YET in `src/butler/api` and no entry here; a field in REFUSALS has the mark REFUSED."""

from __future__ import annotations

from tests.fields.proof import Proof, Refusal

PROOFS: dict[str, Proof] = {}
REFUSALS: dict[str, Refusal] = {}
"""Fields of which nothing but the default is accepted."""
