"""Kubeconfig files, read and merged by kubectl's rules."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from kubekit.errors import InvalidConnection
from kubekit.model import yaml_depth

from . import in_cluster
from .config import NOBODY_ELSE, NOTHING, Cluster, Config, ExecPlugin, Impersonation, InteractiveMode, Material, User
from .paths import address_parts

_EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"
_PROXY_SCHEMES = ("http", "https")


def load(
    path: Path | None = None,
    context: str = "",
    *,
    environ: Mapping[str, str] = os.environ,
    service_account: Path = in_cluster.SERVICE_ACCOUNT,
) -> Config:
    """What a person at a shell means: `path`, else KUBECONFIG, else ~/.kube/config, else the cluster we run in.

    Raises InvalidConnection, which names the file and the field and never a secret."""
    merged = read(path, environ=environ)
    if merged.is_empty and path is None and not context:
        inside = in_cluster.config(environ, service_account)
        if inside is not None:
            return inside
    return merged.config(context)


def read(path: Path | None = None, *, environ: Mapping[str, str] = os.environ) -> Kubeconfig:
    """All contexts there are. Raises InvalidConnection."""
    wanted = [path] if path is not None else list(paths(environ))
    found = [_read(file) for file in wanted if path is not None or file.exists()]
    return Kubeconfig(tuple(wanted), tuple(found))


def paths(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The files that KUBECONFIG lists, or the one in the home directory."""
    listed = environ.get("KUBECONFIG", "")
    if not listed:
        home = environ.get("HOME")
        return ((Path(home) if home else Path.home()) / ".kube" / "config",)
    return tuple(dict.fromkeys(Path(one) for one in listed.split(os.pathsep) if one))


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The file that a new entry goes into: the first that exists, else the last that may."""
    listed = paths(environ)
    return next((path for path in listed if path.exists()), listed[-1])


def parse(content: bytes | str, path: Path) -> Kubeconfig:
    """One file's content, with paths in it relative to where the file is. Raises InvalidConnection."""
    return Kubeconfig((path,), (_File(path, _parsed(content, str(path))),))


def self_contained(content: bytes | str, subject: str, context: str = "") -> Config:
    """What a kubeconfig says that others wrote, such as one in a Secret.

    It may hold a server with HTTPS, certificates, a key and a token. It must make nobody read files here, run programs,
    talk by way of someone else, or trust whoever answers. Raises InvalidConnection."""
    path = Path(subject)
    found = Kubeconfig((path,), (_File(path, _parsed_before(content, subject)),)).config(context)
    cluster, user = found.cluster, found.user
    outside = "names something outside of the kubeconfig; write the content itself (…-data, token)"
    refused = {
        "certificate-authority": outside if cluster.authority.file else "",
        "client-certificate": outside if user.certificate.file else "",
        "client-key": outside if user.key.file else "",
        "tokenFile": outside if user.token_file else "",
        "exec": outside if user.plugin else "",
        "server": "" if cluster.server.lower().startswith("https://") else "must begin with https://",
        "proxy-url": "is not allowed here" if cluster.proxy_url else "",
        "tls-server-name": "is not allowed here" if cluster.tls_server_name else "",
        "insecure-skip-tls-verify": "is not allowed here; add certificate-authority-data" if cluster.insecure else "",
        "username": "is not allowed here; use a certificate or a token" if user.username or user.password else "",
        "as": "is not allowed here" if user.impersonation != NOBODY_ELSE else "",
    }
    for name, message in refused.items():
        if message:
            raise InvalidConnection(f'{subject}, context "{found.context}"', name, message)
    return found


class _ExecEnv(Struct):
    name: str = ""
    value: str = ""


class _Exec(Struct, rename="camel"):
    command: str = ""
    args: list[str] | None = None
    env: list[_ExecEnv] | None = None
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: InteractiveMode | None = None


class _User(Struct, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: bytes = b""
    client_key: str = ""
    client_key_data: bytes = b""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    as_: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: list[str] | None = None
    as_user_extra: dict[str, list[str]] | None = None
    auth_provider: dict[str, Any] | None = None
    exec: _Exec | None = None


class _Extension(Struct):
    name: str = ""
    extension: Any = None


class _Cluster(Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: bytes = b""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[_Extension] | None = None


class _Context(Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(Struct):
    name: str
    cluster: _Cluster | None = None


class _NamedUser(Struct):
    name: str
    user: _User | None = None


class _NamedContext(Struct):
    name: str
    context: _Context | None = None


class _Content(Struct, rename="kebab"):
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None
    current_context: str | None = ""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    content: _Content = field(repr=False)


def _read(path: Path) -> _File:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidConnection("kubeconfig", str(path), error.strerror or str(error)) from error
    return _File(path, _parsed(content, str(path)))


def _parsed(content: bytes | str, subject: str) -> _Content:
    loaded = loaded_yaml(content, subject)
    try:
        parsed = msgspec.convert({} if loaded is None else loaded, _Content)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at ")
        raise InvalidConnection(subject, path.strip("`$.") or "content", message) from error
    for plural, named in (("clusters", parsed.clusters), ("users", parsed.users), ("contexts", parsed.contexts)):
        _check_unique(subject, plural, [one.name for one in named or ()])
    return parsed


_parsed_before = lru_cache(maxsize=32)(_parsed)
"""Several controllers read the kubeconfig of a new cluster, one after the other."""


def loaded_yaml(content: bytes | str, subject: str) -> Any:
    """Raises InvalidConnection without a word of the content."""
    import yaml  # noqa: PLC0415 - whoever runs in a cluster reads no YAML

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yaml_depth.check(content, loader)
        return yaml.load(content, loader)  # noqa: S506 - both are safe loaders
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise InvalidConnection(subject, f"line {line}", "this is not YAML") from None
    except (yaml.YAMLError, ValueError):
        raise InvalidConnection(subject, "content", "this is not YAML") from None


def _check_unique(subject: str, plural: str, names: list[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise InvalidConnection(subject, f"{plural}[{twice[0]}]", "the name is there twice")


_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """Several files as one: for each name, and for the current context, the first file that has it counts."""

    paths: tuple[Path, ...]
    files: tuple[_File, ...]

    @property
    def is_empty(self) -> bool:
        return not any(file.content.contexts or file.content.clusters for file in self.files)

    @property
    def current(self) -> str:
        return next((file.content.current_context for file in self.files if file.content.current_context), "")

    @property
    def contexts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.name for file in self.files for one in file.content.contexts or ()))

    def config(self, context: str = "") -> Config:
        """What a context, or the current one, says. Raises InvalidConnection."""
        name = context or self.current
        if not name:
            raise InvalidConnection(self._where, "current-context", f"is not set; {self._offered()}")
        found, path = self._entry(name, ((one.name, one.context, file) for file, one in self._named_contexts()))
        if found is None:
            asked = "contexts" if context else "current-context"
            raise InvalidConnection(self._where, asked, f'there is no context "{name}"; {self._offered()}')
        where = f'{path}, context "{name}"'
        cluster = self._cluster(found.cluster, where)
        return Config(cluster, self._user(found.user, where), found.namespace, name, str(path))

    @property
    def _where(self) -> str:
        return os.pathsep.join(map(str, self.paths))

    def _offered(self) -> str:
        return f"contexts there: {', '.join(self.contexts)}" if self.contexts else "there are no contexts"

    def _named_contexts(self) -> Iterator[tuple[_File, _NamedContext]]:
        return ((file, one) for file in self.files for one in file.content.contexts or ())

    def _entry(self, name: str, entries: Iterable[tuple[str, _Entry | None, _File]]) -> tuple[_Entry | None, Path]:
        for candidate, entry, file in entries:
            if candidate == name and entry is not None:
                return entry, file.path
        return None, Path()

    def _cluster(self, name: str, where: str) -> Cluster:
        named = ((one.name, one.cluster, file) for file in self.files for one in file.content.clusters or ())
        found, path = self._entry(name, named)
        if not name or found is None:
            raise InvalidConnection(where, "cluster", f'there is no cluster "{name}"' if name else "is not set")
        return _cluster(found, _Origin(path, where, f"clusters[{name}]"))

    def _user(self, name: str, where: str) -> User:
        if not name:
            return User()
        named = ((one.name, one.user or _User(), file) for file in self.files for one in file.content.users or ())
        found, path = self._entry(name, named)
        if found is None:
            raise InvalidConnection(where, "user", f'there is no user "{name}"')
        return _user(found, _Origin(path, where, f"users[{name}]"))


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where an entry stands, so that paths in it and errors about it can be told."""

    file: Path
    where: str
    entry: str

    def refused(self, name: str, message: str) -> InvalidConnection:
        return InvalidConnection(self.where, f"{self.entry}.{name}", message)

    def resolved(self, path: str) -> Path:
        return self.file.parent.absolute() / path

    def material(self, name: str, data: bytes, path: str) -> Material:
        """The data wins over the file, as with kubectl."""
        if data:
            return Material(data, None, self.where, f"{self.entry}.{name}-data")
        return Material(b"", self.resolved(path), self.where, f"{self.entry}.{name}") if path else NOTHING


def _cluster(entry: _Cluster, origin: _Origin) -> Cluster:
    authority = origin.material("certificate-authority", entry.certificate_authority_data, entry.certificate_authority)
    _check_proxy(entry.proxy_url, origin)
    extensions = {one.name: one.extension for one in entry.extensions or ()}
    return Cluster(
        _server(entry, bool(authority), origin),
        authority,
        entry.insecure_skip_tls_verify,
        entry.tls_server_name,
        entry.proxy_url,
        entry.disable_compression,
        extensions.get(_EXEC_EXTENSION),
    )


def _server(entry: _Cluster, has_authority: bool, origin: _Origin) -> str:
    server = entry.server.rstrip("/")
    if not server:
        raise origin.refused("server", "is not set")
    if "://" not in server:
        server = f"{'https' if has_authority or entry.insecure_skip_tls_verify else 'http'}://{server}"
    parts = address_parts(server)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise origin.refused("server", "is not an http:// or https:// address")
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _check_proxy(url: str, origin: _Origin) -> None:
    parts = address_parts(url)
    if url and (parts is None or parts.scheme not in _PROXY_SCHEMES or not parts.hostname):
        raise origin.refused("proxy-url", f"must begin with {' or '.join(f'{one}://' for one in _PROXY_SCHEMES)}")


def _user(entry: _User, origin: _Origin) -> User:
    if entry.auth_provider is not None:
        provider = str(entry.auth_provider.get("name", ""))
        raise origin.refused("auth-provider", f'"{provider}" is no longer part of Kubernetes; use an exec plug-in')
    certificate = origin.material("client-certificate", entry.client_certificate_data, entry.client_certificate)
    key = origin.material("client-key", entry.client_key_data, entry.client_key)
    if bool(certificate) != bool(key):
        missing = "client-key" if certificate else "client-certificate"
        raise origin.refused(missing, "is not set, and a certificate and its key go together")
    if entry.token and (entry.username or entry.password):
        raise origin.refused("token", "and username are both set; one of them must go")
    return User(
        certificate,
        key,
        entry.token,
        origin.resolved(entry.token_file) if entry.token_file else None,
        entry.username,
        entry.password,
        _plugin(entry.exec, origin) if entry.exec is not None else None,
        _impersonation(entry, origin),
    )


def _impersonation(entry: _User, origin: _Origin) -> Impersonation:
    extra = {name: tuple(values) for name, values in (entry.as_user_extra or {}).items()}
    wanted = Impersonation(entry.as_, tuple(entry.as_groups or ()), entry.as_uid, extra)
    if not wanted.user and (wanted.groups or wanted.uid or wanted.extra):
        raise origin.refused("as", "is not set, and nobody can be impersonated without a name")
    return wanted


def _plugin(entry: _Exec, origin: _Origin) -> ExecPlugin:
    if not entry.command:
        raise origin.refused("exec.command", "is not set")
    if entry.api_version not in _EXEC_VERSIONS:
        raise origin.refused("exec.apiVersion", f"must be {' or '.join(_EXEC_VERSIONS)}")
    if entry.interactive_mode is None and entry.api_version == _EXEC_VERSIONS[0]:
        raise origin.refused("exec.interactiveMode", "is not set: Never, IfAvailable or Always")
    if any(not one.name for one in entry.env or ()):
        raise origin.refused("exec.env", "a variable has no name")
    has_place = os.sep in entry.command and not os.path.isabs(entry.command)
    return ExecPlugin(
        str(origin.resolved(entry.command)) if has_place else entry.command,
        entry.api_version,
        tuple(entry.args or ()),
        {one.name: one.value for one in entry.env or ()},
        entry.install_hint,
        entry.provide_cluster_info,
        entry.interactive_mode or "IfAvailable",
    )
