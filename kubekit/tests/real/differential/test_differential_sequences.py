"""Whatever several clients do to an object, it ends the same on both servers."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.real.differential.comparisons import Pair
from tests.real.differential.sequences import KINDS, lives
from tests.real.differential.verdicts import Tally

pytestmark = [pytest.mark.real, pytest.mark.timeout(3600)]

WANTED = os.environ.get("KUBEKIT_DIFFERENTIAL_SEQUENCES", "")
"""How many sequences per kind, each time others; without it always the same few."""
_DEFAULT = 20


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_lives_the_same_life(kind: str, pair: Pair, tally: Tally) -> None:
    @settings(
        max_examples=int(WANTED or _DEFAULT),
        derandomize=not WANTED,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def each(data: st.DataObject) -> None:
        case = data.draw(lives(KINDS[kind]))
        verdict = pair.runner.run(pair.compare(case))
        tally.add(case, verdict)
        if verdict.open:
            pytest.fail("\n".join([*verdict.open, *map(repr, case.steps)]), pytrace=False)

    each()
