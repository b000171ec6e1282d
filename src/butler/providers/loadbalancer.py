"""What a load balancer of an infrastructure is: an address in front of the API servers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .contract import NOTHING_KNOWN, Known


@dataclass(frozen=True, slots=True)
class BalancerTarget:
    """A machine behind it, by whatever is known of it."""

    id: str = ""
    name: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class BalancerOrder:
    """A load balancer that is wanted. `token` is the UID of who wants it."""

    name: str
    token: str
    port: int
    health_check_port: int
    targets: tuple[BalancerTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class Balancer:
    """A load balancer as the infrastructure shows it."""

    id: str
    name: str
    token: str
    endpoint: str = ""
    """Address or DNS name; empty until it has one."""
    targets: int = 0
    """How many machines are registered with it."""
    is_ready: bool = False
    """Whether it takes connections and nothing of the order is left to do."""
    task: str = ""
    """The infrastructure's task that is at work for it; it comes back as `Known` with the next call."""


class LoadBalancers(Protocol):
    """The load balancers of an account. As with machines, the verbs are idempotent and never wait."""

    async def ensure(self, order: BalancerOrder, known: Known = NOTHING_KNOWN) -> Balancer:
        """Bring it closer to the order: make it, register targets that are missing, let go of others."""
        ...

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        """Ask for the end of everything that was made for a token. Answers whether nothing of it is left."""
        ...
