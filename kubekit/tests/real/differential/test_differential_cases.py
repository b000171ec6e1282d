"""The embedded server answers as Kubernetes does."""

from __future__ import annotations

import pytest

from tests.real.differential.cases import CASES
from tests.real.differential.comparisons import Comparisons
from tests.real.differential.steps import Case
from tests.real.differential.verdicts import Tally

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_both_answer_the_same(case: Case, comparisons: Comparisons, tally: Tally) -> None:
    verdict = comparisons.verdict(case.title)
    tally.add(case, verdict)
    if wrong := [*verdict.open, *verdict.outlived]:
        pytest.fail("\n".join(wrong), pytrace=False)
