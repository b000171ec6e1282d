"""Reading without an event loop: the same answers, and the same words for what goes wrong."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubekit.client.blocking_client import OneShot, can_reach
from kubekit.client.config import Cluster, Config, ExecPlugin, Impersonation, Material, User
from kubekit.client.protocol import Selection
from kubekit.errors import Forbidden, InvalidConfiguration, NotFound, ServiceUnavailable, Timeout, Unauthorized
from kubekit.model.resource import Address
from tests.client.servers import POD, answering, keys, request_head, serving, talking

PODS = Address("", "v1", "Pod", "pods", True)
LIST = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": [POD]}


async def asked(config: Config, question: Callable[[OneShot], Any], **options: Any) -> Any:
    """The answer, while the server in this event loop goes on."""

    def ask() -> Any:
        client = OneShot(config, **options)
        try:
            return question(client)
        finally:
            client.close()

    return await asyncio.to_thread(ask)


def get(client: OneShot) -> Any:
    return client.get(PODS, "a", "team")


async def test_an_object_is_read() -> None:
    async with serving(answering(POD)) as place:
        assert await asked(place.config(), get) == POD
        assert place.requests[0].path_qs == "/api/v1/namespaces/team/pods/a"


async def test_a_list_is_read_at_once_with_its_version() -> None:
    async with serving(answering(LIST)) as place:
        found = await asked(place.config(), lambda client: client.list(PODS, Selection("team", "app=x")))
        assert (found.version, found.items) == ("9", (POD,))
        assert place.requests[0].path_qs == "/api/v1/namespaces/team/pods?labelSelector=app%3Dx"


async def test_several_questions_share_a_connection() -> None:
    async with serving(answering(POD)) as place:
        await asked(place.config(), lambda client: [get(client), get(client)])
        first, second = (request.transport for request in place.requests)
        assert len(place.requests) == 2
        assert first is second


async def test_an_answer_in_chunks_is_put_together() -> None:
    async def chunked(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        answer.enable_chunked_encoding()
        await answer.prepare(request)
        await answer.write(b'{"kind":"Pod","apiVersion":"v1",')
        await answer.write(b'"metadata":{"name":"a"}}')
        return answer

    async with serving(chunked) as place:
        found = await asked(place.config(), get)
        assert found["metadata"] == {"name": "a"}


async def test_credentials_go_over_tls(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("from-file\n")
    async with serving(answering(POD), keys(tmp_path / "pki")) as place:
        for user in (User(token="t"), User(username="u", password="p"), User(token_file=token)):
            await asked(place.config(user), get)
        sent = [request.headers["Authorization"] for request in place.requests]
        assert sent == ["Bearer t", "Basic dTpw", "Bearer from-file"]


async def test_a_client_certificate_is_shown(tmp_path: Path) -> None:
    seen = []

    async def who(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        seen.append(request.transport.get_extra_info("peercert")["subject"])
        return web.json_response(POD)

    pki = keys(tmp_path)
    pair = pki.admin
    user = User(certificate=Material(pair.certificate), key=Material(pair.key))
    async with serving(who, pki) as place:
        await asked(place.config(user), get)
    assert "system:masters" in str(seen)


async def test_nothing_secret_goes_over_plain_http() -> None:
    async with serving(answering(POD)) as place:
        await asked(place.config(User(token="t")), get)
        assert "Authorization" not in place.requests[0].headers


async def test_somebody_else_can_be_impersonated() -> None:
    user = User(impersonation=Impersonation("jane", ("a", "b")))
    async with serving(answering(POD)) as place:
        await asked(place.config(user), get)
        headers = place.requests[0].headers
        assert (headers["Impersonate-User"], headers.getall("Impersonate-Group")) == ("jane", ["a", "b"])


@pytest.mark.parametrize(("status", "reason", "error"), [(404, "NotFound", NotFound), (403, "Forbidden", Forbidden)])
async def test_a_refusal_is_the_error_it_stands_for(status: int, reason: str, error: type[Exception]) -> None:
    body = {"kind": "Status", "reason": reason, "message": "no", "details": {"name": "a"}, "code": status}
    async with serving(answering(body, status)) as place:
        with pytest.raises(error, match="no"):
            await asked(place.config(), get)


async def test_a_page_that_is_no_kubernetes_is_recognised() -> None:
    async def page(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text="<html><title>Log in</title></html>", content_type="text/html")

    async with serving(page) as place:
        with pytest.raises(ServiceUnavailable, match=r"does not answer like a Kubernetes API.*Log in"):
            await asked(place.config(), get)


async def test_nobody_there_is_said_in_a_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ServiceUnavailable, match=f"127.0.0.1:{port}: Connection refused"):
            await asked(Config(Cluster(f"http://127.0.0.1:{port}")), get)


async def test_an_unknown_authority_is_refused(tmp_path: Path) -> None:
    other = keys(tmp_path / "other")
    async with serving(answering(POD), keys(tmp_path / "own")) as place:
        config = place.config(authority=Material(other.server_authority))
        with pytest.raises(ServiceUnavailable, match="TLS: the server's certificate is refused"):
            await asked(config, get)


async def test_silence_ends_after_the_patience_given() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with talking(silent) as place:
        with pytest.raises(Timeout, match="nothing came for too long"):
            await asked(place.config(), get, patience=0.05)


@pytest.mark.parametrize("text", [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"SSH-2.0-OpenSSH\r\n\r\n", b""])
async def test_an_answer_that_is_cut_or_not_http_is_an_error(text: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_head(reader)
        writer.write(text)
        writer.write_eof()
        await writer.drain()
        await reader.read()

    async with talking(talk) as place:
        with pytest.raises(ServiceUnavailable):
            await asked(place.config(), get)


async def test_a_token_file_that_is_gone_is_named(tmp_path: Path) -> None:
    async with serving(answering(POD), keys(tmp_path)) as place:
        with pytest.raises(Unauthorized, match="gone"):
            await asked(place.config(User(token_file=tmp_path / "gone")), get)


async def test_damaged_certificates_are_named(tmp_path: Path) -> None:
    user = User(certificate=Material(b"x"), key=Material(b"y"))
    async with serving(answering(POD), keys(tmp_path)) as place:
        with pytest.raises(InvalidConfiguration, match="cannot be used"):
            await asked(place.config(user), get)


def test_it_says_what_it_cannot_do() -> None:
    far, near = Cluster("https://far:6443"), Cluster("https://127.0.0.1:6443")
    assert can_reach(Config(far), {})
    assert not can_reach(Config(far), {"HTTPS_PROXY": "http://proxy"})
    assert can_reach(Config(near), {"HTTPS_PROXY": "http://proxy"})
    assert not can_reach(Config(Cluster("https://far", proxy_url="http://proxy")), {})
    assert not can_reach(Config(far, User(plugin=ExecPlugin("aws", "client.authentication.k8s.io/v1"))), {})
