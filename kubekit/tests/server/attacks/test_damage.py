"""Damaged data: a start that is refused leaves every byte as it was, and one that is not has everything."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from kubekit.errors import DataDamaged, StorageError
from kubekit.server.serve.server import Server
from tests.server.attacks.damage import DATABASE, KEYS, RECORDS, Damage, World, make, snapshot, texts_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return asyncio.run(make(tmp_path_factory.mktemp("world")))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("form", "file", "damage"), [*DATABASE, *RECORDS, *KEYS])
async def test_a_refused_start_changes_nothing(
    world: World, tmp_path: Path, form: str, file: str, damage: Damage, seed: int
) -> None:
    data = world.copy(form, tmp_path)
    damage(data / file, random.Random(f"{form} {file} {damage.__name__} {seed}"))
    before = snapshot(data)
    refusal = None
    try:
        async with Server(data) as server:
            assert await texts_of(server) == world.texts
    except StorageError as error:
        refusal = str(error)
    if refusal is not None:
        assert snapshot(data) == before
        assert str(data) in refusal
        assert "\n" not in refusal


@pytest.mark.parametrize("form", ["killed", "stopped"])
async def test_without_damage_everything_is_there(world: World, tmp_path: Path, form: str) -> None:
    async with Server(world.copy(form, tmp_path)) as server:
        assert await texts_of(server) == world.texts


async def test_lost_keys_are_reported_and_never_made_anew(world: World, tmp_path: Path) -> None:
    data = world.copy("killed", tmp_path)
    shutil.rmtree(data / "pki")
    before = snapshot(data)
    with pytest.raises(DataDamaged, match=r"pki: the keys are missing.*restore it from a backup"):
        await Server(data).start()
    assert snapshot(data) == before
    (data / "pki").mkdir()
    with pytest.raises(DataDamaged, match="the keys are missing"):
        await Server(data).start()


async def test_a_lost_database_is_reported_and_never_made_anew(world: World, tmp_path: Path) -> None:
    data = world.copy("killed", tmp_path)
    (data / "state.db").unlink()
    with pytest.raises(DataDamaged, match=r"state\.db: is missing, though revision"):
        await Server(data).start()
    (data / "state.revision").unlink()
    with pytest.raises(DataDamaged, match=r"state\.db: is missing, though its log"):
        await Server(data).start()
