"""Whatever the umask is and however open the data directory was: what is in it is for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from kubekit.server.store import backup, private_files
from tests.server.attacks.damage import CONFIG_MAPS, config_map


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def opened(directory: Path) -> list[str]:
    """What others have a right to, or its owner has not."""
    return [
        f"{path.relative_to(directory)} {path.stat().st_mode & 0o7777:o}"
        for path in (directory, *directory.rglob("*"))
        if path.stat().st_mode & 0o7777 != (0o700 if path.is_dir() else 0o600)
    ]


@pytest.mark.parametrize("mask", [0, 0o022, 0o777])
async def test_a_new_directory_is_private(tmp_path: Path, mask: int) -> None:
    data = tmp_path / "data"
    with umask(mask):
        async with Server(data) as server:
            await DirectClient(server.root).create(config_map("one", "text"), CONFIG_MAPS)
            assert {"state.db", "state.db-wal", "state.db-shm", "kubeconfig", "lock"} <= {*os.listdir(data)}
            assert opened(data) == []
    assert opened(data) == []


async def test_a_directory_that_was_open_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    await _run(data)
    for path in (data, *data.rglob("*")):
        path.chmod(0o777)
    await _run(data)
    assert opened(data) == []


async def _run(data: Path) -> None:
    with umask(0):
        async with Server(data) as server:
            await DirectClient(server.root).list(CONFIG_MAPS)
            assert opened(data) == []


async def test_a_link_in_it_is_not_followed(tmp_path: Path) -> None:
    outside, data = tmp_path / "outside", tmp_path / "data"
    outside.write_text("of somebody else")
    outside.chmod(0o644)
    (data / "pki").mkdir(parents=True)
    (data / "pki" / "link").symlink_to(outside)
    private_files.close_to_others(data, "pki")
    assert outside.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("mask", [0, 0o022])
async def test_a_backup_and_what_is_made_of_it_are_private(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        await _run(tmp_path / "data")
        backup.make(tmp_path / "data", tmp_path / "backup", "2026-01-01T00:00:00Z")
        backup.restore(tmp_path / "backup", tmp_path / "restored")
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o600
    assert opened(tmp_path / "restored") == []


def test_a_directory_that_everybody_shares_stays_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    private_files.make_private(tmp_path)
    assert tmp_path.stat().st_mode & 0o7777 == 0o1777
