"""Servers and proxies that misbehave: what a client says then."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubekit.client.config import Cluster, Config, Material
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Selection, Signal
from kubekit.errors import (
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    InvalidConfiguration,
    NotFound,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    Unclassified,
)
from kubekit.model.resource import Address
from tests.client.servers import POD, Place, answering, keys, request_head, serving, talking
from tests.client.worlds import Widget

PODS = Address("", "v1", "Pod", "pods", True)
HERE = Selection("team")


async def get(config: Config, **options: Any) -> Any:
    async with HttpClient(config, **options) as client:
        return await client.get(PODS, "a", "team")


async def watched(config: Config, **options: Any) -> list[Any]:
    """All that a watch tells before it ends."""
    async with HttpClient(config, **options) as client, aclosing(client.watch(PODS, HERE, version="1")) as watch:
        return [event async for event in watch]


def event(kind: str, version: int, **fields: Any) -> bytes:
    obj = {**POD, "metadata": {"name": "a", "namespace": "team", "resourceVersion": str(version)}, **fields}
    return json.dumps({"type": kind, "object": obj}, separators=(",", ":")).encode() + b"\n"


def streaming(*chunks: bytes, complete: bool = True) -> Callable[..., Any]:
    """A talk that answers a watch with these chunks, and cuts it or ends it well."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
        if complete:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    return talk


def saying(content: bytes) -> Callable[..., Any]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_head(reader)
        writer.write(content)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    return talk


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        (400, {"reason": "BadRequest"}, BadRequest),
        (403, {"reason": "Forbidden"}, Forbidden),
        (409, {}, Conflict),
        (410, {"reason": "Gone"}, Expired),
        (418, {"reason": "Teapot"}, Unclassified),
        (500, {}, InternalError),
        (500, {"reason": "ServerTimeout"}, Timeout),
        (599, {}, InternalError),
    ],
)
async def test_a_status_becomes_its_error(code: int, status: dict[str, str], kind: type[Exception]) -> None:
    async with serving(answering({"kind": "Status", "message": "why", **status}, code)) as place:
        with pytest.raises(kind, match="why"):
            await get(place.config())


async def test_details_come_along() -> None:
    details = {
        "name": "n",
        "group": "g",
        "kind": "k",
        "uid": "u",
        "causes": [{"reason": "r", "message": "m", "field": "f"}],
    }
    async with serving(answering({"kind": "Status", "reason": "Invalid", "details": details}, 422)) as place:
        with pytest.raises(Exception, match="the server answered 422") as refused:
            await get(place.config())
    assert refused.value.details.wire() == details  # type: ignore[attr-defined]


@pytest.mark.parametrize("details", [None, 5, [], {"causes": "x", "retryAfterSeconds": "y", "name": 7}])
async def test_nonsense_in_details_does_not_hide_the_error(details: Any) -> None:
    async with serving(answering({"kind": "Status", "reason": "NotFound", "details": details}, 404)) as place:
        with pytest.raises(NotFound):
            await get(place.config())


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"kind": "Status", "reason": "TooManyRequests", "details": {"retryAfterSeconds": 7}}, {"Retry-After": "3"}),
        ({"kind": "Status", "reason": "TooManyRequests"}, {"Retry-After": "7"}),
        ("slow down", {"Retry-After": "7"}),
    ],
)
async def test_a_busy_server_says_when_to_come_back(body: Any, headers: dict[str, str]) -> None:
    async with serving(answering(body, 429, **headers)) as place:
        with pytest.raises(TooManyRequests) as refused:
            await get(place.config())
    assert (refused.value.retry_after, refused.value.retryable) == (7, True)


async def test_a_page_of_a_proxy_stays_readable() -> None:
    page = "<html><head><title>502 Bad Gateway</title><style>x{}</style></head><body>nginx</body></html>"

    async def proxy(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=502, text=page, content_type="text/html")

    async with serving(proxy) as place:
        with pytest.raises(ServiceUnavailable) as refused:
            await get(place.config())
    said = f"127.0.0.1:{place.port} answered 502 Bad Gateway to GET /api/v1/namespaces/team/pods/a: 502 Bad Gateway"
    assert str(refused.value) == said


async def test_a_login_page_is_not_an_object() -> None:
    async def portal(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text="<html><body><p>Please <b>log in</b></p></body></html>", content_type="text/html")

    async with serving(portal) as place, HttpClient(place.config()) as client:
        for call in (client.get(PODS, "a", "team"), client.list(PODS), client.version(), client.discover()):
            with pytest.raises(ServiceUnavailable, match="does not answer like a Kubernetes API"):
                await call
        with pytest.raises(ServiceUnavailable, match="not of a Kubernetes API"):
            await anext(client.watch(PODS))


async def test_a_redirect_is_not_followed() -> None:
    async def elsewhere(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "https://elsewhere.example.com/"})

    async with serving(elsewhere) as place:
        with pytest.raises(Unclassified, match="answered 302 Found"):
            await get(place.config())
        assert len(place.requests) == 1


async def test_an_object_that_is_not_as_its_class_says_is_named() -> None:
    broken = {"metadata": {"name": "a", "namespace": "team"}, "spec": {"size": 5}}
    answers = {"/a": broken, "s": {"metadata": {}, "items": [broken]}}

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(next(body for end, body in answers.items() if request.path.endswith(end)))

    async with serving(answer) as place, HttpClient(place.config()) as client:
        for call in (client.get(Widget, "a", "team"), client.list(Widget)):
            with pytest.raises(InvalidConfiguration, match=r"Widget team/a: spec.size: Expected `str`, got `int`"):
                await call


async def test_a_closed_port_is_named() -> None:
    async with talking(silent) as place:
        pass
    with pytest.raises(ServiceUnavailable, match=f"^127.0.0.1:{place.port}: Connection refused$") as refused:
        await get(place.config())
    assert refused.value.retryable


async def test_a_name_that_does_not_exist_is_said() -> None:
    with pytest.raises(ServiceUnavailable, match=r"^nowhere\.invalid:6443: the name cannot be resolved"):
        await get(Config(Cluster("http://nowhere.invalid:6443")))


async def test_a_server_that_never_answers_is_not_waited_for_for_ever() -> None:
    async with talking(silent) as place:
        with pytest.raises(Timeout, match=f"127.0.0.1:{place.port}: no answer"):
            await get(place.config(), patience=0.05)


@pytest.mark.parametrize(
    "content", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"SSH-2.0-OpenSSH_9.6\r\n\r\n"]
)
async def test_a_connection_that_is_cut_or_nonsense_is_unavailable(content: bytes) -> None:
    async with talking(saying(content)) as place:
        with pytest.raises(ServiceUnavailable, match=f"127.0.0.1:{place.port}"):
            await get(place.config())


async def test_connections_are_used_again() -> None:
    ports = set()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername"))
        return web.json_response(POD)

    async with serving(answer) as place, HttpClient(place.config()) as client:
        for _ in range(5):
            await client.get(PODS, "a", "team")
    assert len(ports) == 1


@pytest.mark.parametrize(("resends", "requests"), [(True, 3), (False, 2)])
async def test_a_kept_connection_that_has_ended_is_tried_once_more_or_not(resends: bool, requests: int) -> None:
    seen: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        seen.append(request.path)
        if len(seen) == 2 and request.transport is not None:
            request.transport.abort()
        return web.json_response(POD)

    async with serving(answer) as place, HttpClient(place.config(), resends=resends) as client:
        await client.get(PODS, "a", "team")
        with nullcontext() if resends else pytest.raises(ServiceUnavailable):
            await client.get(PODS, "a", "team")
    assert len(seen) == requests


async def test_an_object_may_be_larger_than_what_is_sent_at_once() -> None:
    sizes: list[int] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        sizes.append(len(await request.content.read()))
        return web.json_response(POD)

    async with serving(answer) as place, HttpClient(place.config()) as client:
        await client.patch(PODS, "a", {"data": "x" * 2**21}, "team")
    assert sizes == [2**21 + len('{"data":""}')]


async def test_a_line_may_be_long_and_come_in_pieces() -> None:
    line = event("ADDED", 2, data={"big": "x" * 6_000_000})
    pieces = [line[start : start + 50_000] for start in range(0, len(line), 50_000)]
    async with talking(streaming(*pieces, event("DELETED", 3) + event("ADDED", 4))) as place:
        told = await watched(place.config())
    assert [(one.signal, one.version) for one in told] == [
        (Signal.ADDED, "2"),
        (Signal.DELETED, "3"),
        (Signal.ADDED, "4"),
    ]


async def test_a_bookmark_has_a_version_and_no_object() -> None:
    async with talking(streaming(event("BOOKMARK", 9))) as place:
        (told,) = await watched(place.config())
    assert (told.signal, told.version, told.item) == (Signal.BOOKMARK, "9", None)


async def test_a_watch_asks_for_bookmarks_from_a_version() -> None:
    async with serving(answering({"kind": "Status", "reason": "Forbidden"}, 403)) as place:
        with pytest.raises(Forbidden):
            await watched(place.config())
        query = place.requests[0].rel_url.query
    assert (query["watch"], query["allowWatchBookmarks"], query["resourceVersion"]) == ("1", "true", "1")


@pytest.mark.parametrize("complete", [True, False])
async def test_a_watch_cut_in_the_middle_of_a_line_is_unavailable(complete: bool) -> None:
    chunks = event("ADDED", 2), event("ADDED", 3)[:40]
    async with talking(streaming(*chunks, complete=complete)) as place, HttpClient(place.config()) as client:
        watch = client.watch(PODS, HERE, version="1")
        assert (await anext(watch)).version == "2"
        with pytest.raises(ServiceUnavailable, match="cut"):
            await anext(watch)


async def test_an_error_in_a_watch_is_raised() -> None:
    gone = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"}
    line = json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n"
    async with talking(streaming(event("ADDED", 2), line)) as place:
        with pytest.raises(Expired, match="too old"):
            await watched(place.config())


async def test_a_watch_that_falls_silent_is_noticed() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await reader.read()

    async with talking(hang) as place:
        with pytest.raises(Timeout, match="nothing came"):
            await watched(place.config(), idle=0.05)


async def test_a_list_whose_token_expires_is_started_once_more() -> None:
    async def forgetful(request: web.BaseRequest) -> web.StreamResponse:
        if "continue" in request.rel_url.query:
            return web.json_response({"kind": "Status", "reason": "Expired", "code": 410}, status=410)
        more = {"continue": "next"} if "limit" in request.rel_url.query else {}
        return web.json_response({"metadata": {"resourceVersion": "9", **more}, "items": [POD]})

    async with serving(forgetful) as place, HttpClient(place.config()) as client:
        listed = await client.list(PODS, HERE, page=1)
        assert (len(listed.items), listed.version, len(place.requests)) == (1, "9", 3)


async def test_a_certificate_for_another_name_is_refused_and_said(tmp_path: Path) -> None:
    async with serving(answering(POD), keys(tmp_path / "pki")) as place:
        with pytest.raises(ServiceUnavailable, match=r"certificate is refused: Hostname mismatch.*'other.example.com'"):
            await get(place.config(tls_server_name="other.example.com"))


async def test_the_name_to_expect_can_be_given(tmp_path: Path) -> None:
    async with serving(answering(POD), keys(tmp_path / "pki", "inner.example.com")) as place:
        assert (await get(place.config(tls_server_name="inner.example.com")))["kind"] == "Pod"


async def test_a_stranger_is_refused_and_said(tmp_path: Path) -> None:
    stranger = keys(tmp_path / "stranger").server_authority
    async with serving(answering(POD), keys(tmp_path / "pki")) as place:
        with pytest.raises(
            ServiceUnavailable, match=r"TLS: the server's certificate is refused: self.signed certificate"
        ):
            await get(place.config(authority=Material(stranger)))
        with pytest.raises(ServiceUnavailable, match="TLS: the server's certificate is refused"):
            await get(place.config(authority=Material()))
        assert (await get(place.config(insecure=True)))["kind"] == "Pod"


async def test_an_authority_that_is_replaced_is_read_again(tmp_path: Path) -> None:
    stranger, pki = keys(tmp_path / "stranger"), keys(tmp_path / "pki")
    file = tmp_path / "ca.crt"
    file.write_bytes(stranger.server_authority)
    trusting = Material(file=file)
    async with serving(answering(POD), pki) as place, HttpClient(place.config(authority=trusting)) as client:
        with pytest.raises(ServiceUnavailable):
            await client.get(PODS, "a", "team")
        file.write_bytes(pki.server_authority)
        assert (await client.get(PODS, "a", "team"))["kind"] == "Pod"


async def test_a_server_without_tls_is_said() -> None:
    async with serving(answering(POD)) as place:
        with pytest.raises(ServiceUnavailable, match="TLS: the server does not speak TLS there"):
            await get(Config(Cluster(f"https://127.0.0.1:{place.port}", insecure=True)))


async def test_a_server_that_insists_on_a_certificate_is_unavailable(tmp_path: Path) -> None:
    pki = keys(tmp_path / "pki")
    pki.tls.verify_mode = ssl.CERT_REQUIRED
    async with serving(answering(POD), pki) as place:
        with pytest.raises(ServiceUnavailable, match=f"127.0.0.1:{place.port}"):
            await get(place.config())


async def test_an_authority_that_is_no_certificate_is_said() -> None:
    config = Config(Cluster("https://127.0.0.1:1", Material(b"nonsense", None, "config", "certificate-authority-data")))
    with pytest.raises(InvalidConfiguration, match="config: certificate-authority-data: this is not a PEM certificate"):
        await get(config)


def tunnel(seen: list[bytes], refusal: bytes = b"") -> Callable[..., Any]:
    """A proxy that knows CONNECT and nothing else."""

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while content := await reader.read(2**16):
            writer.write(content)
        writer.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await request_head(reader)
        seen.append(head)
        if refusal:
            writer.write(refusal)
            await writer.drain()
            return
        host, _, port = head.split()[1].decode().rpartition(":")
        onward = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(pipe(reader, onward[1]), pipe(onward[0], writer))

    return talk


async def test_a_proxy_is_gone_through(tmp_path: Path) -> None:
    seen: list[bytes] = []
    async with serving(answering(POD), keys(tmp_path / "pki", "inner")) as place, talking(tunnel(seen)) as proxy:
        url = f"http://me:p%40ss@127.0.0.1:{proxy.port}"
        assert (await get(place.config(proxy_url=url, tls_server_name="inner")))["kind"] == "Pod"
    assert seen[0].startswith(f"CONNECT 127.0.0.1:{place.port} HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization: Basic bWU6cEBzcw==\r\n" in seen[0]


async def test_a_proxy_that_refuses_is_said(tmp_path: Path) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with serving(answering(POD), keys(tmp_path / "pki")) as place, talking(tunnel([], refusal)) as proxy:
        with pytest.raises(ServiceUnavailable, match="the proxy answered 407 Proxy Authentication Required"):
            await get(place.config(proxy_url=f"http://127.0.0.1:{proxy.port}"))


async def test_a_proxy_that_is_not_there_is_said(tmp_path: Path) -> None:
    async with talking(silent) as gone:
        pass
    place = Place(1, keys(tmp_path / "pki"))
    with pytest.raises(ServiceUnavailable, match=f"127.0.0.1:1: proxy 127.0.0.1:{gone.port}: Connection refused"):
        await get(place.config(proxy_url=f"http://127.0.0.1:{gone.port}"))


async def test_the_environment_names_a_proxy_but_not_for_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bytes] = []
    async with (
        serving(answering(POD), keys(tmp_path / "pki")) as place,
        talking(tunnel(seen, b"HTTP/1.1 403 No\r\n\r\n")) as proxy,
    ):
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        assert (await get(place.config()))["kind"] == "Pod"
        assert seen == []
        with pytest.raises(ServiceUnavailable, match="the proxy answered 403"):
            await get(Config(Cluster("https://elsewhere.example.com")))
        assert seen[0].startswith(b"CONNECT elsewhere.example.com:443 ")
