"""What the tests of Google Cloud have in common."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from butler.providers.contract import Machine, MachineOrder, Provider
from butler.providers.testing.driver import driving
from butler.providers.testing.web import serving
from tests.providers.gcp.fake import Google
from tests.providers.gcp.fake_issuer import key_file
from tests.providers.gcp.harness import GcpHarness


@asynccontextmanager
async def google_cloud(**section: Any) -> AsyncIterator[GcpHarness]:
    """A project of one's own; `section` is what the ProviderConfig says besides."""
    google = Google()
    async with serving(google.app()) as url:
        yield GcpHarness(google, url, **section)


@asynccontextmanager
async def connected(world: GcpHarness, **section: Any) -> AsyncIterator[Provider]:
    provider = world.connected(key_file(world.url), **section)
    try:
        yield provider
    finally:
        await provider.close()


async def brought_up(world: GcpHarness, order: MachineOrder) -> Machine:
    async with driving(world) as driver:
        return await driver.bring_up(order)


def zones(world: GcpHarness) -> list[str]:
    """Where there are machines."""
    return [one.path.split("/")[3] for one in world.google.existing("instances")]


def asked(world: GcpHarness, verb: str, collection: str) -> list[tuple[str, str, dict[str, Any], Any]]:
    """The calls of a kind that were made."""
    return [one for one in world.google.requests if one[0] == verb and one[1].endswith(collection)]
