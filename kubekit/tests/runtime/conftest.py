"""The tests of the runtime that use an API, once more on a real one."""

from __future__ import annotations

import asyncio

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
from testbed.running.servers import Cluster
from tests.runtime import controller_world, leaping
from tests.runtime.world import NAMESPACE, PART, Paint, Part, Widget

WITH_AN_API = {"test_controller", "test_controller_errors", "test_events", "test_leader", "test_manager"}
"""Files whose tests each have a world with an API."""
ALSO = {
    "test_an_unexpected_error_is_logged_once_with_its_trace",
    "test_informers_are_shared_and_follow_the_api",
    "test_logs_name_the_object_and_never_what_is_in_it",
}
"""Tests that make such a world themselves."""
ONLY_IN_MEMORY = {
    "test_a_cancelled_manager_leaves_nothing_running": "counts tasks and watches of a server in the same process",
    "test_a_watch_that_says_nothing_any_more_is_noticed": "bookmarks come by the server's clock, which does not leap",
    "test_the_endpoints_answer": "counts requests, and has an event loop of its own",
}
_DEFINITION = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name, wrapper = metafunc.function.__name__, metafunc.function.__qualname__
    in_a_world = metafunc.module.__name__.rpartition(".")[2] in WITH_AN_API and wrapper.startswith("in_a_world.")
    if name in ONLY_IN_MEMORY or not (in_a_world or name in ALSO):
        return
    real = pytest.param("real", marks=(pytest.mark.real, pytest.mark.timeout(180)))
    metafunc.parametrize("api", ["memory", real], indirect=True)


@pytest.fixture(autouse=True)
def api(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which API the test's world has: one in memory, or a real one, on which time leaps."""
    if getattr(request, "param", "memory") == "memory":
        return
    config = request.getfixturevalue("with_our_kinds")
    asyncio.run(_clean(config))
    traffic = leaping.Traffic()
    monkeypatch.setattr(aiohttp.ClientSession, "_request", traffic.counted(aiohttp.ClientSession._request))
    monkeypatch.setattr(deterministic_loop, "run", leaping.runner(traffic))
    for module in (request.module, controller_world):
        if hasattr(module, "MemorySpace"):
            monkeypatch.setattr(module, "MemorySpace", leaping.space_on(config))


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
