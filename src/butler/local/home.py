"""Where a platform on this computer keeps things, and how other processes find it."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct, structs

from butler import advice
from butler.cli.session import home, running_platform
from kubekit.client import kubeconfig
from kubekit.client.config import Config
from kubekit.server.store import data_lock, private_files

T = TypeVar("T")

DEFAULT_PORT = 7443
LOOPBACK = "127.0.0.1"
ANY_PORT = 0
_OURS = ("log*", "datacentre.db*", "helm", "settings.json", "running.json", "*.kubeconfig")
"""What a platform keeps beside what its API server does."""


class Remembered(Struct, omit_defaults=True):
    """What has to be the same when a platform is started again."""

    port: int = ANY_PORT
    """0 while none was chosen."""
    host: str = ""
    """Empty while none was chosen."""
    first_cluster: Literal["", "wanted", "made"] = ""
    """Whether the first cluster was asked for, so that a start that was interrupted still makes it."""


class Running(Struct, kw_only=True, omit_defaults=True):
    """A platform that runs, as it announces itself."""

    data: str
    kubeconfig: str
    """For people."""
    discovery: str = ""
    """For butlerctl; empty where it is the same one."""
    context: str = ""
    """Of that kubeconfig; empty for its current one."""
    pid: int
    url: str
    health: str = ""
    """Where the health of its controllers can be asked."""
    started: datetime
    version: str
    simulated: bool = True
    """Whether infrastructure is simulated."""
    fast: bool = False
    remarks: tuple[str, ...] = ()
    """What whoever started it should know."""

    def config(self) -> Config:
        """How to reach its API. Raises InvalidConfiguration."""
        return kubeconfig.load(Path(self.discovery or self.kubeconfig), self.context)

    @property
    def where(self) -> str:
        """What a command of butlerctl's has to say to mean this one."""
        found = running_platform()
        if found is not None and str(found.data) == self.data and not os.environ.get("KUBECONFIG"):
            return ""
        return _flags(self.discovery or self.kubeconfig, self.context)

    @property
    def kubectl_where(self) -> str:
        """What kubectl has to be told."""
        return _flags(self.kubeconfig, self.context)


def _flags(kubeconfig: str, context: str) -> str:
    return f" --kubeconfig {shlex.quote(kubeconfig)}" + (f" --context {shlex.quote(context)}" if context else "")


@dataclass(frozen=True, slots=True)
class Home:
    """The data directory of one platform and what is where in it."""

    data: Path
    elsewhere: str = ""
    """The flag by which commands reach a platform whose controllers may run on another computer."""

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.data / "kubeconfig"

    @property
    def discovery(self) -> Path:
        """The administrator's as well, but for butlerctl: people change what they use with kubectl."""
        return self.data / "discovery.kubeconfig"

    @property
    def log(self) -> Path:
        return self.data / "log"

    @property
    def helm(self) -> Path:
        """What Helm keeps between its runs: charts and locks."""
        return self.data / "helm"

    @property
    def datacentre(self) -> Path:
        """The records of the simulated infrastructure."""
        return self.data / "datacentre.db"

    @property
    def flag(self) -> str:
        """What a command has to add to mean this one."""
        return "" if self == default_place() else f" --data {shlex.quote(str(self.data))}"

    @property
    def again(self) -> str:
        """The command that ends what runs here, and starts it again in the same way."""
        running = self.running()
        if running is None:
            return advice.start(self.flag)
        flags = " --fast" if running.fast else ""
        if Path(running.kubeconfig) != self.kubeconfig:
            flags += f" --kubeconfig {shlex.quote(running.kubeconfig)}{' --simulate' if running.simulated else ''}"
        return advice.restart(self.flag, flags)

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever kept here; what was lost is another matter."""
        return not any((self.data / name).exists() for name in ("state.db", "state.revision"))

    def kubeconfig_of(self, cluster: str) -> Path:
        return self.data / f"{cluster}.kubeconfig"

    def close_to_others(self) -> None:
        """Make the directory, and see to it that all that is in it is its owner's alone."""
        private_files.make_private(self.data)
        private_files.close_to_others(self.data, *_OURS)

    def remembered(self) -> Remembered:
        return _read(self.data / "settings.json", Remembered) or Remembered()

    def remember(self, settings: Remembered) -> None:
        private_files.make_private(self.data)
        private_files.write_private(self.data / "settings.json", msgspec.json.encode(settings))

    def running(self) -> Running | None:
        """The platform that runs here, however the last one ended."""
        found = _read(self.data / "running.json", Running)
        return found if found is not None and _exists(found.pid) and self.is_held() else None

    def is_held(self) -> bool:
        """Whether a process works on the data at this moment."""
        return data_lock.is_held(self.data)

    def announce(self, running: Running) -> None:
        """Tell other processes of this user."""
        if Path(running.kubeconfig) == self.kubeconfig:
            running = structs.replace(running, discovery=str(self.discovery))
            private_files.write_private(self.discovery, _kubeconfig(running.url))
        content = msgspec.json.encode(running)
        private_files.write_private(self.data / "running.json", content)
        private_files.make_private(home())
        private_files.write_private(_announcement(), content)

    def withdraw(self) -> None:
        """Take back what this process announced; what another announced since stays."""
        for path in (self.data / "running.json", _announcement()):
            found = _read(path, Running)
            if found is not None and found.pid == os.getpid():
                path.unlink(missing_ok=True)


def _kubeconfig(url: str) -> bytes:
    """One beside the keys of a server; it names them, and so stays true when they are renewed."""
    pki = {name: f"pki/{name}" for name in ("ca.crt", "admin.crt", "admin.key")}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "butler", "cluster": {"server": url, "certificate-authority": pki["ca.crt"]}}],
        "users": [{"name": "butler", "user": {"client-certificate": pki["admin.crt"], "client-key": pki["admin.key"]}}],
        "contexts": [{"name": "butler", "context": {"cluster": "butler", "user": "butler"}}],
        "current-context": "butler",
    }
    return msgspec.json.encode(content)


def default_place() -> Home:
    """The platform meant by whoever names none."""
    return Home(home() / "local")


def announced() -> Running | None:
    """The platform that runs on this computer; the newest if there are several."""
    found = _read(_announcement(), Running)
    return Home(Path(found.data)).running() if found is not None else None


def _announcement() -> Path:
    return home() / "local.json"


def _read(path: Path, kind: type[T]) -> T | None:
    """What stands in a file; nothing when that is not what it should be."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
