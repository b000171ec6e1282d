"""HTTP to an infrastructure: what its answers come to."""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from butler.providers.rest import Question, Rest, Trust
from butler.providers.testing.web import serving as web_serving
from kubekit.errors import InvalidConfiguration
from testbed.running import loopback_tls

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler, **settings: Any) -> AsyncIterator[Rest]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    rest = Rest("cloud", f"http://{host}:{port}/", patience=0.3, **settings)
    try:
        yield rest
    finally:
        await rest.close()
        await runner.cleanup()


def answering(status: int, body: Any = None, **headers: str) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response(body, status=status, headers=named)

    return handler


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, MachineRejected), (401, CredentialsInvalid), (403, CredentialsInvalid), (404, MachineRejected),
        (408, ProviderUnavailable), (409, ProviderUnavailable), (422, MachineRejected), (423, ProviderUnavailable),
        (429, RateLimited), (500, ProviderUnavailable), (502, ProviderUnavailable), (503, ProviderUnavailable),
        (504, ProviderUnavailable), (507, CapacityExhausted),
    ],
)  # fmt: skip
async def test_a_status_code_says_which_error_it_is(status: int, kind: type[ProviderError]) -> None:
    async with serving(answering(status, {"message": "no"})) as rest:
        with pytest.raises(ProviderError) as raised:
            await rest.call("POST", "/vms", "web-0", {})
    assert type(raised.value) is kind
    assert str(raised.value) == f"cloud: machine 'web-0': {status} for POST /vms: no"


@pytest.mark.parametrize("status", [429, 503])
async def test_how_long_to_wait_is_passed_on(status: int) -> None:
    async with serving(answering(status, Retry_After="17")) as rest:
        with pytest.raises(RateLimited) as raised:
            await rest.call("GET", "/vms")
    assert raised.value.retry_after == 17


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("Wed, 21 Oct 2015 07:28:30 GMT", 90), ("Wed, 21 Oct 2015 07:00:00 GMT", 0), ("soon", 0), ("", 0)],
)
async def test_a_date_to_wait_for_is_reckoned_by_the_other_sides_clock(told: str, seconds: float) -> None:
    handler = answering(429, Retry_After=told, Date="Wed, 21 Oct 2015 07:27:00 GMT")
    async with serving(handler) as rest:
        with pytest.raises(RateLimited) as raised:
            await rest.call("GET", "/vms")
    assert raised.value.retry_after == seconds


async def test_what_is_expected_is_no_error() -> None:
    async with serving(answering(404)) as rest:
        assert await rest.call("GET", "/vms/1", expected=(404,)) is None


async def test_an_infrastructure_may_judge_for_itself() -> None:
    async with serving(answering(400, {"error": {"message": "x"}}), judge=lambda _: CapacityExhausted) as rest:
        with pytest.raises(CapacityExhausted):
            await rest.call("GET", "/vms")


async def test_silence_ends_with_patience() -> None:
    async def handler(request: web.Request) -> web.Response:
        import asyncio  # noqa: PLC0415

        await asyncio.sleep(5)
        return web.Response()

    async with serving(handler) as rest:
        with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.3 s for GET /vms"):
            await rest.call("GET", "/vms")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:1", r"cloud: no connection to 127.0.0.1:1 \(connection refused\) for GET /vms"),
        ("http://nobody.invalid", "cloud: no address is known for nobody.invalid for GET /vms"),
    ],
)
async def test_nobody_there_is_unavailable(url: str, said: str) -> None:
    rest = Rest("cloud", url)
    with pytest.raises(ProviderUnavailable, match=said):
        await rest.call("GET", "/vms")
    await rest.close()


async def test_a_certificate_that_is_not_trusted_is_said_so() -> None:
    async with web_serving(web.Application(), loopback_tls.context()) as url:
        rest = Rest("cloud", url)
        with pytest.raises(
            ProviderUnavailable, match=r"the certificate of 127.0.0.1:\d+ is not trusted \(.*certificate"
        ):
            await rest.call("GET", "/vms")
        await rest.close()


async def test_what_is_sent_arrives() -> None:
    async def handler(request: web.Request) -> web.Response:
        shown = {"body": await request.json(), "query": dict(request.query), "key": request.headers["X-Key"]}
        return web.json_response(shown)

    async with serving(handler, headers={"X-Key": "k"}) as rest:
        reply = await rest.ask(Question("PUT", "/x", body={"a": [1]}, query={"page": "2"}))
    assert reply.body == {"body": {"a": [1]}, "query": {"page": "2"}, "key": "k"}


@pytest.mark.parametrize("form", ["as it was", "escaped", "base64", "one line"])
async def test_a_secret_that_comes_back_goes_no_further(form: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "#cloud-config\npassword: hunter2-canary\n"
    echo: dict[str, Any] = {
        "as it was": {"message": f"bad userdata {secret}"},
        "escaped": {"errors": [{"value": secret}]},
        "base64": {"message": base64.b64encode(secret.encode()).decode()},
        "one line": {"message": "line 2: password: hunter2-canary"},
    }
    async with serving(answering(400, echo[form]), secrets=("key-canary",)) as rest:
        with pytest.raises(MachineRejected) as raised:
            await rest.call("POST", "/vms", "web-0", {"user_data": secret}, hidden=(secret,))
    told = f"{raised.value!r} {raised.value} {raised.value.__cause__!r} {caplog.text}"
    assert "***" in told
    assert "hunter2" not in told
    assert base64.b64encode(secret.encode()).decode() not in told


async def test_a_page_of_html_is_not_quoted() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=502, text="<html><body>Bad gateway</body></html>", content_type="text/html")

    async with serving(handler) as rest:
        with pytest.raises(ProviderUnavailable) as raised:
            await rest.call("GET", "/vms")
    assert str(raised.value) == "cloud: 502 for GET /vms"


async def test_a_closed_connection_opens_again() -> None:
    async with serving(answering(200, {"ok": True})) as rest:
        await rest.close()
        assert await rest.call("GET", "/vms") == {"ok": True}


def test_a_certificate_that_is_none_is_said_so() -> None:
    with pytest.raises(InvalidConfiguration, match="is not a certificate"):
        Rest("cloud", "https://x", trust=Trust(ca="-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"))


async def test_what_stands_beside_the_status_code_can_be_read() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=500, reason="VM is locked (clone)")

    async with serving(handler, explain=lambda reply: reply.reason) as rest:
        with pytest.raises(ProviderUnavailable, match=r"500 for GET /vms: VM is locked \(clone\)"):
            await rest.call("GET", "/vms")


async def test_a_secret_that_is_learned_later_is_hidden_too() -> None:
    async with serving(answering(400, {"message": "ticket-canary is not good"})) as rest:
        rest.hide("ticket-canary")
        with pytest.raises(MachineRejected) as raised:
            await rest.call("GET", "/vms")
    assert "canary" not in str(raised.value)
