"""Requests and their answers over HTTP: connections, TLS, credentials, and every way in which they fail."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from io import BytesIO
from ssl import SSLContext, SSLError
from typing import Any
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from kubekit.errors import ApiError

from . import tls
from .config import Config
from .credentials import Credential, Credentials
from .failures import ServerName, refusal, unreachable
from .reply import JSON, Reply

log = logging.getLogger("kubekit.client")

_CONNECTIONS = 64
"""Requests under way at the same time; further ones wait. Streams do not count."""
_READ_BUFFER = 2**22
_LARGEST_PIECE = 2**20
_CONNECT_PATIENCE = 10.0
_KEEP_ALIVE = 60.0
_FAILURES = (aiohttp.ClientError, OSError, TimeoutError, SSLError)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")

Websocket = aiohttp.ClientWebSocketResponse[bool]


class Transport:
    """One server, as one user."""

    def __init__(
        self,
        config: Config,
        credentials: Credentials,
        *,
        agent: str,
        patience: float,
        warn: Callable[[str], None] | None = None,
        resends: bool = True,
    ) -> None:
        self._config, self._credentials, self._agent = config, credentials, agent
        self._resends = resends
        self._base = config.cluster.server
        self.place = ServerName.of(URL(self._base))
        self._proxy = _proxy(config, URL(self._base))
        self._patience = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_PATIENCE, sock_read=patience)
        self._warn = warn or _Logged()
        self._prepared: tuple[Credential, CIMultiDict[str], SSLContext | bool] | None = None
        self._calls: aiohttp.ClientSession | None = None
        self._streams: aiohttp.ClientSession | None = None

    async def call(
        self, method: str, path: str, body: bytes | None = None, *, content_type: str = JSON, accept: str = JSON
    ) -> Reply:
        """A request and its answer, which is a success. Raises ApiError."""
        headers = {"Accept": accept, "Content-Type": content_type} if body is not None else {"Accept": accept}
        credential = await self._credentials.current()
        reply = await self._call(method, path, body, headers, credential)
        if reply.status == 401:
            renewed = await self._credentials.renewed(credential)
            if renewed is not credential:
                log.debug("%s %s: again, with credentials that were renewed", method, path)
                reply = await self._call(method, path, body, headers, renewed)
        if not 200 <= reply.status < 300:
            raise refusal(self.place, method, path, reply)
        if "Warning" in reply.headers:
            self._tell_warnings(reply.headers)
        return reply

    async def _call(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], credential: Credential
    ) -> Reply:
        session = self._calls or self._open_sessions()[0]
        options = self._options(headers, credential)
        # aiohttp warns of more bytes at once than that.
        data = body if body is None or len(body) <= _LARGEST_PIECE else BytesIO(body)
        try:
            async with session.request(method, self._url(path), data=data, timeout=self._patience, **options) as answer:
                reply = Reply(answer.status, answer.reason or "", answer.headers, await answer.read())
        except _FAILURES as error:
            raise self._failed(error, f"{method} {path}") from error
        log.debug("%s %s: %d, %d bytes", method, path, reply.status, len(reply.body))
        return reply

    async def lines(self, path: str, *, idle: float | None = None) -> AsyncGenerator[list[bytes], None]:
        """An answer that may never end, by lines, as many at a time as have come. Raises ApiError, also after `idle`
        seconds of silence and when the connection is cut."""
        answer = await self._open(path, idle)
        parts: list[bytes] = []
        try:
            async for chunk in answer.content.iter_any():
                *complete, rest = chunk.split(b"\n")
                if complete:
                    complete[0] = b"".join([*parts, complete[0]])
                    parts = []
                    yield complete
                if rest:
                    parts.append(rest)
            if parts:
                yield [b"".join(parts)]
        except _FAILURES as error:
            raise self._failed(error) from error
        finally:
            answer.close()

    async def _open(self, path: str, idle: float | None) -> aiohttp.ClientResponse:
        credential = await self._credentials.current()
        answer = await self._request_stream(path, idle, credential)
        if answer.status == 401:
            renewed = await self._credentials.renewed(credential)
            if renewed is not credential:
                answer.close()
                answer = await self._request_stream(path, idle, renewed)
        if answer.status == 200:
            return answer
        try:
            body = await answer.read()
        except _FAILURES as error:
            raise self._failed(error) from error
        raise refusal(self.place, "GET", path, Reply(answer.status, answer.reason or "", answer.headers, body))

    async def _request_stream(self, path: str, idle: float | None, credential: Credential) -> aiohttp.ClientResponse:
        session = self._streams or self._open_sessions()[1]
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_PATIENCE, sock_read=idle)
        options = self._options({"Accept": JSON}, credential)
        try:
            answer = await session.get(self._url(path), timeout=timeout, **options)
        except _FAILURES as error:
            raise self._failed(error, f"GET {path}") from error
        log.debug("GET %s: %d, as a stream", path, answer.status)
        return answer

    async def websocket(self, path: str, protocols: tuple[str, ...]) -> Websocket:
        """A connection for messages both ways. Raises ApiError."""
        credential = await self._credentials.current()
        try:
            return await self._connect(path, protocols, credential)
        except aiohttp.WSServerHandshakeError as error:
            renewed = await self._credentials.renewed(credential) if error.status == 401 else credential
            if renewed is credential:
                raise await self._refused_upgrade(path, error) from error
        try:
            return await self._connect(path, protocols, renewed)
        except aiohttp.WSServerHandshakeError as error:
            raise await self._refused_upgrade(path, error) from error

    async def _connect(self, path: str, protocols: tuple[str, ...], credential: Credential) -> Websocket:
        session = self._streams or self._open_sessions()[1]
        options = self._options({}, credential)
        del options["allow_redirects"]
        try:
            made: Websocket = await session.ws_connect(self._url(path), protocols=protocols, max_msg_size=0, **options)
        except aiohttp.WSServerHandshakeError:
            raise
        except _FAILURES as error:
            raise self._failed(error) from error
        return made

    async def _refused_upgrade(self, path: str, error: aiohttp.WSServerHandshakeError) -> ApiError:
        """Why: the words are in a body that is lost, but the same question without the upgrade may bring them."""
        try:
            await self.call("GET", path)
        except ApiError as found:
            if found.code == error.status:
                return found
        return refusal(self.place, "GET", path, Reply(error.status, error.message, error.headers or {}, b""))

    async def close(self) -> None:
        for session in (self._calls, self._streams):
            if session is not None:
                await session.close()

    def _url(self, path: str) -> URL:
        return URL(self._base + path, encoded=True)

    def _open_sessions(self) -> tuple[aiohttp.ClientSession, aiohttp.ClientSession]:
        self._calls, self._streams = _session(_CONNECTIONS), _session(0)
        # By itself aiohttp sends what it may a second time when a connection that was kept turns out to have ended.
        self._calls._retry_connection = self._resends
        return self._calls, self._streams

    def _options(self, headers: Mapping[str, str], credential: Credential) -> dict[str, Any]:
        """What every request carries."""
        prepared = self._prepared
        if prepared is None or prepared[0] is not credential:
            prepared = self._prepared = (credential, self._headers(credential), self._tls(credential))
        sent = prepared[1].copy()
        sent.extend(headers)
        return {
            "headers": sent,
            "ssl": prepared[2],
            "server_hostname": self._config.cluster.tls_server_name or None,
            "proxy": self._proxy,
            "allow_redirects": False,
        }

    def _headers(self, credential: Credential) -> CIMultiDict[str]:
        headers = CIMultiDict({"User-Agent": self._agent})
        if credential.authorization:
            headers["Authorization"] = credential.authorization
        if self._config.cluster.disable_compression:
            headers["Accept-Encoding"] = "identity"
        for name, value in self._config.user.impersonation.headers():
            headers.add(name, value)
        return headers

    def _tls(self, credential: Credential) -> SSLContext | bool:
        if not self._base.startswith("https:"):
            return True
        return tls.context(self._config.cluster, credential.certificate, credential.key)

    def _failed(self, error: Exception, what: str = "a stream") -> ApiError:
        log.debug("%s: %s", what, error or type(error).__name__)
        if isinstance(error, aiohttp.ClientSSLError):
            # The authority may have been replaced: next time it is read again.
            self._prepared = None
        return unreachable(self.place, error)

    def _tell_warnings(self, headers: Any) -> None:
        for given in headers.getall("Warning"):
            for quoted in _WARNING.findall(given):
                self._warn(_ESCAPED.sub(r"\1", quoted))


class _Logged:
    """Writes each warning of the server once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, text: str) -> None:
        if text not in self._told and len(self._told) < 1000:
            self._told.add(text)
            log.warning("the API server warns: %s", text)


def _session(limit: int) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=limit, keepalive_timeout=_KEEP_ALIVE)
    return aiohttp.ClientSession(connector=connector, read_bufsize=_READ_BUFFER, cookie_jar=aiohttp.DummyCookieJar())


def _proxy(config: Config, server: URL) -> URL | None:
    """The proxy that is configured, or that the environment names for this host."""
    if config.cluster.proxy_url:
        return URL(config.cluster.proxy_url)
    host = server.host or ""
    if host in _LOOPBACK or proxy_bypass_environment(host):
        return None
    named = getproxies_environment().get(server.scheme)
    return URL(named) if named else None
