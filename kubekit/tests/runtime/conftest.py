"""The tests of the runtime that use an API, once more on a real one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from kubekit.client import kubeconfig
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Selection
from kubekit.errors import AlreadyExists, NotFound
from kubekit.model.crd import definition
from kubekit.model.resource import Address
from kubekit.runtime.events import EVENT
from kubekit.runtime.leader import LEASE
from kubekit.testing import deterministic_loop
from kubekit.testing.deterministic_loop import Loop
from testbed.running.servers import Cluster
from tests.runtime import leaping
from tests.runtime.controller_world import World
from tests.runtime.world import NAMESPACE, PART, Paint, Part, Widget, WidgetSpace

ONLY_IN_MEMORY = {
    "test_a_cancelled_manager_leaves_nothing_running": "counts tasks and watches of a server in the same process",
    "test_a_watch_that_says_nothing_any_more_is_noticed": "bookmarks come by the server's clock, which does not leap",
}
_DEFINITION = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whoever has a space of the fixture's making has it on both servers."""
    if "space" in metafunc.fixturenames and metafunc.function.__name__ not in ONLY_IN_MEMORY:
        real = pytest.param("real", marks=(pytest.mark.real, pytest.mark.timeout(180)))
        metafunc.parametrize("real_api", ["memory", real], indirect=True)


@pytest.fixture
def real_api(request: pytest.FixtureRequest) -> Config | None:
    """The way to a real API, with nothing left of the test before; None for one in memory."""
    if getattr(request, "param", "memory") == "memory":
        return None
    config: Config = request.getfixturevalue("with_our_kinds")
    asyncio.run(_clean(config))
    return config


@pytest.fixture
def kubekit_loop(kubekit_seed: int, real_api: Config | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A deterministic loop, or one for a real API, on which time leaps."""
    if real_api is None:
        with deterministic_loop.opened(kubekit_seed) as loop:
            yield loop
        return
    traffic = leaping.Traffic()
    monkeypatch.setattr(aiohttp.ClientSession, "_request", traffic.counted(aiohttp.ClientSession._request))
    with leaping.opened(kubekit_seed, traffic) as leaping_loop:
        yield leaping_loop


@pytest.fixture
async def space(kubekit_loop: Any, real_api: Config | None) -> WidgetSpace | leaping.RealSpace:
    if real_api is None:
        return WidgetSpace(kubekit_loop.clock, kubekit_loop.chance)
    return leaping.RealSpace(real_api, kubekit_loop)


@pytest.fixture
async def world(kubekit_loop: Loop, space: WidgetSpace) -> World:
    """A scripted controller; who needs another world makes it in place of this one."""
    return World(kubekit_loop, space)


@pytest.fixture(scope="session")
def with_our_kinds(real_server: Cluster) -> Config:
    """The way to a real API that knows widgets, their parts and paints."""
    config = kubeconfig.load(real_server.kubeconfig)
    asyncio.run(_teach(config))
    return config


async def _teach(config: Config) -> None:
    async with HttpClient(config) as client:
        for kind in (Widget, Paint, Part):
            try:
                await client.create(definition(kind), _DEFINITION)
            except AlreadyExists:
                continue
        while True:
            try:
                await asyncio.gather(*(client.list(kind) for kind in (Widget, Paint, PART)))
                return
            except NotFound:
                await asyncio.sleep(0.05)


async def _clean(config: Config) -> None:
    """Nothing is left of the test before."""
    async with HttpClient(config) as client:
        for kind in (Widget.address, Paint.address, PART, LEASE, EVENT):
            for one in (await client.list(kind, Selection(NAMESPACE))).items:
                name = one["metadata"]["name"]
                if one["metadata"].get("finalizers"):
                    await client.patch(kind, name, {"metadata": {"finalizers": None}}, NAMESPACE)
                try:
                    await client.delete(kind, name, NAMESPACE)
                except NotFound:
                    continue
