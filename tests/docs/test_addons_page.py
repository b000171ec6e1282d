"""What the guide to addons has people write leads where it says."""

from __future__ import annotations

import asyncio
from typing import Any

import yaml

from butler.addons import builtin
from butler.addons.credentials import secrets_of
from butler.addons.mirrors import charts_of, configured
from butler.api import KINDS
from butler.api.addon import ManagementAddon
from butler.engines.core import Secret
from butler.engines.helm.charts import NO_CREDENTIALS, Chart, mirrored
from kubekit.model.resource import Resource
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.addons_world import World
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "addons.md"
_KINDS: tuple[type[Resource], ...] = (*KINDS, Secret)
CATALOGUED = ("cert-manager", "traefik")
ADDRESSES = {kind.address.kind: kind.address for kind in _KINDS}


async def test_every_manifest_of_the_page_comes_to_an_addon(kubekit_loop: Loop) -> None:
    world = World(kubekit_loop)
    world.start()
    await world.cluster()
    written: list[dict[str, Any]] = [
        one for block in blocks(PAGE) if block.language == "yaml" for one in yaml.safe_load_all(block.text)
    ]
    for manifest in written:
        await world.client.create(manifest, ADDRESSES[manifest["kind"]])
    await asyncio.sleep(10)
    found = {name: await world.phase(name) for name in ("dashboards", "queue", "mail")}
    assert {str(phase) for phase in found.values()} == {"Installed"}
    assert (await world.client.get(ManagementAddon, "tools")).status.phase == "Installed"
    assert world.installer.there() == {"dashboards": "1.4.2", "queue": "2.1.0", "mail": "0.9.0", "tools": "1.4.2"}
    assert world.installer.values("dashboards") == {"title": "Dashboards of shop", "replicas": 2}
    assert [await _source(world, one) for one in CATALOGUED] == [
        "oci://registry.example.com/charts",
        "https://mirror.example.com/traefik/charts",
    ]
    assert world.installer.values("mail")["smtp"]["password"] not in await world.everything_said()
    await world.crash()


async def _source(world: World, name: str) -> str:
    """Where a chart of the catalogue is fetched from."""
    chart = next(one.spec.chart for one in builtin.definitions() if one.metadata.name == name)
    mirror = await configured(charts_of(world.client), secrets_of(world.client))(chart.repository)
    source, _ = mirrored(Chart(chart.repository, chart.name, chart.default_version), NO_CREDENTIALS, mirror)
    return source.repository
