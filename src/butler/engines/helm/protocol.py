"""What controllers know of Helm: releases that are wanted, releases that are there, and the verbs on them.

Every verb is about one release in one cluster. All raise errors of `errors`, and ApiError where our own client asked.
Two verbs on one release do not run at once: the second raises ReleaseBusy. Cancelling a verb ends Helm politely."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from kubekit.client.config import Config
from kubekit.client.protocol import Client
from kubekit.model.resource import Object

from .charts import NO_CREDENTIALS, Chart, Credentials
from .errors import ChartRefused
from .records import Record

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_NAME, _LONGEST_NAMESPACE = 53, 63


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where releases are."""

    config: Config
    """How to reach it, already judged: whoever wrote it chooses whom Helm talks to."""
    client: Client
    """Our own client for the same cluster."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which release of a cluster."""

    name: str
    namespace: str

    def __str__(self) -> str:
        return f"release {self.namespace}/{self.name}"

    def check(self) -> None:
        """Raises ChartRefused for names that Helm or Kubernetes would not take, or take for something else."""
        for word, text, longest in (
            ("release", self.name, _LONGEST_NAME),
            ("namespace", self.namespace, _LONGEST_NAMESPACE),
        ):
            if not _LABEL.fullmatch(text) or len(text) > longest:
                message = f"the name of the {word} must be of small letters, digits and -, and at most {longest} long"
                raise ChartRefused(str(self), message)


@dataclass(frozen=True, slots=True)
class Release:
    """A release as it should be."""

    place: Place
    chart: Chart
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """All of them, merged; a null takes a default of the chart away."""
    credentials: Credentials = NO_CREDENTIALS
    create_namespace: bool = True
    wait: bool = False
    """Whether the verb ends only when everything is ready. Otherwise it ends when everything is written and hooks have
    run, and `health` says the rest: the first addons of a cluster cannot be ready before it has nodes."""
    roll_back: bool = True
    """Whether an upgrade that fails is undone at once. An install that fails stays, to be looked at and tried again."""
    take_over: bool = False
    """Whether objects that belong to no release, or to another, become this one's."""
    update_definitions: bool = True
    """Whether a new version of the chart brings its `crds/` up to date, which Helm itself only ever installs."""
    timeout: timedelta = timedelta(minutes=5)
    """How long Helm waits for each thing it waits for."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Of its records, and of those that come after: also who upgrades it by hand keeps them."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """What became of a release that was wanted."""

    record: Record
    changed: bool
    """Whether Helm ran; a release that is as it should be costs one request."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a chart comes to, with these values, in this cluster. Secrets are in it: see `objects.masking`."""

    manifest: str = field(repr=False)
    is_exact: bool
    """Whether the cluster was asked. Where it lacks kinds that the chart brings itself, it cannot be."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An object of a release that is not as the release says."""

    object: str
    """`Deployment shop/web`."""
    paths: tuple[str, ...] = ()
    """The fields, without their values; none when the object is missing."""
    wanted: Object = field(default_factory=dict, repr=False, compare=False)
    """The object as it should be."""

    def __str__(self) -> str:
        return f"{self.object}: {', '.join(self.paths) or 'missing'}"


@dataclass(frozen=True, slots=True)
class Unready:
    """An object of a release that does not do its work (yet)."""

    object: str
    message: str
    failed: bool = False
    """Whether waiting is no use."""
    nodeless: bool = False
    """Whether it is for nodes, and there are none."""

    def __str__(self) -> str:
        return f"{self.object}: {self.message}"


class Releases(Protocol):
    """Verbs on releases."""

    async def deploy(self, cluster: Cluster, release: Release, *, again: bool = False) -> Deployed:
        """Install or upgrade, if anything differs from what is there, or `again`. Idempotent. A release that a killed
        run left locked is recovered first, once it is certain that nobody works on it."""

    async def find(self, cluster: Cluster, place: Place) -> Record | None:
        """The newest revision as the cluster keeps it; Helm does not run."""

    async def is_current(self, release: Release, found: Record) -> bool:
        """Whether a revision is deployed and is what is wanted, so that `deploy` would do nothing."""

    async def history(self, cluster: Cluster, place: Place) -> tuple[Record, ...]:
        """All revisions that are kept, the oldest first; Helm does not run."""

    async def rollback(self, cluster: Cluster, place: Place, revision: int = 0) -> Record:
        """Back to a revision, or to the last that was deployed before the newest."""

    async def uninstall(self, cluster: Cluster, place: Place, *, wait: bool = True) -> bool:
        """Remove the release and its objects, whatever state it is in; False when there was none. Idempotent."""

    async def render(self, cluster: Cluster, release: Release) -> Rendered:
        """What `deploy` would write; changes nothing."""

    async def drift(self, cluster: Cluster, place: Place, record: Record | None = None) -> tuple[Difference, ...]:
        """Where objects are not as the newest deployed revision says, or the one that is given. Helm does not run,
        nothing is changed.

        What others may rightly change is no drift: status, fields the release does not set, replicas under a
        HorizontalPodAutoscaler, and certificates that are injected. Hooks and `crds/` are not looked at."""

    async def repair(self, cluster: Cluster, place: Place, differences: tuple[Difference, ...]) -> None:
        """Write the objects of these differences as they should be; no new revision comes of it."""

    async def health(self, cluster: Cluster, place: Place, record: Record | None = None) -> tuple[Unready, ...]:
        """The objects of the newest deployed revision, or of the one that is given, that are not ready; Helm does not
        run."""
