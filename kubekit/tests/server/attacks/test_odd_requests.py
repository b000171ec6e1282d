"""Requests with something odd in their line, their query or their headers: refused or served, never a failure."""

from __future__ import annotations

import asyncio
import base64
import logging
import random
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
import yaml

from kubekit.server.serve.server import Server
from tests.http_api import Api, admin_context
from tests.server.attacks.odd_values import HEADERS, MAPS, NEVER_TWICE, ONE, PATHS, QUERIES, VERBS, encoded

SECONDS = 20.0


class Line:
    """A connection that carries bytes as they are; one that the server closes is opened again."""

    def __init__(self, server: Server, *, knows_admin: bool = True) -> None:
        config = yaml.safe_load(server.admin_kubeconfig())
        authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
        self._server = server
        self._context = admin_context(config) if knows_admin else ssl.create_default_context(cadata=authority)
        self._context.check_hostname = False
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, target: str, headers: Sequence[tuple[str, str]] = (), body: bytes = b"") -> int:
        """The status of the answer; 0 when the server hangs up instead."""
        given = {name.lower() for name, _ in headers}
        added = [("Host", "x")] if "host" not in given else []
        if not given & {"content-length", "transfer-encoding"}:
            added.append(("Content-Length", str(len(body))))
        if "content-type" not in given:
            added.append(("Content-Type", "application/merge-patch+json" if method == "PATCH" else "application/json"))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in (*added, *headers)), "", ""]
        content = "\r\n".join(lines).encode("latin-1") + body
        async with asyncio.timeout(SECONDS):
            # What was asked before may have been the last that this connection took.
            was_used = self._streams is not None
            status = await self._sent(content, method) or (await self._sent(content, method) if was_used else 0)
        if not status or given & {"connection", "upgrade", "expect", "content-length", "transfer-encoding"}:
            self.close()
        return status

    async def _sent(self, content: bytes, method: str) -> int:
        reader, writer = await self._opened()
        writer.write(content)
        return await self._answer(reader, method)

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(
                "127.0.0.1", self._server.port, ssl=self._context, limit=2**24
            )
        return self._streams

    async def _answer(self, reader: asyncio.StreamReader, method: str) -> int:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
            status = int(head[0].split()[1])
            if status == 100:
                return await self._answer(reader, method)
            headers = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
            if method != "HEAD" and status not in (204, 304):
                await self._body(reader, headers)
            if headers.get("connection") == "close":
                self.close()
            return status
        except (asyncio.IncompleteReadError, ConnectionError):
            self.close()
            return 0

    async def _body(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> None:
        if headers.get("transfer-encoding") == "chunked":
            while size := int(await reader.readline(), 16):
                await reader.readexactly(size + 2)
            await reader.readline()
        else:
            await reader.readexactly(int(headers.get("content-length", "0")))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


@pytest.fixture
async def line(server: Server, api: Api, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Line]:
    """The server is well after whatever was asked, and has found nothing worth logging."""
    await api("POST", MAPS, {"metadata": {"name": "a"}})
    caplog.set_level(logging.WARNING)
    made = Line(server)
    yield made
    made.close()
    assert (await api("GET", ONE)).status == 200
    assert [record.getMessage() for record in caplog.records] == []


def is_answered(status: int) -> bool:
    return 200 <= status < 500


def with_query(path: str, part: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}{part}"


@pytest.mark.parametrize("name", QUERIES)
async def test_parameters(line: Line, name: str) -> None:
    wrong = []
    for method, path, body in VERBS:
        for value in QUERIES[name]:
            target = with_query(path, f"{name}={value}")
            if "watch" in target:
                target = with_query(target, "timeoutSeconds=1&resourceVersionMatch=x")
            status = await line.ask(method, target, body=body)
            # A version that is not there yet is waited for, and then there is a time to try again.
            if not (is_answered(status) or (name in ("resourceVersion", "continue") and status == 504)):
                wrong.append((status, method, target[:200]))
    assert wrong == []


@pytest.mark.parametrize("name", HEADERS)
async def test_headers(line: Line, name: str) -> None:
    wrong = []
    for method, path, body in VERBS:
        for value in HEADERS[name]:
            status = await line.ask(method, with_query(path, "resourceVersionMatch=x"), [(name, value)], body)
            if not is_answered(status):
                wrong.append((status, method, path, value[:200]))
    assert wrong == []


CREDENTIALS = ("Authorization", "Sec-WebSocket-Protocol")


@pytest.mark.parametrize("name", CREDENTIALS)
async def test_credentials(server: Server, line: Line, name: str) -> None:
    stranger = Line(server, knows_admin=False)
    given = (
        [*HEADERS[name], *(f"Bearer {one}" for one in forged_tokens())] if name == "Authorization" else HEADERS[name]
    )
    wrong = []
    for value in given:
        status = await stranger.ask("GET", MAPS, [(name, value)])
        if status not in (400, 401, 403):
            wrong.append((status, value[:200]))
    stranger.close()
    assert wrong == []


def forged_tokens() -> Iterator[str]:
    """Headers and claims of the wrong types, with a signature that is none."""
    values: tuple[object, ...] = (None, 1, -1, 1.5, "", "x", [], ["x"], {}, {"a": []}, True, 10**400)
    headers = [{"alg": alg} for alg in ("ES256", "none", "HS256", "RS256", *values)]
    headers += [
        {"alg": "ES256", name: value} for name in ("kid", "crit", "b64", "jwk", "x5c", "typ") for value in values
    ]
    headers.append({"alg": "ES256", "crit": ["b64"], "b64": False})
    claims = [{"iss": value} for value in values]
    known = {"iss": "https://kubernetes.default.svc"}
    claims += [{**known, name: value} for name in ("aud", "exp", "nbf", "sub", "kubernetes.io") for value in values]
    for header in headers:
        yield ".".join((encoded(header), encoded(known), "AA"))
    for claim in claims:
        for signature in ("", "AA", "A" * 86):
            yield ".".join((encoded({"alg": "ES256"}), encoded(claim), signature))


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"])
async def test_paths(line: Line, method: str) -> None:
    statuses = {path[:100]: await line.ask(method, path) for path in PATHS}
    assert {path: status for path, status in statuses.items() if not is_answered(status)} == {}


def odd_requests(seed: int, count: int) -> Iterator[tuple[str, str, list[tuple[str, str]], bytes]]:
    """Several odd things at once, the same for the same seed."""
    chance = random.Random(seed)
    headers = [name for name in HEADERS if name not in NEVER_TWICE]
    for _ in range(count):
        method, path, body = chance.choice(VERBS)
        parts = [
            f"{name}={chance.choice(QUERIES[name])}" for name in chance.sample(list(QUERIES), chance.randint(1, 4))
        ]
        target = with_query(path, "&".join([*parts, "resourceVersionMatch=x", "timeoutSeconds=1"]))
        sent = [(name, chance.choice(HEADERS[name])) for name in chance.sample(headers, chance.randint(1, 3))]
        junk = bytes(chance.randrange(256) for _ in range(chance.randint(0, 40)))
        yield method, target, sent, chance.choice((body, body, junk))


@pytest.mark.parametrize("seed", range(6))
async def test_several_oddities(line: Line, seed: int) -> None:
    wrong = []
    for method, target, headers, body in odd_requests(seed, 250):
        status = await line.ask(method, target, headers, body)
        if not (is_answered(status) or status in (503, 504)):
            wrong.append((status, method, target[:300], headers))
    assert wrong == []
