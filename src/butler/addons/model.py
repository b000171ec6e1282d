"""What controllers know of addons: what is to be in a cluster, what is there, and who brings it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Protocol

from butler.engines.helm.protocol import Cluster, Place, Release
from kubekit.model.resource import Object

from .digests import digest

Keeper = Literal["butler", "flux", "argocd", "manual"]
"""Who keeps an addon."""


class AddonState(StrEnum):
    """How an addon is doing."""

    INSTALLING = "Installing"
    """Written, and not all of it works yet."""
    HEALTHY = "Healthy"
    DEGRADED = "Degraded"
    """There, and something of it does not work, or is not as the release says and nobody is to repair it."""
    FAILED = "Failed"


@dataclass(frozen=True)
class Addon:
    """An addon as it is to be in one cluster."""

    name: str
    """In its cluster."""
    release: Release
    """Without credentials: whoever installs it reads them."""
    for_nodes: bool = False
    """Whether no node becomes Ready without it: then it is there before them, and nobody waits for its pods."""
    depends_on: tuple[str, ...] = ()
    """Names of those that must be healthy before."""
    credentials: tuple[str, str] | None = None
    """Namespace and name of the Secret that opens the chart's repository."""
    secrets: tuple[Object, ...] = field(default=(), repr=False)
    """Secrets that have to be in the cluster before it."""
    resources: tuple[Object, ...] = ()
    """Objects that are written once it is healthy, such as pools of addresses."""
    privileged: bool = False
    """Whether its pods may do on nodes what they like, so that its namespace has to allow that."""

    @property
    def version(self) -> str:
        return self.release.chart.version

    @property
    def place(self) -> Place:
        return self.release.place

    @cached_property
    def digest(self) -> str:
        """Differs when anything but the version does."""
        chart, release = self.release.chart, self.release
        said: list[Any] = [chart.repository, chart.name, chart.digest, self.place.namespace, self.place.name]
        return digest([*said, dict(release.values), list(self.resources)])


@dataclass(frozen=True, slots=True)
class Seen:
    """An addon as it is in a cluster."""

    name: str
    version: str
    state: AddonState
    message: str = ""
    """What people should know of it; never a value."""
    keeper: Keeper = "butler"
    revision: int = 0
    """Of the release; 0 where there is none."""
    release_status: str = ""
    """What Helm says of it."""
    rolled_back: bool = False
    """Whether what was asked for failed and what was there before is there again."""
    reason: str = ""
    """Why it failed, in one word for programs, such as ChartNotFound."""
    outdated: bool = False
    """Whether what is there is not all that was asked for, so that it has to be installed (again)."""
    repaired: str = ""
    """What was no longer as the release says and is again; never a value."""
    lasting: bool = False
    """Whether nothing of it can change by itself, so that nobody needs to look again."""


class Installer(Protocol):
    """Brings addons into clusters, looks after them and takes them out again. Every verb is idempotent, also after
    being cancelled or killed, and may take long. Raises when nothing could even be tried."""

    async def install(self, cluster: Cluster, addons: Sequence[Addon]) -> tuple[Seen, ...]:
        """Install or upgrade each that differs from what is there, and answer for each: one after those it depends on,
        the others beside each other. One that fails keeps out only those that depend on it. What is kept by Flux or
        Argo CD is left alone."""
        ...

    async def look(self, cluster: Cluster, addons: Sequence[Addon], *, repair: bool) -> tuple[Seen, ...]:
        """How each is doing by what its objects say; what drifted is written back, or only told of."""
        ...

    async def remove(self, cluster: Cluster, place: Place, *, name: str = "", holds_volumes: bool = False) -> None:
        """Take an addon out. Nothing happens where it is not, or is kept by others, or, given a name, is the release
        of another addon. Raises VolumesInUse when it holds volumes and there are any."""
        ...
