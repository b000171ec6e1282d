"""A chart is installed, upgraded, rolled back and uninstalled by real Helm, and nothing runs when nothing changed."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from butler.engines.helm.errors import ReleaseRefused
from kubekit.model.resource import Address
from tests.engines.helm import charts
from tests.engines.helm.world import CONFIG_MAP, DEPLOYMENT, GADGET, SECRET, World

Values = dict[str, Any]
NAMESPACE = Address.of("v1", "Namespace", namespaced=False)


@pytest.fixture
def whole(world: World) -> World:
    world.chart = charts.folder(world.folder / "source", more=charts.WHOLE)
    return world


async def test_a_chart_with_everything_is_installed(whole: World) -> None:
    values = {"greeting": "good day", "part": {"word": "x"}, "global": {"b": 1}, "selector": {"only": None}}
    deployed = await whole.deploy(values)
    assert deployed.changed
    record = deployed.record
    assert (record.revision, record.status, record.chart, record.chart_version) == (1, "deployed", "web", "1.0.0")
    assert await whole.data() == {"greeting": "good day", "loud": "GOOD", "seen": "{}"}
    assert await whole.data("web-part") == {"word": "eA==", "all": '{"b":1}'}
    assert await whole.data("web-hook") == {"revision": "1", "selector": '{"and":"there"}'}
    assert (await whole.get(GADGET, "web") or {})["spec"] == {"size": 3}
    assert await whole.get(DEPLOYMENT, "web")


async def test_what_is_as_it_should_be_costs_no_run(whole: World) -> None:
    values: Values = {"greeting": "hi", "nothing": None, "large": 2**60, "half": 0.5, "list": [{"a": None}], "m": {}}
    await whole.deploy(values)
    runs = whole.helm.program.runs
    assert not (await whole.deploy(dict(reversed(values.items())))).changed
    assert whole.helm.program.runs == runs
    assert await whole.states() == [(1, "deployed")]


@pytest.mark.parametrize("values", [{"greeting": "bye"}, {"greeting": None}, {}, {"greeting": "hi", "extra": 1}])
async def test_a_change_of_values_is_a_change(world: World, values: Values) -> None:
    await world.deploy({"greeting": "hi"})
    assert (await world.deploy(values)).changed
    assert await world.states() == [(1, "superseded"), (2, "deployed")]
    assert (await world.data() or {})["greeting"] == (values.get("greeting") or "hello")


async def test_an_edited_chart_is_a_change(world: World) -> None:
    await world.deploy()
    charts.folder(world.folder / "source", more={"templates/config.yaml": charts.CONFIG + "  more: added\n"})
    assert (await world.deploy()).changed
    assert (await world.data() or {})["more"] == "added"


async def test_a_release_that_somebody_else_upgraded_is_brought_back(world: World) -> None:
    await world.deploy({"greeting": "ours"})
    await world.stock("upgrade", "web", str(world.folder / "source" / "web"), "--set", "greeting=theirs")
    assert (await world.data() or {})["greeting"] == "theirs"
    assert (await world.deploy({"greeting": "ours"})).changed
    assert (await world.data() or {})["greeting"] == "ours"


async def test_a_new_version_brings_its_definitions_along(whole: World) -> None:
    await whole.deploy({"size": 9})
    newer = yaml.safe_dump(charts.DEFINITION).replace("maximum: 9", "maximum: 99")
    another = (
        newer.replace("Gadget", "Gizmo")
        .replace("gadgets.gadgets", "gizmos.gadgets")
        .replace(": gadgets\n", ": gizmos\n")
    )
    more = {**charts.WHOLE, "crds/gadget.yaml": newer, "charts/part/crds/gizmo.yaml": another}
    whole.chart = charts.folder(whole.folder / "newer", version="2.0.0", more=more)
    with pytest.raises(ReleaseRefused, match="equal to 9"):
        await whole.deploy({"size": 50}, update_definitions=False)
    assert (await whole.deploy({"size": 50})).record.chart_version == "2.0.0"
    assert (await whole.get(GADGET, "web") or {})["spec"] == {"size": 50}
    gizmos = Address.of("gadgets.example.com/v1", "Gizmo")
    await whole.cluster.client.list(gizmos)


async def test_values_are_the_whole_truth(world: World) -> None:
    await world.deploy({"removed": "soon"})
    await world.deploy({})
    assert "removed" not in (await world.data() or {})
    assert (await world.record()).values == {}


async def test_records_are_read_by_stock_helm(world: World) -> None:
    await world.deploy({"greeting": "one"})
    await world.deploy({"greeting": "two"})
    listed = await world.stock("list")
    assert [(one["name"], one["revision"], one["status"], one["chart"]) for one in listed] == [
        ("web", "2", "deployed", "web-1.0.0")
    ]
    history = await world.stock("history", "web")
    assert [(one["revision"], one["status"]) for one in history] == [(1, "superseded"), (2, "deployed")]
    assert all(one["description"].startswith("Deployed by Butler as ") for one in history)
    assert await world.stock("get", "values", "web") == {"greeting": "two"}


async def test_a_refused_upgrade_is_rolled_back(whole: World) -> None:
    await whole.deploy({"greeting": "old"})
    with pytest.raises(ReleaseRefused, match=r"web.*size.*less than or equal to 9") as caught:
        await whole.deploy({"greeting": "new", "size": 10})
    assert caught.value.rolled_back
    assert await whole.states() == [(1, "superseded"), (2, "failed"), (3, "deployed")]
    assert (await whole.data() or {})["greeting"] == "old"
    assert (await whole.deploy({"greeting": "new", "size": 5})).changed
    assert (await whole.data() or {})["greeting"] == "new"


async def test_a_refused_upgrade_can_be_left_as_it_is(whole: World) -> None:
    await whole.deploy()
    with pytest.raises(ReleaseRefused) as caught:
        await whole.deploy({"size": 10}, roll_back=False)
    assert not caught.value.rolled_back
    assert await whole.states() == [(1, "deployed"), (2, "failed")]
    assert (await whole.helm.rollback(whole.cluster, whole.place)).status == "deployed"
    assert (await whole.states())[-1] == (3, "deployed")


async def test_a_failed_install_is_tried_again(whole: World) -> None:
    with pytest.raises(ReleaseRefused):
        await whole.deploy({"size": 10})
    assert await whole.states() == [(1, "failed")]
    assert (await whole.deploy({"size": 9})).record.status == "deployed"


async def test_a_rollback_goes_to_the_revision_before(world: World) -> None:
    with pytest.raises(ReleaseRefused, match="no earlier revision"):
        await world.helm.rollback(world.cluster, world.place)
    await world.deploy({"greeting": "one"})
    with pytest.raises(ReleaseRefused, match="no earlier revision"):
        await world.helm.rollback(world.cluster, world.place)
    await world.deploy({"greeting": "two"})
    await world.deploy({"greeting": "three"})
    await world.helm.rollback(world.cluster, world.place)
    assert (await world.data() or {})["greeting"] == "two"
    await world.helm.rollback(world.cluster, world.place, 1)
    assert (await world.data() or {})["greeting"] == "one"


async def test_an_uninstall_leaves_nothing_of_the_release(whole: World) -> None:
    await whole.deploy()
    assert await whole.helm.uninstall(whole.cluster, whole.place)
    assert await whole.states() == []
    for kind, name in ((CONFIG_MAP, "web-config"), (SECRET, "web-secret"), (DEPLOYMENT, "web"), (GADGET, "web")):
        assert await whole.get(kind, name) is None
    assert not await whole.helm.uninstall(whole.cluster, whole.place)


async def test_objects_of_others_are_taken_over_only_when_asked(world: World) -> None:
    await world.deploy()
    await world.helm.uninstall(world.cluster, world.place)
    mine = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web-config", "namespace": "addons"}}
    await world.cluster.client.create(mine, CONFIG_MAP)
    with pytest.raises(ReleaseRefused, match="exists and cannot be imported"):
        await world.deploy()
    assert (await world.deploy(take_over=True)).changed


async def test_only_a_few_revisions_are_kept(world: World) -> None:
    for number in range(7):
        await world.deploy({"greeting": f"number {number}"})
    assert [revision for revision, _ in await world.states()] == [3, 4, 5, 6, 7]


async def test_a_rendering_shows_what_would_be_written(whole: World) -> None:
    await whole.deploy({"greeting": "old"})
    rendered = await whole.helm.render(whole.cluster, whole.wanted({"greeting": "new"}))
    assert rendered.is_exact
    assert 'greeting: "new"' in rendered.manifest
    assert (await whole.data() or {})["greeting"] == "old"
    assert await whole.states() == [(1, "deployed")]


async def test_a_chart_that_brings_its_kinds_is_rendered_without_them(whole: World, setup: tuple[str, str]) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "addons"}}
    await whole.cluster.client.create(namespace, NAMESPACE)
    found = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "found", "namespace": "addons"}}
    await whole.cluster.client.create({**found, "data": {"a": "b"}}, CONFIG_MAP)
    rendered = await whole.helm.render(whole.cluster, whole.wanted())
    assert not rendered.is_exact
    assert "kind: Gadget" in rendered.manifest
    assert (r"{\"a\":\"b\"}" in rendered.manifest) is (setup[0] == "3")
    assert await whole.states() == []
