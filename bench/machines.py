"""Many MachineRequests on one account: how long, how many calls, and how many of them at the same time."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.table import Table
from butler.api import KINDS
from butler.api.machine import MachinePhase, MachineRequest
from butler.api.provider import ProviderConfig
from butler.controllers.accounts import Accounts
from butler.controllers.machine import add_machines
from butler.local import system
from butler.local.installation import install_definitions
from butler.providers.contract import Surroundings
from butler.providers.simulated.datacentre import DataCentre
from butler.providers.simulated.traffic import Traffic
from kubekit.client.protocol import Client
from kubekit.clock import SystemChance, SystemClock
from kubekit.runtime.manager import Manager
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server

COUNT = 500
_CALL, _BOOT = "20ms", "5s"
_LONGEST = 600.0


async def all_of(table: Table, scale: float, _peer: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="butler-bench-") as data, closing(DataCentre()) as datacentre:
        async with Server(Path(data)) as server:
            client = DirectClient(server.root)
            await install_definitions(client, KINDS)
            await system.install(client, simulated=True)
            change = {"spec": {"simulated": {"callDelay": _CALL, "bootDelay": _BOOT, "removalDelay": "1s"}}}
            await client.patch(ProviderConfig, system.SIMULATED, change, "butler-system")
            manager = Manager(client)
            around = Surroundings(SystemClock(), SystemChance(), datacentre)
            add_machines(manager, Accounts(manager, around))
            async with asyncio.timeout(_LONGEST), asyncio.TaskGroup() as group:
                group.create_task(manager.run())
                await _lives(client, datacentre.traffic, table, int(COUNT * scale))
                manager.stop()


async def _lives(client: Client, traffic: Traffic, table: Table, count: int) -> None:
    started = time.perf_counter()
    for number in range(count):
        await client.create(_request(f"m-{number}"), MachineRequest.address)
    while await _running(client) < count:  # noqa: ASYNC110 -- as someone who looks on
        await asyncio.sleep(0.2)
    column = "simulated"
    table.add(f"{count} machines Running", column, time.perf_counter() - started, "s", more_is_better=False)
    table.add("calls per machine until Running", column, traffic.calls / count, more_is_better=False)
    table.add("most calls at the same time", column, traffic.most, more_is_better=False)
    traffic.count_anew()
    started = time.perf_counter()
    for number in range(count):
        await client.delete(MachineRequest, f"m-{number}", "butler-system")
    while (await client.list(MachineRequest)).items:  # noqa: ASYNC110 -- the same
        await asyncio.sleep(0.2)
    table.add(f"{count} machines gone", column, time.perf_counter() - started, "s", more_is_better=False)
    table.add("calls per machine until gone", column, traffic.calls / count, more_is_better=False)


async def _running(client: Client) -> int:
    listed = (await client.list(MachineRequest)).items
    return sum(one.status.phase is MachinePhase.RUNNING for one in listed)


def _request(name: str) -> dict[str, Any]:
    spec = {
        "providerRef": {"name": system.SIMULATED}, "machineName": name, "role": "worker",
        "cpu": 2, "memoryMB": 4096, "diskGB": 20, "userData": "#cloud-config\n",
    }  # fmt: skip
    return {"metadata": {"name": name, "namespace": "butler-system"}, "spec": spec}
