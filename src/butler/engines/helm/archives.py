"""Archives of charts: fetched by Helm, checked against their digest, kept on disk."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from . import failures
from .charts import LOCAL, Chart, Credentials, Mirrors, content_digest, mirrored, no_mirrors
from .errors import ChartRefused
from .program import Program
from .redaction import Redaction
from .workspace import Workspace

_REPOSITORY = "source"
_PATIENCE = 120.0
_AUTHORITY = "authority.pem"


class Archives:
    """`put` brings a chart into a workspace. The folder keeps at most `most` bytes, those that were used last.

    A chart in one version of one repository does not change, so what is kept is not asked for again by whoever shows
    the same credentials. Others have to show theirs first."""

    def __init__(
        self, program: Program, folder: Path, mirrors: Mirrors = no_mirrors, most: int = 512 * 1024**2
    ) -> None:
        self._program, self._folder, self._mirrors, self._most = program, folder, mirrors, most
        self._fetching: dict[str, asyncio.Lock] = {}

    async def put(self, chart: Chart, credentials: Credentials, workspace: Workspace) -> Path:
        """Where the chart is, for as long as the workspace is. Raises ChartNotFound, ChartUnavailable, ChartRefused."""
        chart.check()
        if chart.scheme == LOCAL:
            path = chart.local()
            if chart.digest:
                _check(chart, await asyncio.to_thread(content_digest, path))
            return path
        source, opening = mirrored(chart, credentials, await self._mirrors(chart.repository))
        source.check()
        if source.scheme == LOCAL:
            return await self.put(source, opening, workspace)
        kept = self._folder / _file_name(chart, opening)
        async with self._fetching.setdefault(kept.name, asyncio.Lock()):
            try:
                if not await asyncio.to_thread(self._is_good, kept, chart):
                    await self._fetch(source, opening, workspace, kept)
                return self._lend(kept, workspace)
            finally:
                self._fetching.pop(kept.name, None)

    def _is_good(self, kept: Path, chart: Chart) -> bool:
        return kept.is_file() and (not chart.digest or content_digest(kept) == chart.digest)

    async def _fetch(self, source: Chart, credentials: Credentials, workspace: Workspace, kept: Path) -> None:
        destination = workspace.path / "pulled"
        destination.mkdir(mode=0o700)
        redaction = Redaction(credentials.username, credentials.password, public=(source.name,))
        for arguments in _commands(source, credentials, workspace, destination):
            ran = await self._program.run(workspace, *arguments, patience=_PATIENCE)
            # A repository that could not be asked is no failure to Helm 3.
            lacks_index = source.scheme != "oci" and not workspace.index(_REPOSITORY).exists()
            if not ran.succeeded or lacks_index:
                raise failures.of_chart(f"chart {source.reference}", ran, redaction)
        archive = next(destination.glob("*.tgz"), None)
        if archive is None:
            raise ChartRefused(f"chart {source.reference}", "what was fetched is no archive")
        _check(source, await asyncio.to_thread(content_digest, archive))
        self._keep(archive, kept)

    def _keep(self, archive: Path, kept: Path) -> None:
        """At once or not at all, also when another process does the same."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = kept.with_suffix(f".{os.getpid()}.part")
        shutil.copyfile(archive, beside)
        beside.replace(kept)
        self._bound(kept)

    def _bound(self, newest: Path) -> None:
        used = sorted(self._folder.glob("*.tgz"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        size = 0
        for path in used:
            size += path.stat().st_size
            if size > self._most and path != newest:
                path.unlink(missing_ok=True)

    def _lend(self, kept: Path, workspace: Workspace) -> Path:
        """Under a name that nobody else takes away."""
        os.utime(kept)
        lent = workspace.path / "chart.tgz"
        try:
            os.link(kept, lent)
        except OSError:
            shutil.copyfile(kept, lent)
        return lent


def _file_name(chart: Chart, credentials: Credentials) -> str:
    shown = (credentials.username, credentials.password)
    key = "\0".join((chart.repository.rstrip("/"), chart.name, chart.version, chart.digest, *shown))
    return f"{chart.name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.tgz"


def _check(chart: Chart, found: str) -> None:
    if chart.digest and found != chart.digest:
        raise ChartRefused(f"chart {chart.reference}", f"the archive has digest {found}, wanted is {chart.digest}")


def _commands(
    chart: Chart, credentials: Credentials, workspace: Workspace, destination: Path
) -> tuple[tuple[str, ...], ...]:
    """What to run. Credentials are in files only: everybody on a machine can read a command line."""
    authority = workspace.write(_AUTHORITY, credentials.authority) if credentials.authority else None
    target = ("--version", chart.version, "--destination", str(destination))
    if chart.scheme != "oci":
        workspace.write("repositories.yaml", _repositories(chart, credentials, authority))
        return ("repo", "update", _REPOSITORY), ("pull", f"{_REPOSITORY}/{chart.name}", *target)
    workspace.write("registry.json", _registries(chart, credentials))
    reference = f"{chart.repository.rstrip('/')}/{chart.name}"
    flags: tuple[str, ...] = ("--plain-http",) if chart.plain_http else ()
    flags += ("--ca-file", str(authority)) if authority else ()
    return (("pull", reference, *target, *flags),)


def _repositories(chart: Chart, credentials: Credentials, authority: Path | None) -> bytes:
    repository = {
        "name": _REPOSITORY,
        "url": chart.repository,
        "username": credentials.username,
        "password": credentials.password,
        "caFile": str(authority or ""),
        "pass_credentials_all": credentials.pass_on,
    }
    return msgspec.json.encode({"apiVersion": "", "repositories": [repository]})


def _registries(chart: Chart, credentials: Credentials) -> bytes:
    if not credentials.username and not credentials.password:
        return b"{}"
    opening = base64.b64encode(f"{credentials.username}:{credentials.password}".encode()).decode()
    return msgspec.json.encode({"auths": {urlsplit(chart.repository).netloc: {"auth": opening}}})
