"""ImageSyncs: an image where machines find it, once, however many ask. The numbers are those of the contract."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from butler.api.config import ButlerConfig
from butler.api.machine import ImagePhase, ImageSync
from kubekit.errors import Invalid
from tests.controllers.requests_world import SYSTEM, World

SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


async def factory(world: World) -> None:
    spec = {"imageFactory": {"url": "https://factory.example.com/"}}
    await world.client.create({"metadata": {"name": "butler"}, "spec": spec}, ButlerConfig.address)


async def ask(world: World, name: str = "talos", **spec: Any) -> None:
    wanted = {
        "factoryRef": {"schematicID": SCHEMATIC, "version": "v1.9.0"}, "providerConfigRef": {"name": "lab"}, **spec,
    }  # fmt: skip
    await world.client.create({"metadata": {"name": name, "namespace": SYSTEM}, "spec": wanted}, ImageSync.address)


def images(world: World) -> list[tuple[str, str]]:
    return [(item.name, item.content) for item in world.datacentre.shelf.of_account(f"{SYSTEM}/lab")]


async def test_an_image_is_fetched_from_the_factory(world: World) -> None:
    """Rule 19."""
    await factory(world)
    await world.config(simulated={"bootDelay": "20s"})
    await ask(world)
    await asyncio.sleep(5)
    assert (await world.now(ImageSync, "talos")).status.phase is ImagePhase.DOWNLOADING
    await asyncio.sleep(40)
    status = (await world.now(ImageSync, "talos")).status
    assert (status.phase, status.provider_image_ref) == (ImagePhase.READY, "simulated://image/1")
    url = f"https://factory.example.com/image/{SCHEMATIC}/v1.9.0/nocloud-amd64.qcow2"
    assert (status.artifact_url, images(world)) == (url, [("nocloud-v1-9-0-amd64-37656798-butler", url)])
    assert await world.events("talos") == ["ImageDownloading", "ImageReady"]
    writes = world.writes
    await asyncio.sleep(3600)
    assert world.writes == writes


async def test_an_image_goes_with_the_last_who_asked_for_it(world: World) -> None:
    """Rule 20."""
    await factory(world)
    await world.config(simulated={"bootDelay": "0s", "removalDelay": "5s"})
    await ask(world, "one")
    await ask(world, "two")
    await asyncio.sleep(20)
    assert len(images(world)) == 1
    await world.remove(ImageSync, "one")
    await asyncio.sleep(30)
    assert (await world.exists(ImageSync, "one"), len(images(world))) == (False, 1)
    await world.remove(ImageSync, "two")
    await asyncio.sleep(30)
    assert (await world.exists(ImageSync, "two"), images(world)) == (False, [])


async def test_without_a_factory_it_fails_and_heals_when_there_is_one(world: World) -> None:
    """Rule 13."""
    await world.config(simulated={"bootDelay": "0s"})
    await ask(world)
    await asyncio.sleep(5)
    status = (await world.now(ImageSync, "talos")).status
    assert (status.phase, status.failure_reason) == (ImagePhase.FAILED, "ImageFactoryNotConfigured")
    progress = status.condition("Progressing")
    assert progress is not None
    assert (progress.status, progress.reason) == ("False", "ImageSyncFailed")
    await factory(world)
    await asyncio.sleep(20)
    assert (await world.now(ImageSync, "talos")).status.phase is ImagePhase.READY


async def test_what_nobody_can_carry_is_refused(world: World) -> None:
    await factory(world)
    await world.config()
    await ask(world, transferMode="proxy")
    await asyncio.sleep(5)
    assert (await world.now(ImageSync, "talos")).status.failure_reason == "UnsupportedTransferMode"


async def test_an_image_that_was_asked_for_is_not_exchanged_for_another(world: World) -> None:
    """The first one would stay behind."""
    await factory(world)
    await world.config(simulated={"bootDelay": "0s"})
    await ask(world)
    await asyncio.sleep(20)
    with pytest.raises(Invalid, match="an image that was asked for cannot be changed"):
        await world.client.patch(ImageSync, "talos", {"spec": {"factoryRef": {"version": "v1.9.1"}}}, SYSTEM)
