"""How to reach an API server, and as whom."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from kubekit.errors import InvalidConnection

InteractiveMode = Literal["Never", "IfAvailable", "Always"]


@dataclass(frozen=True, slots=True)
class Material:
    """A certificate or key: given right away, or in a file that may be replaced while we run."""

    data: bytes = field(default=b"", repr=False)
    file: Path | None = None
    subject: str = ""
    """Who names it, for errors: the kubeconfig."""
    path: str = ""
    """The field that names it."""

    def __bool__(self) -> bool:
        return bool(self.data) or self.file is not None

    def read(self) -> bytes:
        """Raises InvalidConnection when the file cannot be read."""
        if self.file is None:
            return self.data
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise self.refused(f"{self.file}: {error.strerror or error}") from error

    def refused(self, message: str) -> InvalidConnection:
        return InvalidConnection(self.subject, self.path, message)


NOTHING = Material()


@dataclass(frozen=True, slots=True)
class Cluster:
    """An API server and how to recognise it."""

    server: str
    """Its URL, with a path where it serves below one."""
    authority: Material = NOTHING
    insecure: bool = False
    tls_server_name: str = ""
    proxy_url: str = field(default="", repr=False)
    """May hold a password."""
    disable_compression: bool = False
    exec_config: Any = None
    """What the cluster has to say to an exec plug-in."""


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A program that prints credentials."""

    command: str
    api_version: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: InteractiveMode = "IfAvailable"


@dataclass(frozen=True, slots=True)
class Impersonation:
    """Someone else to act as."""

    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def headers(self) -> list[tuple[str, str]]:
        """What a request carries for it; a header may be there several times."""
        found = [("Impersonate-User", self.user)] if self.user else []
        found += [("Impersonate-Group", group) for group in self.groups]
        found += [("Impersonate-Uid", self.uid)] if self.uid else []
        for name, values in self.extra.items():
            found += [(f"Impersonate-Extra-{quote(name, safe='')}", value) for value in values]
        return found


NOBODY_ELSE = Impersonation()


@dataclass(frozen=True, slots=True)
class User:
    """How to prove who we are."""

    certificate: Material = NOTHING
    key: Material = NOTHING
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    """Read again whenever it changes; wins over `token`."""
    username: str = ""
    password: str = field(default="", repr=False)
    plugin: ExecPlugin | None = None
    impersonation: Impersonation = NOBODY_ELSE

    def authorization(self) -> str:
        """The header of that name, of what is known without a file; empty for none."""
        if self.token:
            return f"Bearer {self.token.strip()}"
        if self.username or self.password:
            return f"Basic {base64.b64encode(f'{self.username}:{self.password}'.encode()).decode()}"
        return ""


ANYONE = User()


@dataclass(frozen=True, slots=True)
class Config:
    """All a client needs to know."""

    cluster: Cluster
    user: User = ANYONE
    namespace: str = ""
    """The one to use where people name none; empty when nothing says so."""
    context: str = ""
    source: str = ""
    """Where this was written, for people."""
