"""An API, real Helm, and an installer that uses it."""

from __future__ import annotations

import pytest

from tests.addons.helm.site import Site
from tests.engines.helm.conftest import SETUPS, setup, workloads, world
from tests.engines.helm.world import World

__all__ = ["setup", "workloads", "world"]

EVERYWHERE = {"test_installation", "test_others"}
"""Whose tests are also for Helm 4 and for a real API server."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "setup" in metafunc.fixturenames and metafunc.module.__name__.rpartition(".")[2] in EVERYWHERE:
        metafunc.parametrize("setup", SETUPS, ids="-".join)


@pytest.fixture
def site(world: World) -> Site:
    return Site(world)
