"""What the comparison of a case says: equal, different on purpose, or different."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.real.differential.answers import Answer
from tests.real.differential.differences import CLIENTS_FAULT, Difference, Unfinished
from tests.real.differential.likeness import Likeness, Mismatch, fits, mismatches
from tests.real.differential.steps import Case, Step


@dataclass
class Verdict:
    """Of one case."""

    open: list[str] = field(default_factory=list)
    """Differences that nobody meant, each in a few lines."""
    deliberate: set[Difference] = field(default_factory=set)
    unfinished: set[Unfinished] = field(default_factory=set)
    outlived: list[str] = field(default_factory=list)
    """Marks at places that no longer differ."""


def judge(case: Case, real: list[Answer], embedded: list[Answer]) -> Verdict:
    verdict, theirs, ours = Verdict(), Likeness(), Likeness()
    for number, (step, one, other) in enumerate(zip(case.steps, real, embedded, strict=True)):
        found = _found(theirs.of(step, one), ours.of(step, other))
        if case.is_generated and any(_is_clients_fault(_first_words(one)) for one in found):
            verdict.deliberate.add(CLIENTS_FAULT)
            continue
        _sort(step, f"step {number}: {step.method} {step.path}", found, verdict)
    return verdict


def _found(real: dict[str, Any], embedded: dict[str, Any]) -> list[Mismatch]:
    """With different codes there is little else to compare."""
    if real["status"] != embedded["status"]:
        return [("answer", _short(real), _short(embedded))]
    return list(mismatches(real, embedded))


def _is_clients_fault(found: Mismatch) -> bool:
    """Whether both say the same, one of them as its own fault."""
    place, real, embedded = found
    return place == "answer" and (real[:3], embedded[:3]) == ("500", "400") and real[3:] == embedded[3:]


def _first_words(found: Mismatch) -> Mismatch:
    """Without the list of what does not fit a schema: Kubernetes stops somewhere on the way through a Go map."""
    place, *texts = found
    real, embedded = (str(text).partition("): ")[0] for text in texts)
    return place, real, embedded


def _short(likeness: dict[str, Any]) -> str:
    body = likeness.get("body")
    said = body.get("message", "") if isinstance(body, dict) else body
    return f"{likeness['status']} {said or ''}".rstrip()


def _sort(step: Step, title: str, found: list[Mismatch], verdict: Verdict) -> None:
    seen: set[str] = set()
    wrong: list[str] = []
    for place, real, embedded in found:
        if any(fits(place, pattern) for pattern in step.ignore):
            continue
        marks = [pattern for pattern in step.differs if fits(place, pattern)]
        seen.update(marks)
        for mark in (step.differs[pattern] for pattern in marks):
            if isinstance(mark, Unfinished):
                verdict.unfinished.add(mark)
            else:
                verdict.deliberate.add(mark)
        is_known = bool(marks)
        if step.differs.get("answer") is CLIENTS_FAULT:
            is_known = _is_clients_fault((place, real, embedded))
        if not is_known:
            wrong.append(f"\n  {place}\n    real:     {real!r}\n    embedded: {embedded!r}")
    if wrong:
        verdict.open.append(title + "".join(wrong))
    for pattern in step.differs.keys() - seen:
        verdict.outlived.append(f"{title}\n  {pattern} is marked to differ, and does not")


@dataclass
class Tally:
    """Of all cases and sequences of a run."""

    cases: int = 0
    requests: int = 0
    sequences: int = 0
    scripts: int = 0
    commands: int = 0
    deliberate: set[Difference] = field(default_factory=set)
    unfinished: set[Unfinished] = field(default_factory=set)
    failed: int = 0

    def add(self, case: Case, verdict: Verdict) -> None:
        if case.is_generated:
            self.sequences += 1
        else:
            self.cases += 1
        self.requests += len(case.steps)
        self.deliberate |= verdict.deliberate
        self.unfinished |= verdict.unfinished
        self.failed += bool(verdict.open)

    def add_script(self, commands: int, *, is_open: bool) -> None:
        self.scripts += 1
        self.commands += commands
        self.failed += is_open

    def text(self) -> str:
        return (
            f"{self.cases} cases and {self.sequences} generated sequences, {self.requests} requests to each server; "
            f"{self.scripts} scripts of kubectl, {self.commands} commands; "
            f"{len(self.deliberate)} deliberate differences, {len(self.unfinished) + self.failed} open ones"
        )
