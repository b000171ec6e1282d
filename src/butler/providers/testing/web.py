"""For fake infrastructures that are web servers on loopback: an address, and faults."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Middleware

from .faults import RETRY_AFTER, Fault, Faults

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Answer = Callable[[Fault], web.Response]

_TOO_LONG = 60.0
"""Seconds: longer than the patience of any provider."""


def plain(fault: Fault) -> web.Response:
    """429 and 500 as they are most often; an API with a format of its own gets a function of its own."""
    if fault is Fault.LIMITED:
        return web.json_response({"message": "too many requests"}, status=429, headers={"Retry-After": _seconds()})
    return web.json_response({"message": "something broke"}, status=500)


def troubling(faults: Faults, answer: Answer = plain) -> Middleware:
    """A middleware that lets faults befall requests."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        fault = faults.next(f"{request.method} {request.path}")
        if fault is Fault.BEFORE:
            return _cut(request)
        if fault in (Fault.LIMITED, Fault.BROKEN):
            return answer(fault)
        reply = await handler(request)
        if fault is Fault.AFTER:
            return _cut(request)
        if fault is Fault.SILENT:
            await _silence()
        return reply

    return middleware


@asynccontextmanager
async def serving(app: web.Application, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The address on loopback at which a fake answers; with a context, by TLS."""
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        host, port = runner.addresses[0][:2]
        yield f"{'http' if context is None else 'https'}://{host}:{port}"
    finally:
        await runner.cleanup()


async def _silence() -> None:
    """Until the client has waited too long and gone, which ends the request. It takes no time: the clock of the event
    loop jumps."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + _TOO_LONG  # type: ignore[method-assign]
    await loop.create_future()


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)


def _seconds() -> str:
    return f"{RETRY_AFTER:g}"
