"""What a ProviderConfig says about the simulated infrastructure, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Network

from butler.api.sections.simulated import SimulatedSection
from butler.api.units import duration
from kubekit.errors import InvalidConfiguration


@dataclass(frozen=True, slots=True)
class Knobs:
    """A section with its durations in seconds."""

    section: SimulatedSection
    boot: float
    removal: float
    call: float
    visibility: float
    lost_after: float
    network: IPv4Network

    @classmethod
    def of(cls, section: SimulatedSection, subject: str) -> Knobs:
        """Raises InvalidConfiguration; `subject` is whose section it is."""
        return cls(
            section,
            boot=_seconds(subject, "bootDelay", section.boot_delay),
            removal=_seconds(subject, "removalDelay", section.removal_delay),
            call=_seconds(subject, "callDelay", section.call_delay),
            visibility=_seconds(subject, "visibilityDelay", section.visibility_delay),
            lost_after=_seconds(subject, "lostAfter", section.lost_after),
            network=_network(subject, section.network),
        )

    def without_delays(self) -> Knobs:
        return replace(self, boot=0, removal=0, call=0, visibility=0)


def _seconds(subject: str, name: str, text: str) -> float:
    try:
        seconds = duration(text).total_seconds()
    except ValueError as error:
        raise InvalidConfiguration(subject, f"spec.simulated.{name}", str(error)) from error
    if seconds < 0:
        raise InvalidConfiguration(subject, f"spec.simulated.{name}", f"{text!r} is less than nothing")
    return seconds


def _network(subject: str, text: str) -> IPv4Network:
    try:
        return IPv4Network(text)
    except ValueError as error:
        raise InvalidConfiguration(subject, "spec.simulated.network", str(error)) from error
