"""The example of a provider outside the package: installed as others would, and held against the contract."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from butler.api.machine import MachinePhase, MachineRequest
from butler.api.provider import ProviderConfig
from butler.providers import registry
from butler.providers.testing.web import serving
from kubekit.clock import SystemChance, SystemClock
from testbed.running.embedded import PATIENCE
from tests.controllers.requests_world import World
from tests.providers.installing import EXAMPLE, install_example


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    return install_example(tmp_path)


def test_the_example_is_short() -> None:
    code = [line for path in (EXAMPLE / "src").rglob("*.py") for line in path.read_text().splitlines()]
    assert len(code) < 150


def test_the_example_keeps_the_contract(installed: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "tests"],
        cwd=EXAMPLE,
        env={**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    passed, skipped = (int(number) for number in re.findall(r"(\d+) (?:passed|skipped)", done.stdout))
    # It has no load balancers and takes no images, and everything else.
    assert (passed >= 100, skipped) == (True, 14)


def test_an_installed_provider_is_known_and_not_imported(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))
    assert "tinycloud" in registry.names()
    assert not registry.offers_clusters("tinycloud")
    assert "butler_tinycloud.provider" not in sys.modules


async def test_a_request_becomes_a_server_of_the_example(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way: Secret, ProviderConfig, MachineRequest, HTTP, and back."""
    monkeypatch.syspath_prepend(str(installed))
    monkeypatch.syspath_prepend(str(EXAMPLE / "tests"))
    fake = importlib.import_module("tinycloud_fake")
    cloud = fake.Tinycloud()
    cloud.now = 1000.0
    monkeypatch.setattr(fake, "BOOT", 0.0)
    monkeypatch.setattr(fake, "REMOVAL", 0.0)
    world = World(cast(Any, SimpleNamespace(clock=SystemClock(), chance=SystemChance())))
    async with serving(cloud.app()) as url, asyncio.timeout(100):
        world.start()
        await world.secret("tinycloud", apiKey=fake.KEY)
        settings = {"name": "tinycloud", "settings": {"endpoint": url}}
        await world.config(provider="external", credentialsRef={"name": "tinycloud"}, external=settings)
        await world.machine()
        while (await world.request()).status.phase is not MachinePhase.RUNNING:  # noqa: ASYNC110 -- nothing tells
            await asyncio.sleep(0.02)
        while not (config := await world.now(ProviderConfig, "lab")).status.ready:  # noqa: ASYNC110 -- the same
            await asyncio.sleep(0.02)
        assert (await world.request()).status.ip_addresses == ("10.7.0.1", "203.0.113.1")
        assert config.status.provider_version == "3.2"
        await world.remove(MachineRequest, "cp-0")
        while await world.exists(MachineRequest, "cp-0"):  # noqa: ASYNC110 -- the same
            await asyncio.sleep(0.02)
        assert cloud.existing() == []
        assert fake.KEY not in await world.everything_said()
        await world.end()
