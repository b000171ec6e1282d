"""What a run of Kubernetes' end-to-end tests came to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

_PASSED, _SKIPPED = "passed", "skipped"


@dataclass(frozen=True)
class Outcome:
    """One test that was begun."""

    name: str
    state: str
    seconds: float
    message: str

    @property
    def has_failed(self) -> bool:
        return self.state not in (_PASSED, _SKIPPED)


@dataclass(frozen=True)
class Report:
    """All tests that were begun on one server."""

    on: str
    outcomes: tuple[Outcome, ...]

    different: Mapping[str, str] = field(default_factory=dict)
    """Tests that may fail here → why."""

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Those that failed without a reason that is known."""
        return tuple(one for one in self.outcomes if one.has_failed and not self._reason(one))

    def summary(self) -> str:
        counts = Counter("failed" if one.has_failed else one.state for one in self.outcomes)
        known = counts["failed"] - len(self.failed)
        failed = f"{counts['failed']} failed" + (f" ({known} on purpose)" if known else "")
        seconds = sum(one.seconds for one in self.outcomes)
        return f"{self.on}: {counts[_PASSED]} passed, {failed}, {counts[_SKIPPED]} skipped in {seconds:.0f} s"

    def lines(self) -> Iterator[str]:
        """The counts, then every test that did not pass."""
        yield self.summary()
        for one in sorted(self.outcomes, key=lambda one: (one.state, one.name)):
            if one.state != _PASSED:
                yield f"  {one.state}: {one.name}"
                yield f"    {self._reason(one) or one.message}"

    def _reason(self, outcome: Outcome) -> str:
        return next((why for name, why in self.different.items() if re.search(name, outcome.name)), "")


def read(on: str, file: Path, different: Mapping[str, str]) -> Report:
    """From Ginkgo's JSON report."""
    suites = msgspec.json.decode(file.read_bytes())
    specs = [spec for suite in suites for spec in suite["SpecReports"] or ()]
    return Report(on, tuple(_outcome(spec) for spec in specs if _was_begun(spec)), different)


def _was_begun(spec: dict[str, Any]) -> bool:
    """Tests outside the selection are in the report too, and so are the steps before and after all tests."""
    is_test = spec["LeafNodeType"] == "It"
    return (is_test and spec["NumAttempts"] > 0) or (not is_test and spec["State"] not in (_PASSED, _SKIPPED))


def _outcome(spec: dict[str, Any]) -> Outcome:
    texts = [*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]]
    message = (spec.get("Failure") or {}).get("Message") or ""
    return Outcome(" ".join(texts) or spec["LeafNodeType"], spec["State"], spec["RunTime"] / 1e9, _first_line(message))


def _first_line(message: str) -> str:
    return next((line.strip() for line in message.splitlines() if line.strip()), "")[:300]
