"""What others keep in a cluster is left to them; what they change of ours is not."""

from __future__ import annotations

from typing import Any

import pytest

from butler.addons.gitops import ARGO_CD, FLUX
from butler.addons.installation.ownership import LABEL
from butler.addons.model import AddonState
from kubekit.client.protocol import Client, Selection
from kubekit.model.resource import Address, Object
from tests.addons.helm.site import Site
from tests.engines.helm import charts
from tests.engines.helm.world import CONFIG_MAP, DEFINITIONS


async def test_a_release_by_hand_is_refused_and_stays(site: Site) -> None:
    addon = site.addon("web", {"greeting": "ours"})
    await site.make_namespace()
    await site.world.stock("install", "web", str(addon.release.chart.local()), "--set", "greeting=theirs")
    for seen in (await site.installed(addon), await site.look(addon, repair=True)):
        assert (seen.state, seen.keeper, seen.reason) == (AddonState.FAILED, "manual", "AddonConflict")
        assert seen.message == "web: release addons/web is there already, and Butler did not install it"
    await site.installer.remove(site.cluster, addon.place)
    assert (await site.world.data() or {})["greeting"] == "theirs"
    taken = await site.installed(site.addon("web", {"greeting": "ours"}, take_over=True))
    assert (taken.state, taken.revision) == (AddonState.HEALTHY, 2)
    assert (await site.installed(addon)).state is AddonState.HEALTHY
    assert (await site.world.data() or {})["greeting"] == "ours"


async def test_a_release_of_ours_that_was_upgraded_by_hand_is_brought_back(site: Site) -> None:
    addon = site.addon("web", {"greeting": "ours"})
    await site.installed(addon)
    await site.world.stock("upgrade", "web", str(addon.release.chart.local()), "--set", "greeting=theirs")
    looked = await site.look(addon)
    assert (looked.state, looked.outdated, looked.keeper) == (AddonState.INSTALLING, True, "butler")
    assert (await site.installed(addon)).state is AddonState.HEALTHY
    await site.world.helm.rollback(site.cluster, addon.place, 2)
    assert (await site.world.record()).labels == {LABEL: "web"}
    assert (await site.installed(addon)).revision == 5
    assert (await site.world.data() or {})["greeting"] == "ours"


async def test_a_failed_install_is_known_as_ours(site: Site) -> None:
    assert (await site.installed(site.addon("web", {"size": 10}, more=charts.WHOLE))).state is AddonState.FAILED
    assert (await site.world.record()).labels == {LABEL: "web"}
    assert (await site.installed(site.addon("web"))).state is AddonState.HEALTHY


async def test_two_addons_do_not_share_a_release(site: Site) -> None:
    addon = site.addon("web")
    await site.installed(addon)
    another = site.addon("another", place=addon.place)
    seen = await site.installed(another)
    assert (seen.state, seen.keeper, seen.reason) == (AddonState.FAILED, "butler", "AddonConflict")
    assert seen.message == "another: release addons/web is that of the addon web"
    await site.installer.remove(site.cluster, addon.place, name="another")
    assert (await site.look(addon)).state is AddonState.HEALTHY
    await site.installer.remove(site.cluster, addon.place, name="web")
    assert (await site.look(addon)).message == "is not installed"


def definition(kind: Address) -> Object:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": free, "status": free}}},
    }
    names = {"plural": kind.plural, "kind": kind.kind}
    spec = {"group": kind.group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.name},
        "spec": spec,
    }


async def serve(client: Client, kind: Address) -> None:
    await client.create(definition(kind), DEFINITIONS)
    async for event in client.watch(DEFINITIONS, Selection(fields=f"metadata.name={kind.name}")):
        conditions = ((event.item or {}).get("status") or {}).get("conditions") or []
        if any((one["type"], one["status"]) == ("Established", "True") for one in conditions):
            return


async def keep(site: Site, kind: Address, spec: dict[str, Any], status: dict[str, Any]) -> None:
    obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "kept", "namespace": "default"}}
    await site.cluster.client.create({**obj, "spec": spec, "status": status}, kind)


READY = {"conditions": [{"type": "Ready", "status": "True", "reason": "UpgradeSucceeded", "message": "s3cret"}]}
BROKEN = {"conditions": [{"type": "Ready", "status": "False", "reason": "InstallFailed", "message": "s3cret"}]}
HISTORY = {"history": [{"chartName": "web", "chartVersion": "3.2.1", "status": "deployed"}]}
HERE = {"server": "https://kubernetes.default.svc", "namespace": "addons"}
SOURCE = {"repoURL": "https://charts.example.com", "chart": "web", "targetRevision": "3.*"}
SYNCED = {"sync": {"revision": "3.2.1"}, "health": {"status": "Healthy", "message": "s3cret"}}
RELEASE = {"releaseName": "web", "targetNamespace": "addons"}
CASES = [
    (FLUX, RELEASE, {**READY, **HISTORY}, AddonState.HEALTHY, "3.2.1", "UpgradeSucceeded"),
    (FLUX, RELEASE, {}, AddonState.INSTALLING, "", "no word yet"),
    (FLUX, RELEASE, BROKEN, AddonState.FAILED, "", "InstallFailed"),
    (FLUX, {"targetNamespace": "addons"}, {**BROKEN, **HISTORY}, AddonState.DEGRADED, "3.2.1", "InstallFailed"),
    (
        FLUX,
        {"targetNamespace": "addons", "suspend": True, "chart": {"spec": {"chart": "web"}}},
        READY,
        AddonState.HEALTHY,
        "",
        "suspended",
    ),
    (ARGO_CD, {"destination": HERE, "source": SOURCE}, SYNCED, AddonState.HEALTHY, "3.2.1", "Healthy"),
    (
        ARGO_CD,
        {"destination": HERE, "sources": [{"repoURL": "https://git.example.com", "ref": "values"}, SOURCE]},
        {"sync": {"revisions": ["abc", "3.2.1"]}, "health": {"status": "Degraded"}},
        AddonState.DEGRADED,
        "3.2.1",
        "Degraded",
    ),
    (
        ARGO_CD,
        {"destination": HERE, "source": {"repoURL": "https://git.example.com", "helm": {"releaseName": "web"}}},
        {"health": {"status": "Missing"}, "operationState": {"phase": "Failed"}},
        AddonState.FAILED,
        "",
        "Missing",
    ),
]


@pytest.mark.parametrize(("kind", "spec", "status", "state", "version", "word"), CASES)
async def test_what_gitops_keeps_is_shown_and_left_alone(
    site: Site,
    kind: Address,
    spec: dict[str, Any],
    status: dict[str, Any],
    state: AddonState,
    version: str,
    word: str,
) -> None:
    addon = site.addon("web")
    await serve(site.cluster.client, kind)
    try:
        await keep(site, kind, spec, status)
        runs = site.runs
        for seen in (await site.installed(addon), await site.look(addon, repair=True)):
            assert seen.keeper == ("flux" if kind is FLUX else "argocd")
            assert (seen.state, seen.version, seen.outdated) == (state, version, False)
            assert seen.message == f"kept by {kind.kind} default/kept: {word}"
        assert site.runs == runs
        assert await site.world.helm.find(site.cluster, addon.place) is None
    finally:
        await site.cluster.client.delete(DEFINITIONS, kind.name)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (FLUX, {"releaseName": "web", "targetNamespace": "elsewhere"}),
        (FLUX, {"releaseName": "another", "targetNamespace": "addons", "chart": {"spec": {"chart": "another"}}}),
        (ARGO_CD, {"destination": {**HERE, "server": "https://another.example.com"}, "source": SOURCE}),
        (ARGO_CD, {"destination": HERE, "source": {"repoURL": "https://git.example.com", "path": "web"}}),
        (ARGO_CD, {"destination": "nonsense", "source": 5, "sources": {"a": 1}}),
        (FLUX, {"chart": 5, "releaseName": ["web"]}),
    ],
)
async def test_what_gitops_keeps_elsewhere_is_no_concern(site: Site, kind: Address, spec: dict[str, Any]) -> None:
    await serve(site.cluster.client, kind)
    try:
        await keep(site, kind, spec, {"conditions": "nonsense", "history": [5], "sync": []})
        assert (await site.installed(site.addon("web"))).state is AddonState.HEALTHY
    finally:
        await site.cluster.client.delete(DEFINITIONS, kind.name)


async def test_what_flux_took_over_is_not_removed(site: Site) -> None:
    addon = site.addon("web")
    await serve(site.cluster.client, FLUX)
    try:
        await site.installed(addon)
        await keep(site, FLUX, {"releaseName": "web", "targetNamespace": "addons"}, READY)
        await site.installer.remove(site.cluster, addon.place)
        assert await site.is_there(CONFIG_MAP, "web-config")
    finally:
        await site.cluster.client.delete(DEFINITIONS, FLUX.name)
