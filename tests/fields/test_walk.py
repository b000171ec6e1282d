"""Every field of every spec acts, is refused, or says that it does not act yet; and is shown to."""

from __future__ import annotations

import pytest

from butler.api import KINDS
from butler.api.fields import Effect, fields_of, idle_fields, leaves_of
from kubekit.model.resource import Resource
from tests.fields import provider_proofs
from tests.fields.lists import PROOFS, READ_BY_PEOPLE, REFUSALS

LEAVES = {f"{kind.address.kind}.{leaf.path}": leaf.effect for kind in KINDS for leaf in leaves_of(kind)}
ON_PROVIDERS = ("ProviderConfig", "MachineRequest", "ImageSync", "LoadBalancerRequest")
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.address.kind)


def marked(kind: type[Resource], effect: Effect) -> set[str]:
    prefix = f"{kind.address.kind}."
    return {path for path, found in LEAVES.items() if path.startswith(prefix) and found is effect}


@each_kind
def test_every_field_that_acts_is_proven_to(kind: type[Resource]) -> None:
    if kind.address.kind in ON_PROVIDERS and not provider_proofs.PROOFS:
        pytest.skip("there are no proofs for this kind yet")
    assert marked(kind, Effect.ACTS) - PROOFS.keys() - READ_BY_PEOPLE == set()


@each_kind
def test_every_field_marked_as_refused_is_shown_to_be(kind: type[Resource]) -> None:
    assert marked(kind, Effect.REFUSED) - REFUSALS.keys() == set()


def test_what_is_proven_is_marked_so() -> None:
    assert {path for path in PROOFS if LEAVES.get(path) is not Effect.ACTS} == set()
    assert {path for path in REFUSALS if LEAVES.get(path) is not Effect.REFUSED} == set()
    assert {path for path in READ_BY_PEOPLE if LEAVES.get(path) is not Effect.ACTS or path in PROOFS} == set()


def test_every_kind_has_fields() -> None:
    assert {path.partition(".")[0] for path in LEAVES} == {kind.address.kind for kind in KINDS}


def test_what_is_in_a_field_that_does_not_act_does_not_either() -> None:
    for kind in KINDS:
        for field in idle_fields(kind):
            inside = [one for one in fields_of(kind) if one.path.startswith(f"{field.prefix}.")]
            assert all(one.effect is Effect.NOT_YET for one in inside)
