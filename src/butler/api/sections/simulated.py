"""What a ProviderConfig says about simulated infrastructure."""

from __future__ import annotations

from kubekit.model.resource import Model, NotNegative, Positive

from ..model import Cidr, Duration, Percent


class SimulatedSection(Model):
    """Infrastructure that exists only in Butler's own records, for trying things out.

    It fails, loses, slows down and repeats as it is told to."""

    network: Cidr = "172.16.0.0/12"
    """Where the machines' addresses are from."""
    failure_domains: tuple[str, ...] = ()
    """Names of its zones."""
    capacity: NotNegative | None = None
    """How many machines there is room for; left out, any number."""
    capacity_cpu: NotNegative | None = None
    """How many cores all machines may have together; left out, any number."""
    capacity_memory_mb: NotNegative | None = None
    """How much memory all machines may have together, in MiB; left out, any amount."""
    boot_delay: Duration = "2s"
    """How long a machine takes until it has an address."""
    removal_delay: Duration = "1s"
    """How long a machine takes to go."""
    call_delay: Duration = "0s"
    """How long every call takes."""
    visibility_delay: Duration = "0s"
    """How long a new machine is not found yet."""
    rate_limit: Positive | None = None
    """How many calls a second are answered; left out, any number."""
    failure_percent: Percent = 0
    """How many of a hundred calls fail before they do anything."""
    lost_answer_percent: Percent = 0
    """How many of a hundred calls do what they should and then fail."""
    repeated_percent: Percent = 0
    """How many of a hundred orders for a machine arrive twice."""
    ignores_tokens: bool = False
    """Take an order that was made before for a new one."""
    stuck_percent: Percent = 0
    """How many of a hundred machines never boot."""
    lost_percent: Percent = 0
    """How many of a hundred machines disappear."""
    lost_after: Duration = "10m"
    """How old those are when they do."""
