"""Installing addons into a tenant's cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kubekit.client.protocol import Client


@dataclass(frozen=True, slots=True)
class Addon:
    """An addon in one version."""

    name: str
    version: str
    values: Mapping[str, Any] | None = None
    for_nodes: bool = False
    """Whether nodes wait for it: then there may be none on which anything of it could run, and nobody should wait for
    that."""


@dataclass(frozen=True, slots=True)
class Installed:
    """How an addon is doing; `problem` is empty while it does well."""

    name: str
    version: str
    problem: str = ""
    remark: str = ""
    """What else people should know of it."""


class Installer(Protocol):
    """Puts addons into a cluster."""

    async def install(self, tenant: Client, addons: Sequence[Addon]) -> tuple[Installed, ...]:
        """Install or update each of them, in this order, and answer for each. One that fails keeps no other from
        trying. Idempotent, also after being cancelled. May take long. Raises when none could even be tried."""
        ...
