"""Addons come in order, beside each other where they may, once, and go again."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from butler.addons.errors import VolumesInUse
from butler.addons.model import AddonState
from butler.engines.helm.protocol import Place
from kubekit.errors import NotFound
from kubekit.model.resource import Address
from tests.addons.helm.site import FAILING, JOB, NAMESPACE, Site
from tests.engines.helm import charts
from tests.engines.helm.world import CONFIG_MAP, GADGET, SECRET, processes_of

FOUND = {
    "templates/found.yaml": """
apiVersion: v1
kind: ConfigMap
metadata: {name: found}
data: {by: {{ .Release.Name }}}
"""
}
HANGING = {**charts.SMALL, "templates/job.yaml": charts.JOB.replace("HOOK", "pre-install,pre-upgrade")}
VOLUME = Address.of("v1", "PersistentVolume", namespaced=False)
STORAGE = {
    "templates/class.yaml": """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: {{ .Release.Name }}-class}
provisioner: disks.example.com
"""
}


async def data(site: Site, name: str) -> dict[str, str]:
    found: dict[str, str] = (await site.cluster.client.get(CONFIG_MAP, name, "addons"))["data"]
    return found


async def test_one_comes_after_those_it_depends_on(site: Site) -> None:
    seen = await site.install(
        site.addon("last", depends_on=("middle", "of-somebody-else")),
        site.addon("middle", depends_on=("first",)),
        site.addon("first", more=FOUND),
    )
    assert list(seen) == ["last", "middle", "first"]
    assert {one.state for one in seen.values()} == {AddonState.HEALTHY}
    assert {one.version for one in seen.values()} == {"1.0.0"}
    assert "first" in (await data(site, "middle-config"))["seen"]
    assert "first" in (await data(site, "last-config"))["seen"]


async def test_those_that_need_not_wait_do_not(site: Site) -> None:
    task = asyncio.create_task(site.install(site.addon("one", more=HANGING), site.addon("two", more=HANGING)))
    await site.appears(JOB, "one-job", "two-job")
    await site.finish("one-job")
    await site.finish("two-job")
    assert {one.state for one in (await task).values()} == {AddonState.HEALTHY}


async def test_what_fails_keeps_out_only_what_depends_on_it(site: Site) -> None:
    base, other = site.addon("base", more=FAILING), site.addon("other")
    above, top = site.addon("above", depends_on=("base",)), site.addon("top", depends_on=("above",))
    seen = await site.install(base, above, top, other)
    assert {name: (one.state, one.message) for name, one in seen.items() if name != "base"} == {
        "above": (AddonState.INSTALLING, "waits for base"),
        "top": (AddonState.INSTALLING, "waits for above"),
        "other": (AddonState.HEALTHY, ""),
    }
    assert (seen["base"].state, seen["base"].reason) == (AddonState.FAILED, "RenderFailed")
    assert [name for name, one in seen.items() if one.outdated] == ["base", "above", "top"]
    assert await site.world.helm.find(site.cluster, above.place) is None


async def test_what_is_there_already_does_not_suffer_from_what_it_depends_on(site: Site) -> None:
    above = site.addon("above", depends_on=("base",))
    await site.install(site.addon("base"), above)
    seen = await site.install(site.addon("base", version="2.0.0", more=FAILING), above)
    assert seen["base"].state is AddonState.FAILED
    assert seen["above"].state is AddonState.HEALTHY
    assert not seen["above"].outdated
    assert seen["above"].message == ""


async def test_those_that_wait_for_each_other_are_told_and_others_are_not_kept(site: Site) -> None:
    one, two = site.addon("one", depends_on=("two",)), site.addon("two", depends_on=("one",))
    seen = await site.install(one, two, site.addon("other"))
    assert (seen["one"].state, seen["one"].message) == (AddonState.FAILED, "one, two wait for each other")
    assert seen["other"].state is AddonState.HEALTHY


async def test_the_second_time_nothing_runs(site: Site) -> None:
    addons = [site.addon("one", {"greeting": "hi"}), site.addon("two", depends_on=("one",))]
    first = await site.install(*addons)
    runs = site.runs
    assert await site.install(*addons) == first
    assert site.runs == runs
    assert {one.revision for one in first.values()} == {1}


async def test_a_change_of_values_is_an_upgrade(site: Site) -> None:
    await site.installed(site.addon("web", {"greeting": "hi"}))
    changed = site.addon("web", {"greeting": "bye"})
    looked = await site.look(changed)
    assert (looked.state, looked.outdated) == (AddonState.INSTALLING, True)
    assert looked.message == "revision 1 is not what is asked for"
    seen = await site.installed(changed)
    assert (seen.state, seen.revision, seen.release_status) == (AddonState.HEALTHY, 2, "deployed")
    assert not (await site.look(changed)).outdated


async def test_a_failed_upgrade_leaves_what_was_there(site: Site) -> None:
    await site.installed(site.addon("web", more=charts.WHOLE, for_nodes=True))
    newer = site.addon("web", {"size": 10}, version="2.0.0", more=charts.WHOLE, for_nodes=True)
    seen = await site.installed(newer)
    assert (seen.state, seen.rolled_back, seen.version) == (AddonState.FAILED, True, "1.0.0")
    assert (seen.revision, seen.release_status, seen.reason) == (3, "deployed", "ReleaseRefused")
    assert seen.outdated
    assert (await site.world.get(GADGET, "web") or {})["spec"] == {"size": 3}
    assert (await site.installed(replace(newer, release=replace(newer.release, values={"size": 5})))).version == "2.0.0"


async def test_a_cancelled_installation_is_done_by_the_next(site: Site) -> None:
    hanging = site.addon("web", more=HANGING)
    task = asyncio.create_task(site.install(hanging, site.addon("after", depends_on=("web",))))
    await site.appears(JOB, "web-job")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not processes_of(site.world.folder / "helm" / "runs")
    looked = await site.look(hanging)
    assert (looked.state, looked.outdated) == (AddonState.FAILED, True)
    seen = await site.install(site.addon("web"), site.addon("after", depends_on=("web",)))
    assert {one.state for one in seen.values()} == {AddonState.HEALTHY}


async def test_an_addon_is_removed_with_the_secrets_it_was_given(site: Site) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cloud"}, "stringData": {"token": "s3cret"}}
    addon = site.addon("web", secrets=(secret,))
    await site.installed(addon)
    await site.installed(site.addon("other"))
    assert await site.is_there(SECRET, "cloud")
    for _ in range(2):
        await site.installer.remove(site.cluster, addon.place)
        assert not await site.is_there(CONFIG_MAP, "web-config")
        assert not await site.is_there(SECRET, "cloud")
    assert await site.is_there(CONFIG_MAP, "other-config")
    assert await site.is_there(NAMESPACE, "addons")
    assert (await site.look(addon)).message == "is not installed"


async def test_volumes_keep_what_serves_them(site: Site) -> None:
    addon = site.addon("disks", more=STORAGE)
    await site.installed(addon)
    for name, driver in (("theirs", "other.example.com"), ("ours", "disks.example.com")):
        spec = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": driver, "volumeHandle": "v"},
        }
        volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
        await site.create(volume, namespaced=False)
    try:
        with pytest.raises(VolumesInUse, match="volume ours is still there") as caught:
            await site.installer.remove(site.cluster, addon.place, holds_volumes=True)
        assert caught.value.reason == "VolumesInUse"
        assert (await site.look(addon)).state is AddonState.HEALTHY
        await let_go(site, "ours")
        await site.installer.remove(site.cluster, addon.place, holds_volumes=True)
        assert await site.world.helm.find(site.cluster, addon.place) is None
    finally:
        for name in ("theirs", "ours"):
            await let_go(site, name)


async def let_go(site: Site, name: str) -> None:
    """Remove a volume at once, whoever protects it."""
    try:
        await site.cluster.client.delete(VOLUME, name)
        await site.cluster.client.patch(VOLUME, name, {"metadata": {"finalizers": None}})
    except NotFound:
        pass


async def test_where_a_driver_is_not_named_every_served_volume_counts(site: Site) -> None:
    addon = site.addon("disks")
    await site.installed(addon)
    metadata = {"name": "kept", "annotations": {"pv.kubernetes.io/provisioned-by": "some.example.com"}}
    for meta in (metadata, {"name": "by-hand"}):
        spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
        volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec}
        await site.create(volume, namespaced=False)
    try:
        with pytest.raises(VolumesInUse, match="volume kept is"):
            await site.installer.remove(site.cluster, addon.place, holds_volumes=True)
        await let_go(site, "kept")
        await site.installer.remove(site.cluster, addon.place, holds_volumes=True)
    finally:
        for name in ("kept", "by-hand"):
            await let_go(site, name)


async def test_a_namespace_allows_what_the_addon_needs_and_keeps_what_others_said(
    site: Site, setup: tuple[str, str]
) -> None:
    enforce = "pod-security.kubernetes.io/enforce"

    async def label(namespace: str) -> str | None:
        found = await site.cluster.client.get(NAMESPACE, namespace)
        return (found["metadata"].get("labels") or {}).get(enforce)

    await site.installed(site.addon("web", privileged=True))
    assert await label("addons") == "privileged"
    for name, said, privileged, expected in (
        (f"addons-b-{setup[0]}", {enforce: "baseline"}, True, "baseline"),
        (f"addons-c-{setup[0]}", {"team": "x"}, True, "privileged"),
        (f"addons-d-{setup[0]}", {}, False, None),
    ):
        try:
            await site.make_namespace(name, **said)
            await site.installed(site.addon("web", place=Place("web", name), privileged=privileged))
            assert await label(name) == expected
        finally:
            await site.cluster.client.delete(NAMESPACE, name)
