"""Every difference is a row of the reference, and every row a difference that some request shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.differential import differences
from tests.real.differential.cases import CASES
from tests.real.differential.differences import Difference, Unfinished

pytestmark = pytest.mark.real

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "api-server.md"
MISSING, ON_PURPOSE = "## What it does not do", "## Where it differs on purpose"
NOT_SHOWN = {
    "a new CRD's resources": "a matter of time",
    "what evaluating CEL costs": "no answer says what something has cost",
    "objects that own themselves, or each other, and are deleted in the foreground": "one would wait for ever",
    "`/version` of an isolated API, for those who show no credentials": "Kubernetes has one API per server",
    "audit annotations of an admission policy": "nobody sees an audit log from outside",
    "order of several problems in one message": "both are put in one order before they are compared",
    "a client certificate of an unknown authority": "there is no answer to compare",
}
"""Rows that no case can meet."""

NAMED = [one for one in vars(differences).values() if isinstance(one, (Difference, Unfinished))]
MET = {mark for case in CASES for step in case.steps for mark in step.differs.values()}


def rows(heading: str) -> list[str]:
    """The first cells of the table under a heading."""
    section = REFERENCE.read_text().split(heading, 1)[1].split("\n## ", 1)[0]
    _, _, *lines = (line for line in section.splitlines() if line.startswith("|"))
    return [line.split("|")[1].strip() for line in lines]


def test_what_differs_on_purpose_is_in_the_reference() -> None:
    told = [*rows(MISSING), *rows(ON_PURPOSE)]
    assert [one.title for one in NAMED if isinstance(one, Difference) and one.title not in told] == []


def test_what_the_reference_says_differs_is_shown_by_a_case() -> None:
    shown = {one.title for one in NAMED if isinstance(one, Difference)}
    assert [row for row in rows(ON_PURPOSE) if row not in shown and row not in NOT_SHOWN] == []
    assert [row for row in NOT_SHOWN if row not in rows(ON_PURPOSE)] == []


def test_every_difference_is_met_by_a_case() -> None:
    assert [one for one in NAMED if one not in MET] == []


def test_names_of_cases_are_unique() -> None:
    names = [(case.subject, case.name) for case in CASES]
    assert len(set(names)) == len(names)
