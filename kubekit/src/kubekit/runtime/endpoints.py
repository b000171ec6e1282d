"""`/healthz`, `/readyz` and `/metrics` of a manager."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp import web

from .metrics import Metrics


class Observed(Protocol):
    """What can be asked of a manager, or of several that run together."""

    @property
    def metrics(self) -> Metrics: ...

    def alive(self) -> dict[str, str]: ...

    def ready(self) -> dict[str, str]: ...


@asynccontextmanager
async def serving(manager: Observed, host: str, port: int) -> AsyncIterator[int]:
    """Answer on a port for as long as the context lasts; yields the port, which 0 leaves to the system."""
    app = web.Application()
    app.add_routes(
        [
            web.get("/healthz", _checks(manager.alive)),
            web.get("/readyz", _checks(manager.ready)),
            web.get("/metrics", _metrics(manager)),
        ]
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _checks(check: Callable[[], dict[str, str]]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        results = check()
        failed = any(results.values())
        if not failed and "verbose" not in request.query:
            return web.Response(text="ok")
        lines = [f"[-]{name} failed: {problem}" if problem else f"[+]{name} ok" for name, problem in results.items()]
        text = "\n".join((*lines, "check failed" if failed else "check passed", ""))
        return web.Response(status=500 if failed else 200, text=text)

    return answer


def _metrics(manager: Observed) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(
            body=manager.metrics.text().encode(),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )

    return answer
