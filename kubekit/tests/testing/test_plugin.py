"""The pytest plug-in: which tests it runs, and that it leaves the others alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OURS = """
import asyncio, time
import pytest
from kubekit.clock import SeededChance

@pytest.fixture
async def patient(api):
    await api.advance(60)
    yield asyncio.get_running_loop()
    await api.advance(60)
    print("let go at", api.clock.monotonic())

@pytest.fixture
async def unaware():
    await asyncio.sleep(3600)
    return asyncio.get_running_loop()

async def test_time_is_virtual(api):
    began = time.monotonic()
    await asyncio.sleep(86400)
    assert time.monotonic() - began < 5

async def test_fixtures_share_the_loop(patient, unaware):
    assert patient is unaware is asyncio.get_running_loop()

class TestMethods:
    async def test_a_method(self, kubekit_loop):
        assert asyncio.get_running_loop() is kubekit_loop

@pytest.mark.parametrize("kubekit_seed", [1, 2])
async def test_seeds(kubekit_seed, kubekit_loop):
    assert kubekit_loop.chance.bytes(8) == SeededChance(kubekit_seed).bytes(8)
"""
OTHERS = """
import asyncio
import pytest

@pytest.fixture
async def api():
    await asyncio.sleep(0)
    yield asyncio.get_running_loop()

async def test_theirs(api):
    assert type(api) is type(asyncio.get_running_loop())
    assert "kubekit" not in type(api).__module__

async def test_without_fixtures():
    assert "kubekit" not in type(asyncio.get_running_loop()).__module__

def test_without_a_loop(tmp_path):
    assert tmp_path
"""


def pytest_run(folder: Path, text: str, *options: str) -> str:
    """What pytest says of a file, with our plug-in as if it had been installed."""
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-W", "error", "-p", "kubekit.testing.plugin", *options]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


AUTO = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
STRICT = ("-o", "asyncio_mode=strict", "-o", "asyncio_default_fixture_loop_scope=function")
ALONE = ("-p", "no:asyncio")


@pytest.mark.parametrize("options", [AUTO, STRICT, ALONE], ids=["auto", "strict", "alone"])
def test_our_tests_run_whatever_else_is_installed(tmp_path: Path, options: tuple[str, ...]) -> None:
    said = pytest_run(tmp_path, OURS, *options)
    assert "5 passed" in said, said
    assert "let go at 3720" in said


def test_tests_of_others_stay_theirs(tmp_path: Path) -> None:
    assert "3 passed" in pytest_run(tmp_path, OTHERS, *AUTO)


def test_it_can_be_loaded_twice(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["kubekit.testing.plugin"]\n')
    assert "3 passed" in pytest_run(tmp_path, OTHERS, *AUTO)


def test_a_failure_shows_the_test_and_not_the_plug_in(tmp_path: Path) -> None:
    said = pytest_run(tmp_path, "async def test_it(api):\n    await api.advance(1)\n    assert 1 == 2\n", *AUTO)
    assert "1 failed" in said
    assert ">       assert 1 == 2" in said
    assert "plugin.py" not in said


def test_what_waits_for_ever_fails_at_once(tmp_path: Path) -> None:
    said = pytest_run(
        tmp_path, "import asyncio\nasync def test_it(kubekit_loop): await asyncio.Event().wait()\n", *AUTO
    )
    assert "1 failed" in said
    assert "NothingLeft: at 0.000s: " in said


def test_a_task_that_fails_unnoticed_is_told(tmp_path: Path) -> None:
    text = """
import asyncio
async def fail():
    raise KeyError("lost")
async def test_it(kubekit_loop):
    asyncio.ensure_future(fail())
    await asyncio.sleep(1)
"""
    said = pytest_run(tmp_path, text, *AUTO)
    assert "nobody waited for: Task exception was never retrieved" in said, said
