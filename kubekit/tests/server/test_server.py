"""The server as a whole: starting, stopping, staying well."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubekit.errors import DataInUse, ServiceUnavailable, StorageError
from kubekit.server.serve.server import Server
from kubekit.server.store.writer import GroupWriter
from tests.http_api import Api

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
AT_ONCE = 4.5
"""Seconds; whoever is waited for when a server stops has five."""


async def test_stopping_does_not_wait_for_idle_connections(server: Server, api: Api) -> None:
    assert (await api("GET", CONFIGMAPS)).status == 200
    async with asyncio.timeout(AT_ONCE):
        await server.stop()
    await server.start()


async def test_stopping_ends_watches_cleanly(server: Server, api: Api) -> None:
    async with api.session.get(f"{api.url}{CONFIGMAPS}?watch=true") as answer:
        await answer.content.readline()
        async with asyncio.timeout(AT_ONCE):
            await server.stop()
            assert await answer.content.read() == b""
    await server.start()


async def test_a_stopped_server_takes_no_writes(tmp_path: Path) -> None:
    async with Server(tmp_path / "data") as server:
        bucket = server.root.bucket(next(iter(server.root.kinds)))
    with pytest.raises(ServiceUnavailable):
        server.store.write(bucket, "x", 0, b"{}")  # type: ignore[arg-type]


async def test_two_servers_never_share_a_data_directory(server: Server) -> None:
    with pytest.raises(DataInUse, match="already in use"):
        await Server(server.data).start()


async def test_a_data_directory_that_cannot_be_made_is_told_from_a_port_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"file/data: Not a directory"):
        await Server(tmp_path / "file" / "data").start()


async def test_health_says_what_it_checks(api: Api) -> None:
    answer = await api("GET", "/readyz?verbose")
    assert answer.status == 200
    assert {b"[+]storage ok", b"[+]background ok"} <= set(answer.body.splitlines())


async def test_a_failed_disk_is_told_by_the_health_check_and_refuses_writes(server: Server, api: Api) -> None:
    assert isinstance(server.store._writer, GroupWriter)
    # Nothing is known of such an error, so it may not be taken for one that passes.
    server.store._writer._connection.execute("DROP VIEW writes")
    for said in ("could not be stored", "accepts no writes until restart"):
        refused = await api("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
        assert (refused.status, refused.body["reason"]) == (500, "InternalError")
        assert said in refused.body["message"]
    assert (await api("GET", "/readyz")).status == 500
    assert (await api("GET", CONFIGMAPS)).status == 200


async def test_events_are_forgotten_after_their_time(server: Server, api: Api) -> None:
    about = {"kind": "Pod", "namespace": "default", "name": "p"}
    event = {"metadata": {"name": "e"}, "involvedObject": about, "reason": "Test", "type": "Normal"}
    assert (await api("POST", "/api/v1/namespaces/default/events", event)).status == 201
    assert server.store.expired(int(server.root.now().timestamp())) == []
    assert len(server.store.expired(int(server.root.now().timestamp()) + 3601)) == 1
