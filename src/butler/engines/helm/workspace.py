"""A private folder for one run of Helm: its home, its files, and nothing of anybody else's.

Files in it hold credentials, so they are for this user alone and go with the run. Folders that a killed process left
behind go when the next one starts."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

_PREFIX = "run-"
_KEPT = (
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""All that a run inherits: how to get out to where charts come from."""


class Workspace:
    """A folder for as long as the context lasts."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.path = root

    def __enter__(self) -> Workspace:
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=self._root))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name: str, content: bytes) -> Path:
        """A file that nobody else can read, from its first byte on."""
        path = self.path / name
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        return path

    def index(self, repository: str) -> Path:
        """Where Helm keeps what a repository has."""
        return self.path / "cache" / "repository" / f"{repository}-index.yaml"

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """With a home of its own, so that no settings, plug-ins or credentials of the user count."""
        home = str(self.path)
        return {name: inherited[name] for name in _KEPT if name in inherited} | {
            "HOME": home,
            "TMPDIR": home,
            "DOCKER_CONFIG": f"{home}/docker",
            "HELM_CACHE_HOME": f"{home}/cache",
            "HELM_CONFIG_HOME": f"{home}/config",
            "HELM_DATA_HOME": f"{home}/data",
            "HELM_PLUGINS": f"{home}/plugins",
            "HELM_NO_PLUGINS": "1",
            "HELM_REPOSITORY_CONFIG": f"{home}/repositories.yaml",
            "HELM_REPOSITORY_CACHE": f"{home}/cache/repository",
            "HELM_REGISTRY_CONFIG": f"{home}/registry.json",
            "HELM_CONTENT_CACHE": f"{home}/cache/content",
            "HELM_DRIVER": "secret",
            # It would keep what a cluster serves in dozens of files, for the next run, which has another home.
            "KUBECACHEDIR": os.devnull,
        }


def sweep(root: Path) -> None:
    """Remove the folders of processes that are no more."""
    for path in root.glob(f"{_PREFIX}*-*"):
        owner = path.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not _is_alive(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
