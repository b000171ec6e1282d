"""What is said about a run of Kubernetes' end-to-end tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from tests.real.e2e import reports, selection

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "api-server.md"


def spec(name: str, state: str, message: str = "", attempts: int = 1, kind: str = "It") -> dict[str, Any]:
    return {
        "ContainerHierarchyTexts": ["[sig] Things"] if kind == "It" else None,
        "LeafNodeText": name,
        "LeafNodeType": kind,
        "NumAttempts": attempts,
        "State": state,
        "RunTime": 2_000_000_000,
        **({"Failure": {"Message": message}} if message else {}),
    }


def report(tmp_path: Path, *specs: dict[str, Any], different: dict[str, str] | None = None) -> reports.Report:
    file = tmp_path / "report.json"
    file.write_bytes(msgspec.json.encode([{"SpecReports": specs}]))
    return reports.read("embedded", file, different or {})


def test_only_tests_that_were_begun_are_counted(tmp_path: Path) -> None:
    found = report(
        tmp_path,
        spec("work", "passed"),
        spec("break", "failed", "\n  no such thing\n  at all"),
        spec("wait", "timedout", "too long"),
        spec("differ", "skipped", "not here"),
        spec("others", "skipped", attempts=0),
        spec("", "passed", kind="BeforeSuite"),
    )
    assert found.summary() == "embedded: 1 passed, 2 failed, 1 skipped in 8 s"
    assert [one.name for one in found.failed] == ["[sig] Things break", "[sig] Things wait"]
    assert list(found.lines())[1:3] == ["  failed: [sig] Things break", "    no such thing"]


def test_a_suite_that_does_not_begin_has_failed(tmp_path: Path) -> None:
    found = report(tmp_path, spec("", "failed", "no nodes", kind="BeforeSuite"))
    assert [(one.name, one.message) for one in found.failed] == [("BeforeSuite", "no nodes")]


def test_what_differs_on_purpose_is_told_with_its_reason(tmp_path: Path) -> None:
    found = report(tmp_path, spec("break", "failed", "no"), different={"Things break": "on purpose"})
    assert found.failed == ()
    assert list(found.lines()) == [
        "embedded: 0 passed, 1 failed (1 on purpose), 0 skipped in 2 s",
        "  failed: [sig] Things break",
        "    on purpose",
    ]


def test_the_reference_names_every_test_that_fails_on_purpose() -> None:
    text = REFERENCE.read_text()
    assert [name for name in selection.DIFFERENT if not re.search(name, text)] == []
