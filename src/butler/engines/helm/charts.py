"""Which chart, and where it comes from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from .errors import ChartNotFound, ChartRefused

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VERSION = re.compile(r"v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
REMOTE = ("https", "http", "oci")
LOCAL = "file"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What opens a private repository or registry."""

    username: str = ""
    password: str = field(default="", repr=False)
    authority: bytes = field(default=b"", repr=False)
    """Certificates, in PEM, to trust instead of those everybody trusts."""
    pass_on: bool = False
    """Whether the name and password may be shown to another host that the repository's index names."""


NO_CREDENTIALS = Credentials()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart in one version."""

    repository: str
    """`https://…` of a repository, `oci://…` of a registry up to the chart's name, or `file:///…` of a folder that has
    the chart as a folder NAME or as an archive NAME-VERSION.tgz."""
    name: str
    version: str
    """Exactly one; never a range."""
    digest: str = ""
    """`sha256:…` of the archive, where somebody vouches for it."""
    plain_http: bool = False
    """An OCI registry without TLS."""

    @property
    def scheme(self) -> str:
        return urlsplit(self.repository).scheme

    @property
    def reference(self) -> str:
        """For people: which chart from where."""
        return f"{self.repository.rstrip('/')}/{self.name} {self.version}"

    def check(self) -> None:
        """Raises ChartRefused for a reference that cannot be meant."""
        for problem in self._problems():
            raise ChartRefused(f"chart {self.name or '?'}", problem)

    def _problems(self) -> Iterable[str]:
        if self.scheme not in (*REMOTE, LOCAL):
            yield f"repository {_shown(self.repository)!r} begins with none of https://, http://, oci://, file://"
        if "@" in urlsplit(self.repository).netloc:
            yield "a repository's address must hold no name or password; give credentials instead"
        if not _NAME.fullmatch(self.name):
            yield f"{self.name!r} is not the name of a chart"
        if not _VERSION.fullmatch(self.version):
            yield f"version {self.version!r} is not exactly one version, such as 1.2.3"
        if self.digest and not _DIGEST.fullmatch(self.digest):
            yield f"digest {self.digest!r} is not sha256: and 64 digits"
        if self.digest and self.scheme == LOCAL and self.local().is_dir():
            yield "a folder has no digest; pack the chart, or leave the digest out"

    def local(self) -> Path:
        """Where a chart of a folder is. Raises ChartNotFound."""
        folder = Path(urlsplit(self.repository).path)
        candidates = (folder / f"{self.name}-{self.version}.tgz", folder / self.name)
        for path in candidates:
            if path.exists():
                return path
        raise ChartNotFound(f"chart {self.reference}", f"there is neither {candidates[0]} nor {candidates[1]}")


def _shown(repository: str) -> str:
    parts = urlsplit(repository)
    return repository if "@" not in parts.netloc else f"{parts.scheme}://…{parts.path}"


@dataclass(frozen=True, slots=True)
class Mirror:
    """Another place for all charts whose repository begins with `prefix`: a site without the internet has its own."""

    prefix: str
    replacement: str
    credentials: Credentials = NO_CREDENTIALS
    """Those of the mirror; what opens the original is never shown to it."""
    plain_http: bool = False


Mirrors = Callable[[str], Awaitable[Mirror | None]]
"""Which one stands for a repository: asked whenever a chart is needed, since people change them while Butler runs."""


async def no_mirrors(repository: str) -> None:
    return None


class Prefixed(Protocol):
    """Whatever is for all repositories that begin so."""

    @property
    def prefix(self) -> str: ...


P = TypeVar("P", bound=Prefixed)


def nearest(mirrors: Iterable[P], repository: str) -> P | None:
    """The one that counts for a repository: that with the longest prefix."""
    found = [one for one in mirrors if f"{repository}/".startswith(f"{one.prefix.rstrip('/')}/")]
    return max(found, key=lambda one: len(one.prefix.rstrip("/")), default=None)


def mirrored(chart: Chart, credentials: Credentials, mirror: Mirror | None) -> tuple[Chart, Credentials]:
    """Where a chart is really fetched from, and with what."""
    if mirror is None:
        return chart, credentials
    repository = f"{mirror.replacement.rstrip('/')}{chart.repository[len(mirror.prefix.rstrip('/')) :]}"
    return replace(chart, repository=repository, plain_http=mirror.plain_http), mirror.credentials


def content_digest(path: Path) -> str:
    """Of an archive, or of all files in a folder."""
    if path.is_file():
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    found = hashlib.sha256()
    for file in sorted(one for one in path.rglob("*") if one.is_file()):
        found.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
        found.update(file.read_bytes())
    return f"sha256:{found.hexdigest()}"
