"""Where the values and the charts of TenantAddons come from, and that nothing tells of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from butler.api.addon import TenantAddonPhase
from butler.api.config import ButlerConfig
from butler.api.team import Team
from butler.engines.core import Secret
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.addons_world import TEAM, World

Phase = TenantAddonPhase
SECRET = "hunter2-and-more"
FROM = [{"secretRef": {"name": "mine"}}]
CHART = {"repository": "https://charts.example.com/stable", "chart": "shop"}


@pytest.fixture
async def world(kubekit_loop: Loop) -> AsyncIterator[World]:
    made = World(kubekit_loop)
    made.start()
    await made.cluster()
    await made.define(
        "grafana",
        defaults={"values": {"name": "$(cluster.name)", "level": "definition", "nested": {"a": 1, "b": 1}}},
        valuesSchema={"properties": {"level": {"type": "string"}, "password": {"type": "string"}}},
    )
    yield made
    await made.crash()


async def test_values_are_laid_over_each_other(world: World) -> None:
    await world.secret("mine", **{"values.yaml": f"level: secret\npassword: {SECRET}\n"})
    await world.ask("grafana", values={"level": "spec", "nested": {"b": 2}}, valuesFrom=FROM)
    await asyncio.sleep(5)
    assert world.installer.values("grafana") == {
        "name": "shop", "level": "secret", "nested": {"a": 1, "b": 2}, "password": SECRET,
    }  # fmt: skip


async def test_values_of_the_team_lie_under_those_of_the_addon(kubekit_loop: Loop) -> None:
    world = World(kubekit_loop)
    world.start()
    values = {"grafana": {"level": "team", "colour": "team"}}
    defaults = {"clusterDefaults": {"addonValues": values}}
    await world.client.create({"metadata": {"name": "web"}, "spec": defaults}, Team.address)
    await world.define("grafana", defaults={"values": {"colour": "definition"}})
    await world.cluster(teamRef={"name": "web"})
    await world.ask("grafana", values={"level": "spec"})
    await asyncio.sleep(5)
    assert world.installer.values("grafana") == {"level": "spec", "colour": "team"}
    await world.crash()


async def test_a_secret_that_is_not_there_is_waited_for(world: World) -> None:
    await world.ask("grafana", valuesFrom=FROM)
    await asyncio.sleep(5)
    status = await world.status("grafana")
    assert (status.phase, await world.reason("grafana")) == (Phase.PENDING, "ValuesMissing")
    assert status.message == "grafana: Secret team-web/mine, which is to hold values, is not there"
    await world.secret("mine", other="{}")
    await asyncio.sleep(5)
    assert (await world.status("grafana")).message == (
        "grafana: Secret team-web/mine, which is to hold values, has no key values.yaml"
    )
    await world.client.patch(Secret, "mine", {"stringData": {"values.yaml": "level: secret"}}, TEAM)
    await asyncio.sleep(5)
    assert await world.phase("grafana") is Phase.INSTALLED


async def test_a_secret_that_changes_is_a_change(world: World) -> None:
    await world.secret("mine", **{"values.yaml": "level: one"})
    await world.ask("grafana", valuesFrom=FROM)
    await asyncio.sleep(5)
    digest = (await world.status("grafana")).values_digest
    await world.client.patch(Secret, "mine", {"stringData": {"values.yaml": "level: two"}}, TEAM)
    await asyncio.sleep(5)
    assert world.installer.values("grafana")["level"] == "two"
    assert (await world.status("grafana")).values_digest != digest


async def test_another_login_is_tried_at_once(world: World) -> None:
    world.installer.fails["queue"] = "401 Unauthorized"
    await world.ask("", name="queue", helm={**CHART, "credentialsRef": {"name": "login"}}, version="1.0.0")
    await asyncio.sleep(5)
    assert await world.phase("queue") is Phase.FAILED
    world.installer.fails.clear()
    await asyncio.sleep(5)
    assert await world.phase("queue") is Phase.FAILED
    await world.secret("login", username="web", password=SECRET)
    await asyncio.sleep(5)
    assert await world.phase("queue") is Phase.INSTALLED


@pytest.mark.parametrize(
    "content", [f"- {SECRET}", f"a: [{SECRET}", f"password: [{SECRET}]", f"x: {SECRET}\n" + "#" * 300_000]
)
async def test_secrets_are_told_by_nobody(world: World, content: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await world.secret("mine", **{"values.yaml": content})
    await world.ask("grafana", valuesFrom=FROM)
    await asyncio.sleep(5)
    assert (await world.phase("grafana"), await world.reason("grafana")) == (Phase.FAILED, "InvalidValues")
    assert SECRET not in await world.everything_said()
    assert SECRET not in caplog.text


async def test_a_secret_stays_one_when_all_goes_well_and_when_installing_breaks(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await world.secret("mine", **{"values.yaml": f"password: {SECRET}"})
    await world.ask("grafana", valuesFrom=FROM)
    await asyncio.sleep(5)
    assert world.installer.values("grafana")["password"] == SECRET
    world.installer.raises = KeyError("level")
    await world.change("grafana", values={"level": "other"})
    await asyncio.sleep(5)
    assert await world.phase("grafana") is Phase.FAILED
    assert SECRET not in await world.everything_said()
    assert SECRET not in caplog.text


async def test_many_aliases_cost_no_more_than_they_are_long(world: World) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, 30)]
    await world.secret("mine", **{"values.yaml": "\n".join(lines)})
    await world.ask("grafana", valuesFrom=FROM)
    await asyncio.sleep(5)
    assert await world.reason("grafana") == "InvalidValues"


async def test_a_chart_of_ones_own_is_installed_as_it_is_written(world: World) -> None:
    digest = f"sha256:{'0' * 64}"
    chart = {**CHART, "digest": digest, "credentialsRef": {"name": "login"}, "createNamespace": False}
    await world.ask("", name="mine", helm=chart, version="1.2.3", values={"text": "$(cluster.name)"})
    await asyncio.sleep(5)
    addon = next(iter(world.installer.releases.values())).addon
    wanted = addon.release.chart
    assert (wanted.repository, wanted.name, wanted.version, wanted.digest) == (
        CHART["repository"], "shop", "1.2.3", digest,
    )  # fmt: skip
    assert (addon.place.name, addon.place.namespace, addon.credentials) == ("mine", "mine", (TEAM, "login"))
    assert addon.release.values == {"text": "$(cluster.name)"}
    assert not addon.release.create_namespace


async def test_a_chart_without_a_version_is_refused(world: World) -> None:
    await world.ask("", name="mine", helm=CHART)
    await asyncio.sleep(5)
    assert await world.reason("mine") == "VersionUnknown"


@pytest.mark.parametrize(
    ("repository", "is_allowed"),
    [
        ("https://charts.example.com/stable", True),
        ("https://charts.example.com/stable/more", True),
        ("https://charts.example.com/stables", False),
        ("https://elsewhere.example.com", False),
        ("file:///etc", False),
    ],
)
async def test_charts_come_from_where_they_may_come(world: World, repository: str, is_allowed: bool) -> None:
    charts = {"allowedRepositories": ["https://charts.example.com/stable"]}
    await world.client.create({"metadata": {"name": "butler"}, "spec": {"charts": charts}}, ButlerConfig.address)
    await asyncio.sleep(1)
    await world.ask("", name="mine", helm={**CHART, "repository": repository}, version="1.0.0")
    await asyncio.sleep(5)
    assert await world.reason("mine") == ("Installed" if is_allowed else "RepositoryRefused")
