"""A few questions to an API server without an event loop: for commands that read something, show it and end."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from kubekit.errors import ApiError, ServiceUnavailable, Timeout, Unauthorized

from . import paths, tls
from .codec import Codec, Kind, NotAnObject, codec_for
from .config import Config, User
from .failures import ServerName, certificate_problem, foreign, refusal, system_problem, tls_problem
from .protocol import DEFAULT_MANAGER, EVERYTHING, Listed, Selection
from .reply import JSON, Reply

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443}


def can_reach(config: Config, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether OneShot will do: it knows no proxies, and no programs that print credentials."""
    if config.user.plugin is not None or config.cluster.proxy_url:
        return False
    host = urlsplit(config.cluster.server).hostname
    return host in _LOOPBACK or not any(name.lower().endswith("_proxy") and value for name, value in environ.items())


class OneShot:
    """The reading verbs of `kubekit.client.protocol.Client`, blocking, over one connection. Raises what that does.

    `tell` is told of every request."""

    def __init__(
        self,
        config: Config,
        *,
        agent: str = DEFAULT_MANAGER,
        patience: float = 60.0,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._config, self._agent, self._patience = config, agent, patience
        self._tell = tell or _nobody
        address = urlsplit(config.cluster.server)
        self._is_safe, self._prefix = address.scheme == "https", address.path
        self._place = ServerName(address.hostname or "", address.port or _PORTS[address.scheme])
        self._connection: tuple[socket.socket, BinaryIO] | None = None

    def get(self, kind: Kind, name: str, namespace: str = "") -> Any:
        codec = codec_for(kind)
        reply = self._ask(paths.one(codec.address, name, namespace))
        try:
            return codec.one(reply.body)
        except NotAnObject as error:
            raise foreign(self._place, reply, str(error)) from error

    def list(self, kind: Kind, selection: Selection = EVERYTHING) -> Listed[Any]:
        """All at once: one question is quicker than several."""
        codec = codec_for(kind)
        path = paths.collection(codec.address, selection.namespace) + paths.query(selection)
        return self._page(codec, self._ask(path))

    def close(self) -> None:
        if self._connection is not None:
            connection, reader = self._connection
            reader.close()
            connection.close()
            self._connection = None

    def _page(self, codec: Codec, reply: Reply) -> Listed[Any]:
        try:
            page = codec.page(reply.body)
        except NotAnObject as error:
            raise foreign(self._place, reply, str(error)) from error
        return Listed(tuple(page.items), page.metadata.resource_version)

    def _ask(self, path: str) -> Reply:
        try:
            connection, reader = self._connection or self._connect()
            connection.sendall(self._request(path))
            reply = _reply(reader)
        except (OSError, ValueError) as error:
            self.close()
            self._tell(f"GET {path}: {error}")
            raise self._failed(error) from error
        self._tell(f"GET {path}: {reply.status}, {len(reply.body)} bytes")
        if reply.headers.get("Connection", "").lower() == "close":
            self.close()
        if reply.status != 200:
            raise refusal(self._place, "GET", path, reply)
        return reply

    def _connect(self) -> tuple[socket.socket, BinaryIO]:
        context = self._tls() if self._is_safe else None
        plain = socket.create_connection((self._place.host, self._place.port), timeout=self._patience)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            name = self._config.cluster.tls_server_name or self._place.host
            connection = context.wrap_socket(plain, server_hostname=name) if context else plain
        except BaseException:
            plain.close()
            raise
        opened = connection, connection.makefile("rb")
        self._connection = opened
        return opened

    def _tls(self) -> ssl.SSLContext:
        user = self._config.user
        return tls.context(self._config.cluster, user.certificate.read(), user.key.read())

    def _request(self, path: str) -> bytes:
        headers = [("Host", str(self._place)), ("User-Agent", self._agent), ("Accept", JSON)]
        # Nothing secret goes over a connection that anyone can read; kubectl does the same.
        if self._is_safe and (authorization := _authorization(self._config.user)):
            headers.append(("Authorization", authorization))
        headers += self._config.user.impersonation.headers()
        lines = [f"GET {self._prefix}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
        return "\r\n".join(lines).encode()

    def _failed(self, error: Exception) -> ApiError:
        match error:
            case ssl.SSLCertVerificationError():
                return ServiceUnavailable(f"{self._place}: TLS: {certificate_problem(error)}")
            case ssl.SSLError():
                return ServiceUnavailable(f"{self._place}: TLS: {tls_problem(error)}")
            case TimeoutError():
                return Timeout(f"{self._place}: no answer: nothing came for too long")
            case socket.gaierror():
                return ServiceUnavailable(f"{self._place}: the name cannot be resolved: {system_problem(error)}")
            case OSError():
                return ServiceUnavailable(f"{self._place}: {system_problem(error)}")
        return ServiceUnavailable(f"{self._place}: the answer is not HTTP: {error}")


def _nobody(_: str) -> None:
    """Listens when nobody else does."""


def _authorization(user: User) -> str:
    if user.token_file is None:
        return user.authorization()
    try:
        return f"Bearer {user.token_file.read_text(errors='replace').strip()}"
    except OSError as error:
        raise Unauthorized(f"token file {user.token_file}: {error.strerror or error}") from error


def _reply(reader: BinaryIO) -> Reply:
    """One answer. Raises OSError when it is cut, ValueError when it is not HTTP."""
    version, _, rest = _line(reader).partition(" ")
    code, _, reason = rest.partition(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError("it does not begin like one")
    status, headers = int(code), {}
    while line := _line(reader):
        name, _, value = line.partition(":")
        headers[name.title()] = value.strip()
    return Reply(status, reason, headers, _body(reader, headers))


def _body(reader: BinaryIO, headers: Mapping[str, str]) -> bytes:
    if headers.get("Transfer-Encoding", "").lower() == "chunked":
        return _chunks(reader)
    if "Content-Length" in headers:
        return _exactly(reader, int(headers["Content-Length"]))
    return reader.read()


def _chunks(reader: BinaryIO) -> bytes:
    found = []
    while size := int(_line(reader).partition(";")[0], 16):
        found.append(_exactly(reader, size))
        _line(reader)
    while _line(reader):
        pass
    return b"".join(found)


def _exactly(reader: BinaryIO, count: int) -> bytes:
    content = reader.read(count)
    if len(content) < count:
        raise ConnectionResetError("the connection was cut")
    return content


def _line(reader: BinaryIO) -> str:
    line = reader.readline(1 << 16)
    if not line.endswith(b"\n"):
        raise ConnectionResetError("the connection was cut")
    return line.decode("latin-1").rstrip("\r\n")
