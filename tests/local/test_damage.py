"""Damaged data of a platform: a start that is refused leaves it as it was."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from butler.local.home import Home, Remembered
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from kubekit.errors import StorageError
from tests.local.shells import Shell
from tests.local.worlds import create, runs, until


def records(data: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in data.glob("datacentre*")}


@pytest.mark.parametrize("name", ["datacentre.db", "datacentre.db-wal"])
async def test_a_damaged_data_centre_stays_as_it_is(tmp_path: Path, name: str) -> None:
    place, killed = Home(tmp_path / "data"), Home(tmp_path / "killed")
    async with running(place, Options(delays=NONE)) as platform:
        await create(platform.client)
        await until(platform.client, runs("v1.31.4", 2))
        shutil.copytree(place.data, killed.data)
    refusals = 0
    for seed in range(6):
        whole = killed if name.endswith("-wal") else place
        data = Path(shutil.copytree(whole.data, tmp_path / str(seed)))
        path, chance = data / name, random.Random(seed)
        content = bytearray(path.read_bytes())
        for at in range(chance.randrange(40), len(content), 211):
            content[at] ^= 0x5A
        path.write_bytes(content)
        before = records(data)
        try:
            async with running(Home(data), Options(delays=NONE)):
                pass
        except StorageError:
            refusals += 1
            assert records(data) == before
    assert refusals or name.endswith("-wal")


def test_a_lost_database_is_not_taken_for_a_new_platform(shell: Shell) -> None:
    place = Home(shell.data)
    shell.up("--empty")
    shell.stop()
    place.remember(Remembered(port=place.remembered().port, first_cluster="made"))
    (shell.data / "state.db").unlink()
    ran = shell.butleradm("up")
    assert ran.code == 1
    assert "state.db: is missing" in ran.err
    assert place.remembered().first_cluster == "made"
