"""What Proxmox says when something goes wrong: mostly in the reason phrase, whatever the status code."""

from __future__ import annotations

import re

from butler.errors import CapacityExhausted, MachineRejected, ProviderError, ProviderUnavailable

from ..rest import Reply


class Absent(ProviderError):
    """There is no such VM, volume or task."""

    reason = "Absent"


class Taken(ProviderUnavailable):
    """Somebody was quicker, perhaps ourselves: look again how things are."""


class Off(ProviderUnavailable):
    """The VM does not run, so nobody can be asked in it."""


class NoAgent(ProviderUnavailable):
    """The VM is not said to have a guest agent."""


class AgentSilent(ProviderUnavailable):
    """The VM runs, and its guest agent says nothing: before the guest has booted, it does not."""


_MEANINGS: tuple[tuple[re.Pattern[str], type[ProviderError]], ...] = tuple(
    (re.compile(text, re.IGNORECASE), kind)
    for text, kind in (
        (r"guest agent is not running|\bagent\b.*timeout|got timeout.*guest-", AgentSilent),
        (r"no qemu guest agent", NoAgent),
        (r"vm \d+ (is )?not running", Off),
        (r"configuration file '.+\.conf' does not exist|unable to find configuration file", Absent),
        (r"no such task|unable to parse (worker )?upid|no such volume|volume '.+' does not exist", Absent),
        (r"already exists|file exists|already running", Taken),
        (r"is locked|can't lock file|got timeout|got lock|detected modified configuration", ProviderUnavailable),
        (r"is running - destroy failed|no quorum|connection|timed? ?out|interrupted", ProviderUnavailable),
        (r"no space left|not enough (free )?space|out of space|insufficient free|quota exceeded", CapacityExhausted),
        (r"cannot allocate memory|not enough memory|no free (memory|vmid)", CapacityExhausted),
        (r"(storage|pool|node|bridge|vnet|zone) '[^']*' does not exist|no such (storage|node|pool|bridge)",
         MachineRejected),
        (r"not supported|does not support|not allowed|can't (clone|upload)|unable to parse|not available on node",
         MachineRejected),
        (r"protection mode|vcpus allowed|is not a template|is disabled|checksum mismatch|invalid format",
         MachineRejected),
    )
)  # fmt: skip
"""The first that fits counts."""


def explained(reply: Reply) -> str:
    """What an answer that is an error says, in one line."""
    body = reply.body if isinstance(reply.body, dict) else {}
    errors = body.get("errors")
    fields = "; ".join(f"{name}: {_line(text)}" for name, text in errors.items()) if isinstance(errors, dict) else ""
    return ", ".join(part for part in (_line(body.get("message") or reply.reason), fields) if part)


def judged(reply: Reply) -> type[ProviderError] | None:
    """Which error an answer is, where the status code alone does not say."""
    if reply.status in (401, 403, 429):
        return None
    text = explained(reply)
    if reply.status == 400:
        return next((kind for kind in (Taken, Absent) if meaning(text) is kind), None)
    return meaning(text)


def meaning(text: str) -> type[ProviderError] | None:
    """Which error a text of Proxmox stands for; None when it says nothing that is known here."""
    return next((kind for pattern, kind in _MEANINGS if pattern.search(text)), None)


def _line(text: object) -> str:
    return " ".join(str(text or "").split())
