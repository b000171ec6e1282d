"""The charts that come with Butler, on an API that judges what they write."""

from __future__ import annotations

import pytest

from butler.addons.builtin import definitions
from butler.addons.bundled import REPOSITORY
from butler.addons.resolution import Wish, resolve
from butler.api.addon import AddonDefinition
from tests.addons.clusters import facts, provider
from tests.engines.helm.world import World

BUNDLED = [one for one in definitions() if one.spec.chart.repository == REPOSITORY]


@pytest.mark.parametrize("account", [False, True], ids=["alone", "account"])
@pytest.mark.parametrize("definition", BUNDLED, ids=lambda one: one.metadata.name)
async def test_an_api_server_takes_them(world: World, definition: AddonDefinition, account: bool) -> None:
    (name,) = definition.spec.providers
    addon = resolve(Wish(definition.metadata.name), definition, facts(provider(name, account=account)))
    deployed = await world.releases.deploy(world.cluster, addon.release)
    assert deployed.changed
    assert await world.releases.drift(world.cluster, addon.place) == ()
    unready = {one.object for one in await world.releases.health(world.cluster, addon.place)}
    assert any(one.startswith("DaemonSet") for one in unready)
    assert not (await world.releases.deploy(world.cluster, addon.release)).changed
