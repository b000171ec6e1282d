"""The algebra of Cluster API's conditions: mirroring one, summing up several of one object, and one of several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from msgspec import structs

from kubekit.model.status import Condition
from kubekit.runtime.conditions import Truth, condition, merged

_NAMED = 3
"""So many names, or messages, are spelled out; the rest is counted."""


class Told(Protocol):
    """A condition, also one of another's making."""

    @property
    def type(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a condition that was put together says is the reason, by how it turned out."""

    well: str
    unknown: str
    ill: str


@dataclass(frozen=True, slots=True)
class Member:
    """One of the objects whose conditions are put together."""

    kind: str
    name: str
    conditions: Sequence[Told]


class _Weight(IntEnum):
    """What counts most."""

    ILL = 0
    UNKNOWN = 1
    WELL = 2


@dataclass(frozen=True, slots=True)
class _Finding:
    weight: _Weight
    subject: str
    message: str


def find(conditions: Iterable[Told], kind: str) -> Told | None:
    return next((one for one in conditions if one.type == kind), None)


def holds(conditions: Iterable[Told], kind: str) -> bool:
    found = find(conditions, kind)
    return found is not None and found.status == "True"


def mirrored(kind: str, source: Told, reason: str) -> Condition:
    """Another object's condition under a name of ours; `reason` is for one that gives none."""
    return condition(kind, _truth(source.status), source.reason or reason, source.message)


def summed_up(
    kind: str,
    parts: Sequence[Told],
    reasons: Reasons,
    *,
    negative: Collection[str] = (),
    harmless: Collection[str] = (),
) -> Condition:
    """One condition out of several of the same object. Of those in `negative` True is bad; those in `harmless` count
    as well whatever they say."""
    findings = [
        _Finding(_Weight.WELL if one.type in harmless else _weigh(one, one.type in negative), one.type, one.message)
        for one in parts
    ]
    worst = min((one.weight for one in findings), default=_Weight.WELL)
    told = sorted((one for one in findings if one.weight < _Weight.WELL), key=lambda one: one.weight)
    return _verdict(kind, worst, reasons, "\n".join(_line(one.subject, one.message) for one in told), is_bad=False)


def aggregated(
    kind: str, members: Sequence[Member], source: str, reasons: Reasons, *, negative: bool = False
) -> Condition:
    """One condition out of the same one of several objects. If it is `negative`, True is bad."""
    findings = [_observed(member, source, negative) for member in members]
    worst = min((one.weight for one in findings), default=_Weight.WELL)
    return _verdict(kind, worst, reasons, _grouped(members, findings), is_bad=negative)


def completed(existing: Sequence[Condition], wanted: Iterable[Condition], generation: int) -> tuple[Condition, ...]:
    """What an object's conditions become: all of ours, said of this generation, and those of others as they were."""
    return merged(existing, *(structs.replace(one, observed_generation=generation) for one in wanted))


def _truth(status: str) -> Truth:
    return "True" if status == "True" else "False" if status == "False" else "Unknown"


def _weigh(one: Told, is_negative: bool) -> _Weight:
    if one.status not in ("True", "False"):
        return _Weight.UNKNOWN
    return _Weight.WELL if (one.status == "True") is not is_negative else _Weight.ILL


def _observed(member: Member, source: str, negative: bool) -> _Finding:
    found = find(member.conditions, source)
    if found is None:
        return _Finding(_Weight.UNKNOWN, member.name, f"Condition {source} not yet reported")
    return _Finding(_weigh(found, negative), member.name, found.message)


def _verdict(kind: str, worst: _Weight, reasons: Reasons, message: str, *, is_bad: bool) -> Condition:
    match worst:
        case _Weight.ILL:
            return condition(kind, is_bad, reasons.ill, message)
        case _Weight.UNKNOWN:
            return condition(kind, "Unknown", reasons.unknown, message)
        case _:
            return condition(kind, not is_bad, reasons.well)


def _line(subject: str, message: str) -> str:
    if message.startswith("* "):
        return f"* {subject}:\n" + "\n".join(f"  {line}" for line in message.splitlines())
    return f"* {subject}: {message}" if message else f"* {subject}"


def _grouped(members: Sequence[Member], findings: Sequence[_Finding]) -> str:
    """Each message once, with the names of those it is about, the worst first."""
    groups: dict[tuple[int, str, str], list[str]] = {}
    for member, finding in zip(members, findings, strict=True):
        if finding.weight < _Weight.WELL and finding.message:
            groups.setdefault((finding.weight, member.kind, finding.message), []).append(member.name)
    lines = [_line(_subject(kind, names), message) for (_, kind, message), names in sorted(groups.items())]
    more = len(lines) - _NAMED
    return "\n".join([*lines[:_NAMED], f"* and {more} more"] if more > 0 else lines)


def _subject(kind: str, names: list[str]) -> str:
    more = len(names) - _NAMED
    text = ", ".join(sorted(names)[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{kind} {text}" if len(names) == 1 else f"{kind}s {text}"
