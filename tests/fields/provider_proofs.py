"""The fields of ProviderConfig, MachineRequest, ImageSync and LoadBalancerRequest, proven on the providers' fakes.

A key is a kind and the path of a leaf, written as in docs/reference/kinds.md: `MachineRequest.spec.nics[].network`,
`ProviderConfig.spec.proxmox.storage`; a map or free-form object is a leaf by its own name. `tests/fields/test_acts.py`
runs every one of them as a test of its own; `tests/fields/test_walk.py` says which leaves are in no list. What does
not act yet stands in `src/butler/api/not_yet.py` and has no entry here."""

from __future__ import annotations

from tests.fields.proof import Proof, Refusal

PROOFS: dict[str, Proof] = {}
REFUSALS: dict[str, Refusal] = {}
