"""What Flux and Argo CD keep is found, shown and left alone."""

from __future__ import annotations

from typing import Any

import pytest

from butler.addons.gitops import ARGO_CD, FLUX, GitOps
from butler.addons.model import AddonState
from butler.engines.helm.protocol import Cluster
from kubekit.model.resource import Address
from tests.addons.helm.gitops import READY, RELEASE, keep, served
from tests.addons.helm.site import Counted, Site
from tests.providers.clocks import HandClock

BROKEN = {"conditions": [{"type": "Ready", "status": "False", "reason": "InstallFailed", "message": "s3cret"}]}
HISTORY = {"history": [{"chartName": "web", "chartVersion": "3.2.1", "status": "deployed"}]}
HERE = {"server": "https://kubernetes.default.svc", "namespace": "addons"}
SOURCE = {"repoURL": "https://charts.example.com", "chart": "web", "targetRevision": "3.*"}
SYNCED = {"sync": {"revision": "3.2.1"}, "health": {"status": "Healthy", "message": "s3cret"}}
CASES = [
    (FLUX, RELEASE, {**READY, **HISTORY}, AddonState.HEALTHY, "3.2.1", "UpgradeSucceeded"),
    (FLUX, RELEASE, {}, AddonState.INSTALLING, "", "no word yet"),
    (FLUX, RELEASE, {"lastAttemptedRevision": "1\n" * 999}, AddonState.INSTALLING, "", "no word yet"),
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
    async with served(site, kind):
        await keep(site, kind, spec, status)
        runs = site.runs
        for seen in (await site.installed(addon), await site.look(addon, repair=True)):
            assert seen.keeper == ("flux" if kind is FLUX else "argocd")
            assert (seen.state, seen.version, seen.outdated) == (state, version, False)
            assert seen.message == f"kept by {kind.kind} default/kept: {word}"
        assert site.runs == runs
        assert await site.world.helm.find(site.cluster, addon.place) is None


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
    async with served(site, kind):
        await keep(site, kind, spec, {"conditions": "nonsense", "history": [5], "sync": []})
        assert (await site.installed(site.addon("web"))).state is AddonState.HEALTHY


async def test_a_cluster_without_gitops_is_asked_once_in_a_while(site: Site) -> None:
    clock, client = HandClock(), Counted(site.cluster.client)
    gitops, cluster = GitOps(clock), Cluster(site.cluster.config, client)
    for _ in range(3):
        assert await gitops.claims(cluster) == ()
    assert client.calls == {"HelmRelease": 1, "Application": 1}
    async with served(site, FLUX):
        await keep(site, FLUX, RELEASE, READY)
        assert await gitops.claims(cluster) == ()
        clock.pass_by(301)
        for _ in range(2):
            assert [one.object for one in await gitops.claims(cluster)] == ["HelmRelease default/kept"]
    assert client.calls == {"HelmRelease": 3, "Application": 2}
