"""How a command finds its API and its namespace."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from butler import advice
from butler.api.shared import TENANTS_NAMESPACE
from kubekit.client.protocol import EVERYTHING, Listed, Selection
from kubekit.clock import Clock, SystemClock

from .lazy import UNREACHABLE, Failure

if TYPE_CHECKING:
    from kubekit.client.config import Config
    from kubekit.client.http import HttpClient

AGENT = "butlerctl"
"""The name by which the API knows what these commands write."""
VERBOSE = "butler.cli.verbose"
"""Whether somebody wants to know what happens underneath, in what click keeps of a command line."""


class NoApi(Failure):
    """Nothing says where an API is."""

    def __init__(self, message: str) -> None:
        super().__init__(message, UNREACHABLE)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line says about where to go; empty where it says nothing."""

    kubeconfig: Path | None = None
    context: str = ""
    namespace: str = ""

    def over(self, other: Wishes) -> Wishes:
        """These, and the other's where these are silent."""
        return Wishes(
            self.kubeconfig or other.kubeconfig, self.context or other.context, self.namespace or other.namespace
        )

    def in_namespace(self, namespace: str) -> Wishes:
        return replace(self, namespace=namespace)


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform that runs on this computer."""

    data: Path
    kubeconfig: Path
    """By which it is found."""
    pid: int
    context: str = ""
    """Of the kubeconfig; empty for its current one."""


def home(environ: Mapping[str, str] = os.environ) -> Path:
    """Butler's own directory of this user."""
    return Path(environ.get("BUTLER_HOME") or "~/.butler").expanduser()


def running_platform(environ: Mapping[str, str] = os.environ) -> Platform | None:
    """The local platform whose process is still there: the one started last, else the usual one."""
    places = (home(environ) / "local.json", home(environ) / "local" / "running.json")
    return next((found for place in places if (found := _announced(place)) is not None), None)


def _announced(place: Path) -> Platform | None:
    import json

    try:
        found = json.loads(place.read_bytes())
        data, pid = Path(found["data"]), int(found["pid"])
        path = Path(found.get("discovery") or found["kubeconfig"])
        platform = Platform(data, path, pid, found.get("context") or "")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return platform if _is_alive(platform.pid) and platform.kubeconfig.exists() else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def find(wishes: Wishes, environ: Mapping[str, str] = os.environ) -> Config:
    """The API that is meant: the one named, that of KUBECONFIG, the local platform, one in Butler's own directory,
    that of ~/.kube/config, or the cluster this runs in. Raises NoApi, Failure, InvalidConfiguration."""
    from kubekit.client import in_cluster, kubeconfig

    path, context = wishes.kubeconfig, wishes.context
    if path is None and not context and not environ.get("KUBECONFIG"):
        path, context = _unnamed(environ)
    if path is None:
        _check_exists(environ, kubeconfig.paths(environ))
    merged = kubeconfig.read(path, environ=environ)
    if merged.is_empty and path is None and not context:
        inside = in_cluster.config(environ, in_cluster.SERVICE_ACCOUNT)
        if inside is None:
            raise NoApi(
                f"there is no Kubernetes API to talk to: start a platform with `{advice.start()}`, or name one with "
                "--kubeconfig FILE or KUBECONFIG"
            )
        return inside
    return merged.config(context)


def _unnamed(environ: Mapping[str, str]) -> tuple[Path | None, str]:
    """The kubeconfig and context of whoever names none; None for kubectl's."""
    if platform := running_platform(environ):
        return platform.kubeconfig, platform.context
    found = [*sorted(home(environ).glob("*-kubeconfig")), home(environ) / "kubeconfig"]
    existing = [path for path in found if path.is_file()]
    if len(existing) > 1:
        listed = ", ".join(map(str, existing))
        raise NoApi(f"there are several platforms to choose from; name one with --kubeconfig: {listed}")
    return existing[0] if existing else None, ""


def is_of_platform(path: Path, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a kubeconfig is one by which a platform is found: nobody else writes into it."""
    real = path.resolve()
    beside = [real.with_name(name) for name in ("state.db", "running.json")]
    is_ours = real.parent == home(environ).resolve() and real.name.endswith("kubeconfig")
    return is_ours or any(one.exists() for one in beside)


def _check_exists(environ: Mapping[str, str], paths: tuple[Path, ...]) -> None:
    if environ.get("KUBECONFIG") and not any(path.exists() for path in paths):
        raise NoApi(f"KUBECONFIG names no file that exists: {environ['KUBECONFIG']}")


def _is_usual(source: str, environ: Mapping[str, str]) -> bool:
    """Whether kubectl finds a file by itself."""
    from kubekit.client import kubeconfig

    return Path(source) in kubeconfig.paths(environ)


class Reader(Protocol):
    """The reading verbs, for commands that need nothing else."""

    def get(self, kind: Any, name: str, namespace: str = "") -> Any: ...

    def list(self, kind: Any, selection: Selection = EVERYTHING) -> Listed[Any]: ...


@dataclass
class Session:
    """One run of one command: where its API is, and what to say when it is interrupted."""

    wishes: Wishes
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Clock = field(default_factory=SystemClock)
    patience: float = 60.0
    when_interrupted: str = ""
    """What to say to someone who does not want to wait any longer."""
    opened: HttpClient | None = None

    @cached_property
    def config(self) -> Config:
        from kubekit.errors import InvalidConfiguration

        try:
            config = find(self.wishes, self.environ)
        except InvalidConfiguration as error:
            raise NoApi(str(error)) from error
        _tell(f"the API is {config.cluster.server}, by {config.source or 'the pod this runs in'}")
        _tell(f"namespace {self.namespace}{'' if self.wishes.namespace else ', because none was named'}")
        return config

    @property
    def namespace(self) -> str:
        return self.wishes.namespace or self.environ.get("BUTLER_NAMESPACE") or TENANTS_NAMESPACE

    @property
    def where(self) -> str:
        """What a further command about the same cluster has to say to find it."""
        usual = self.environ.get("BUTLER_NAMESPACE") or TENANTS_NAMESPACE
        return self.api + (f" -n {self.namespace}" if self.namespace != usual else "")

    @property
    def api(self) -> str:
        """What a further command of Butler's has to say to find the same API."""
        kubeconfig = f" --kubeconfig {shlex.quote(str(self.wishes.kubeconfig))}" if self.wishes.kubeconfig else ""
        return kubeconfig + (f" --context {shlex.quote(self.wishes.context)}" if self.wishes.context else "")

    @property
    def kubectl_api(self) -> str:
        """The same for kubectl, which looks in fewer places."""
        source, is_named = self.config.source, self.api or self.environ.get("KUBECONFIG")
        if is_named or not source or _is_usual(source, self.environ):
            return self.api
        return f" --kubeconfig {shlex.quote(source)}"

    @property
    def place(self) -> str:
        """The API, for people."""
        config = self.config
        named = f'context "{config.context}" of {config.source}' if config.context else config.source
        return f"{config.cluster.server} ({named})" if named else config.cluster.server

    def not_a_platform(self, kinds: str) -> str:
        """What to say when the API does not know kinds of Butler."""
        return (
            f"the API at {self.place} is not a Butler platform: it does not know {kinds}. Choose another with "
            f"--kubeconfig or --context, or install Butler there with `{advice.start_on(self.config.source or 'FILE')}`"
        )

    def remedy(self) -> str:
        """What may help when nobody answers."""
        platform = running_platform(self.environ)
        if platform is not None and self.config.source == str(platform.kubeconfig):
            return f"; `{advice.platform_status()}` says how the local platform is"
        return f"; this is {self.place}; `{advice.start()}` starts a platform on this computer"

    @cached_property
    def reader(self) -> Reader:
        """For reading without an event loop; quicker to start than `client`."""
        from kubekit.client import blocking_client

        if blocking_client.can_reach(self.config, self.environ):
            return blocking_client.OneShot(self.config, agent=AGENT, patience=self.patience, tell=_teller())
        return _Patient(self)

    @property
    def client(self) -> HttpClient:
        """For writing and watching, inside an event loop."""
        from kubekit.client.http import HttpClient

        if self.opened is None:
            self.opened = HttpClient(self.config, clock=self.clock, agent=AGENT, warn=_warn)
        return self.opened

    async def close(self) -> None:
        if self.opened is not None:
            await self.opened.close()
            self.opened = None


class _Patient:
    """Reading by the client that knows proxies and plug-ins."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, kind: Any, name: str, namespace: str = "") -> Any:
        return self._run(lambda client: client.get(kind, name, namespace))

    def list(self, kind: Any, selection: Selection = EVERYTHING) -> Listed[Any]:
        found: Listed[Any] = self._run(lambda client: client.list(kind, selection))
        return found

    def _run(self, question: Any) -> Any:
        import asyncio

        async def ask() -> Any:
            try:
                return await question(self._session.client)
            finally:
                await self._session.close()

        return asyncio.run(ask())


def _warn(text: str) -> None:
    click.echo(f"warning: {text}", err=True)


def _teller() -> Callable[[str], None] | None:
    """Where to tell what is done, if anybody wants to know."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get(VERBOSE):
        return None
    import logging

    return logging.getLogger("butler.cli").debug


def _tell(text: str) -> None:
    """Say what was decided, to whoever asked for it."""
    if listener := _teller():
        listener(text)
