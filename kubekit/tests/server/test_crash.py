"""A server that is killed at any moment loses nothing it has acknowledged, nor does one that runs out of files."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from testbed.running.embedded import ServerProcess, start_server, stop_server
from tests.http_api import Api, admin_context

KILLS = 50
WRITERS = 8
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


@dataclass
class Ledger:
    """What the server acknowledged: each object's count, None once it is deleted; and what was under way."""

    known: dict[str, int | None] = field(default_factory=dict)
    under_way: dict[str, int | None] = field(default_factory=dict)
    newest: int = 0
    acknowledged: int = 0

    def acknowledge(self, name: str, answer: Any) -> None:
        self.known[name] = self.under_way.pop(name)
        self.newest = max(self.newest, int(answer.get("metadata", {}).get("resourceVersion", 0)))
        self.acknowledged += 1


def configmap(name: str, count: int) -> dict[str, Any]:
    # The same number at both ends of a body of several pages: a torn object would show two.
    filler = {f"filler{index}": "x" * 500 for index in range(12)}
    data = {"a-count": str(count), **filler, "z-count": str(count)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def write(api: Api, ledger: Ledger, writer: int, chance: random.Random) -> None:
    """Create, change and delete objects of one's own until the server is gone."""
    while True:
        name = f"w{writer}-{chance.randrange(20)}"
        count = ledger.known.get(name)
        if count is not None and chance.random() < 0.1:
            ledger.under_way[name] = None
            answer = await api("DELETE", f"{CONFIGMAPS}/{name}")
        elif count is not None:
            ledger.under_way[name] = count + 1
            answer = await api("PUT", f"{CONFIGMAPS}/{name}", configmap(name, count + 1))
        else:
            ledger.under_way[name] = 1
            answer = await api("POST", CONFIGMAPS, configmap(name, 1))
        assert answer.status in (200, 201), answer.body
        ledger.acknowledge(name, answer.body)


@asynccontextmanager
async def connected(server: ServerProcess) -> AsyncIterator[Api]:
    config = yaml.safe_load(server.kubeconfig.read_text())
    connector = aiohttp.TCPConnector(ssl=admin_context(config), limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Api(session, config["clusters"][0]["cluster"]["server"])


async def check(api: Api, ledger: Ledger) -> None:
    """Everything is as acknowledged; what was under way happened wholly or not at all; revisions have not gone back."""
    answer = await api("GET", CONFIGMAPS)
    assert answer.status == 200
    assert int(answer.body["metadata"]["resourceVersion"]) >= ledger.newest
    found: dict[str, int | None] = {}
    for item in answer.body["items"]:
        name, data = item["metadata"]["name"], item["data"]
        if name != "kube-root-ca.crt":
            assert data["a-count"] == data["z-count"], name
            assert len(data) == 14, name
            found[name] = int(data["a-count"])
    for name in ledger.known | ledger.under_way:
        allowed = {ledger.known.get(name)} | ({ledger.under_way[name]} if name in ledger.under_way else set())
        assert found.get(name) in allowed, name
        ledger.known[name] = found.get(name)
    ledger.under_way.clear()


async def test_a_server_without_file_descriptors_serves_those_it_knows_and_recovers(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data")
    async with connected(server) as api:
        assert (await api("GET", CONFIGMAPS)).status == 200
        port = int(api.url.rpartition(":")[2])
        open_files = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (open_files + 5, open_files + 5))
        with ExitStack() as others:
            for _ in range(12):
                others.enter_context(socket.create_connection(("127.0.0.1", port)))
            assert (await api("POST", CONFIGMAPS, configmap("meanwhile", 1))).status == 201
    async with connected(server) as api:
        assert (await api("GET", f"{CONFIGMAPS}/meanwhile")).status == 200
    server.process.terminate()
    assert server.process.stderr is not None
    said = server.process.stderr.readlines()
    server.process.stderr.close()
    assert server.process.wait(20) == 0
    assert len(said) < 1000


@pytest.mark.timeout(400)
async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    chance, ledger = random.Random(20261115), Ledger()
    for _ in range(KILLS):
        server = start_server(tmp_path / "data")
        async with connected(server) as api:
            await check(api, ledger)
            writers = [asyncio.create_task(write(api, ledger, index, chance)) for index in range(WRITERS)]
            await asyncio.sleep(chance.uniform(0.02, 0.3))
            server.process.send_signal(signal.SIGKILL)
            ended = await asyncio.gather(*writers, return_exceptions=True)
            assert all(isinstance(end, (aiohttp.ClientError, ConnectionError)) for end in ended), ended
        server.process.wait()
        assert server.process.stderr is not None
        server.process.stderr.close()
    server = start_server(tmp_path / "data")
    async with connected(server) as api:
        await check(api, ledger)
    stop_server(server)
    assert ledger.acknowledged > KILLS
