"""One verb at work on one release."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import msgspec

from kubekit.runtime.logs import say

from . import kubeconfig_file
from .commands import Commands
from .errors import HelmMissing
from .locks import Lock
from .program import Program, Ran
from .protocol import Cluster, Place, Release
from .records import Record
from .redaction import Redaction
from .workspace import Workspace

_OLDEST = (3, 14)


@dataclass
class Session:
    """One verb at work: its folder, its lock, and what must not be told."""

    program: Program
    cluster: Cluster
    place: Place
    workspace: Workspace
    lock: Lock | None = None
    found: Record | None = None

    def __post_init__(self) -> None:
        self.abandoned = self.lock.abandoned if self.lock else 0
        values = self.found.values if self.found else {}
        self.redaction = Redaction(values, public=public_names(self.place, self.found.chart if self.found else ""))
        self._commands: Commands | None = None
        self._has_values = False

    @property
    def commands(self) -> Commands:
        assert self._commands is not None, "open first"
        return self._commands

    async def open(self, release: Release | None = None) -> None:
        """Write what Helm reads: the kubeconfig, and the values of a release."""
        if self._commands is None:
            version = await self.program.version(self.workspace)
            if version < _OLDEST:
                shown = ".".join(map(str, version))
                raise HelmMissing(
                    str(self.program.path), f"is Helm {shown}, needed is {_OLDEST[0]}.{_OLDEST[1]} or newer"
                )
            path = self.workspace.write("kubeconfig", await kubeconfig_file.content(self.cluster.config))
            self._commands = Commands(version, path, self.workspace.path / "values.json")
        if release is not None and not self._has_values:
            self.workspace.write("values.json", msgspec.json.encode(release.values))
            self._has_values = True
            values = self.found.values if self.found else {}
            credentials = (release.credentials.username, release.credentials.password)
            public = public_names(release.place, release.chart.name)
            self.redaction = Redaction(values, release.values, credentials, public=public)

    async def run(self, *arguments: str, patience: float, revision: int = 0) -> Ran:
        """Run Helm; `revision` is the one it will write or remove, if any."""
        if self.lock is None or not revision:
            return await self.program.run(self.workspace, *arguments, patience=patience)
        await asyncio.to_thread(self.lock.begin, revision)
        ran = await self.program.run(self.workspace, *arguments, patience=patience, descriptors=(self.lock.descriptor,))
        if ran.code >= 0:
            self.lock.end()
        say(logging.INFO, "helm", verb=arguments[0], release=self.place, server=self.server, code=ran.code)
        return ran

    @property
    def server(self) -> str:
        return self.cluster.config.cluster.server


def public_names(place: Place, chart: str) -> tuple[str, ...]:
    """What errors may say although values say it, too."""
    return place.name, place.namespace, chart
