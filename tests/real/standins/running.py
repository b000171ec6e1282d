"""The same life with the real Cluster API and with its stand-ins."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from butler.errors import NotFound
from butler.kube import kubeconfig
from butler.kube.config import Config
from butler.kube.http import HttpClient
from butler.local.delays import NONE, Delays
from butler.local.standins.capi import add_cluster_api
from butler.runtime.manager import Manager, Settings
from tests.local.standins import capi_world
from tests.real.standins.hands import Hands
from tests.real.standins.life import LIFE
from tests.real.standins.objects import NAMESPACE, NAMESPACES
from tests.real.standins.recording import Record, Recorder, quiet

_SILENCE = 2.2
"""Cluster API looks at an object at most once a second, and one change takes a few such looks."""
_PATIENCE = 60.0
QUICK = replace(NONE, drain=0.01)
"""Everything takes so little time that nobody waits, but some: so nothing is held back."""


async def _lived(hands: Hands, silence: float) -> Record:
    """The whole life, recorded."""
    recorder = Recorder()
    async with recorder.watching(hands.management, hands.tenant):
        for stage in LIFE:
            recorder.stage = stage.name
            await stage.act(hands)
            try:
                await quiet(recorder, stage.reached, silence, _PATIENCE + 2 * silence)
            except TimeoutError as error:
                raise TimeoutError(f"stage {stage.name!r} was not reached") from error
            recorder.note_stage()
    return recorder.record


def with_managers(management: Path, tenant: Path) -> Record:
    """A life with the programs that run on an API server, the tenant being another one."""
    return asyncio.run(_managed(_config(management), _config(tenant), tenant.read_text()))


async def _managed(management: Config, tenant: Config, kubeconfig_of_tenant: str) -> Record:
    async with HttpClient(management) as root, HttpClient(tenant) as inside:
        await root.create({"metadata": {"name": NAMESPACE}}, NAMESPACES)
        try:
            return await _lived(Hands(root, inside, kubeconfig_of_tenant), _SILENCE)
        finally:
            with suppress(NotFound):
                await root.delete(NAMESPACES, NAMESPACE)


def _config(path: Path) -> Config:
    return kubeconfig.parse(path.read_bytes(), path).config()


def with_standins(directory: Path, delays: Delays, silence: float = 5.0, seed: int = 1) -> Record:
    """A life with our stand-ins, in virtual time. Each stage ends after so many seconds in which nothing happens."""
    found: list[Record] = []

    async def scenario(world: capi_world.World) -> None:
        clock, chance = world.loop.clock, world.loop.chance
        manager = Manager(world.client, Settings("standins"), clock=clock, chance=chance)
        add_cluster_api(manager, lambda _: world.tenant, delays, clock=clock, chance=chance)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(manager.run())
            found.append(await _lived(Hands(world.client, world.tenant, "kubeconfig"), silence))
            running.cancel()

    capi_world.play(scenario, directory, delays=delays, seed=seed)
    return found[0]
