"""Who uses an API that was removed is told so; nobody else learns that there ever was one."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import yaml

from kubekit.server.serve.server import Server
from kubekit.server.spaces import tombstones
from tests.http_api import Api, admin_context

WORDS = "cluster demo was destroyed"


def context_of(server: Server, name: str) -> ssl.SSLContext:
    """What its administrator shows."""
    return admin_context(yaml.safe_load(server.admin_kubeconfig(name)))


@asynccontextmanager
async def api(server: Server, name: str, shown: ssl.SSLContext) -> AsyncIterator[Api]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=shown)) as session:
        yield Api(session, f"{server.url}/clusters/{name}")


async def test_its_users_are_told_also_after_a_restart(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        await server.add_space("demo")
        shown = context_of(server, "demo")
        await server.remove_space("demo", WORDS)
        async with api(server, "demo", shown) as tenant:
            told = await tenant("GET", "/api/v1/nodes")
            assert (told.status, told.body["reason"], told.body["message"]) == (410, "Gone", WORDS)
            for path in ("/api", "/apis", "/version"):
                async with tenant.session.get(f"{tenant.url}{path}") as said:
                    assert (said.status, said.content_type, await said.text()) == (403, "text/plain", WORDS)
    async with Server(tmp_path, port=server.port) as again, api(again, "demo", shown) as tenant:
        assert (await tenant("GET", "/api/v1/nodes")).body["message"] == WORDS


async def test_nobody_else_can_tell_it_from_one_that_never_was(server: Server) -> None:
    for name in ("demo", "other"):
        await server.add_space(name)
    other = context_of(server, "other")
    stranger = ssl.create_default_context(cadata=server.pki.server_authority.decode())
    await server.remove_space("demo", WORDS)
    for shown in (other, stranger):
        answers = []
        for name in ("demo", "never"):
            async with api(server, name, shown) as asked:
                told = [await asked("GET", path) for path in ("/api", "/version", "/api/v1/nodes")]
                answers.append([(one.status, one.body) for one in told])
        assert answers[0] == answers[1]
        assert WORDS not in str(answers)


async def test_one_that_is_made_anew_is_not_taken_for_the_one_that_was_removed(server: Server) -> None:
    await server.add_space("demo")
    old = context_of(server, "demo")
    await server.remove_space("demo", WORDS)
    await server.add_space("demo")
    for shown, status in ((old, 401), (context_of(server, "demo"), 200)):
        async with api(server, "demo", shown) as tenant:
            assert (await tenant("GET", "/api/v1/namespaces/default")).status == status


async def test_of_many_the_last_ones_are_remembered(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tombstones, "_MOST", 2)
    users = {}
    for name in ("a", "b", "c"):
        await server.add_space(name)
        users[name] = context_of(server, name)
        await server.remove_space(name, WORDS)
    for name, status in (("a", 401), ("b", 410), ("c", 410)):
        async with api(server, name, users[name]) as tenant:
            assert (await tenant("GET", "/api/v1/nodes")).status == status
