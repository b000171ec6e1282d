"""The same life with the real Cluster API and with its stand-ins."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from butler.simulation.capi import add_cluster_api
from butler.simulation.delays import NONE, Delays
from kubekit.client import kubeconfig
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.testing import deterministic_loop
from kubekit.testing.deterministic_loop import Loop
from tests.real.standins.hands import Hands
from tests.real.standins.life import LIVES
from tests.real.standins.recording import Record, Recorder, quiet
from tests.simulation import capi_world
from tests.simulation.tenant_kubeconfig import KUBECONFIG

_SILENCE = 2.2
"""Cluster API looks at an object at most once a second, and one change takes a few such looks."""
_PATIENCE = 60.0
QUICK = replace(NONE, drain=0.01)
"""Everything takes so little time that nobody waits, but some: so nothing is held back."""


async def _lived(life: str, hands: Hands, silence: float) -> Record:
    """A whole life, recorded."""
    recorder = Recorder(hands.namespace)
    async with recorder.watching(hands.management, hands.tenant):
        for stage in LIVES[life]:
            recorder.stage = f"{life}: {stage.name}"
            await stage.act(hands)
            try:
                await quiet(recorder, stage.reached, silence, _PATIENCE + 2 * silence)
            except TimeoutError as error:
                raise TimeoutError(f"stage {recorder.stage!r} was not reached") from error
            recorder.note_stage()
    return recorder.record


def with_managers(management: Path, tenants: Mapping[str, Path]) -> Record:
    """All lives at the same time with the programs that run on an API server, each with a tenant's API of its own."""

    async def live(life: str) -> Record:
        async with HttpClient(_config(management)) as root, HttpClient(_config(tenants[life])) as inside:
            return await _lived(life, Hands(f"shop-{life}", root, inside, opening[life]), _SILENCE)

    async def live_all() -> list[Record]:
        async with asyncio.TaskGroup() as group:
            lives = [group.create_task(live(life)) for life in LIVES]
        return [one.result() for one in lives]

    opening = {life: path.read_text() for life, path in tenants.items()}
    return _merged(asyncio.run(live_all()))


def _config(path: Path) -> Config:
    return kubeconfig.parse(path.read_bytes(), path).config()


def _merged(records: Iterable[Record]) -> Record:
    whole = Record()
    for one in records:
        whole.add(one)
    return whole


def with_standins(directory: Path, delays: Delays, silence: float = 5.0, seed: int = 1) -> Record:
    """All lives with our stand-ins, in virtual time. A stage ends after so many seconds in which nothing happens."""

    async def live(life: str, loop: Loop) -> Record:
        clock, chance = loop.clock, loop.chance
        async with capi_world.opened(loop, directory / life, delays) as world, asyncio.TaskGroup() as group:
            manager = Manager(world.client, ManagerSettings("standins"), clock=clock, chance=chance)
            add_cluster_api(manager, lambda _: world.tenant, delays, clock=clock, chance=chance)
            running = group.create_task(manager.run())
            hands = Hands(f"shop-{life}", world.client, world.tenant, KUBECONFIG.decode())
            record = await _lived(life, hands, silence)
            running.cancel()
        return record

    return _merged(deterministic_loop.run(partial(live, life), seed) for life in LIVES)
