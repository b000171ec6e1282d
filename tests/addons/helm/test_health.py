"""How an addon is doing is told by its objects, for as long as it takes and no longer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from butler.addons.model import AddonState
from butler.engines.helm.protocol import Cluster
from butler.simulation.workloads.tenants import Workloads
from kubekit.client.http import HttpClient
from kubekit.errors import ServiceUnavailable
from kubekit.model.resource import Object
from tests.addons.helm.site import Counted, Site
from tests.engines.helm import charts
from tests.engines.helm.world import CONFIG_MAP, DEPLOYMENT, GADGET, SECRET
from tests.simulation.workloads.world import NODES

DEPLOYED = {"templates/deployment.yaml": charts.DEPLOYMENT}
NOWHERE = {
    "templates/deployment.yaml": charts.DEPLOYMENT.replace(
        "containers:", "nodeSelector: {{ .Values.nodes | default dict | toJson }}\n      containers:"
    )
}
EVERYWHERE = {
    "templates/daemons.yaml": charts.DEPLOYMENT.replace("Deployment", "DaemonSet").replace(
        "  replicas: {{ .Values.replicas | default 1 }}\n", ""
    )
}
SOON = timedelta(seconds=1)


def gadget(size: int) -> Object:
    return {
        "apiVersion": "gadgets.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "pool"},
        "spec": {"size": size},
    }


async def test_what_works_is_healthy(site: Site, workloads: Workloads) -> None:
    addon = site.addon("web", more=DEPLOYED)
    assert (await site.installed(addon)).state is AddonState.HEALTHY
    assert (await site.look(addon)).state is AddonState.HEALTHY


async def test_what_does_not_get_to_work_in_time_is_told(site: Site) -> None:
    seen = await site.installed(site.addon("web", more=DEPLOYED, timeout=SOON))
    assert (seen.state, seen.version, seen.outdated) == (AddonState.DEGRADED, "1.0.0", False)
    assert seen.message == "Deployment addons/web: its controller has not seen the newest change yet"
    assert (await site.look(site.addon("web", more=DEPLOYED))).state is AddonState.INSTALLING
    runs = site.runs
    assert (await site.installed(site.addon("web", more=DEPLOYED, timeout=SOON))).state is AddonState.DEGRADED
    assert site.runs == runs


async def test_nobody_waits_for_the_pods_of_what_nodes_wait_for(site: Site) -> None:
    seen = await site.installed(site.addon("web", more=DEPLOYED, for_nodes=True, timeout=timedelta(hours=1)))
    assert seen.state is AddonState.INSTALLING
    after = site.addon("after", depends_on=("web",), for_nodes=True)
    both = await site.install(site.addon("web", more=DEPLOYED, for_nodes=True, timeout=timedelta(hours=1)), after)
    assert both["after"].state is AddonState.HEALTHY


async def test_a_network_without_nodes_is_no_problem(site: Site, workloads: Workloads) -> None:
    await site.cluster.client.delete(NODES, "node-1")
    network = site.addon("network", more=EVERYWHERE, for_nodes=True)
    plain = site.addon("network", more=EVERYWHERE)
    assert (await site.installed(network)).state in (AddonState.HEALTHY, AddonState.INSTALLING)
    async with asyncio.timeout(20):
        while (await site.look(network)).state is not AddonState.HEALTHY:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    assert (await site.look(plain)).message == "DaemonSet addons/network: no node is fit for it"


async def test_an_upgrade_that_breaks_what_worked_is_taken_back(site: Site, workloads: Workloads) -> None:
    await site.installed(site.addon("web", more=NOWHERE))
    broken = site.addon("web", {"nodes": {"on": "mars"}}, version="2.0.0", more=NOWHERE, timeout=SOON)
    seen = await site.installed(broken)
    assert (seen.state, seen.rolled_back, seen.version) == (AddonState.FAILED, True, "1.0.0")
    assert (seen.revision, seen.outdated, seen.reason) == (3, True, "ReleaseNotReady")
    assert seen.message.startswith("revision 2 did not get to work: Deployment addons/web: ")
    assert (await site.installed(site.addon("web", more=NOWHERE))).state is AddonState.HEALTHY


async def test_what_others_changed_is_told_or_repaired(site: Site) -> None:
    addon = site.addon("web")
    await site.installed(addon)
    changed = {"data": {"greeting": "s3cret"}}
    await site.cluster.client.patch(CONFIG_MAP, "web-config", changed, "addons")
    seen = await site.look(addon)
    assert (seen.state, seen.outdated) == (AddonState.DEGRADED, False)
    assert seen.message == "changed by others: ConfigMap addons/web-config: data.greeting"
    seen = await site.look(addon, repair=True)
    assert seen.state is AddonState.HEALTHY
    assert seen.message == "repaired: ConfigMap addons/web-config: data.greeting"
    assert seen.repaired == "ConfigMap addons/web-config: data.greeting"
    assert (await site.world.data() or {})["greeting"] == "hello"
    seen = await site.look(addon, repair=True)
    assert (seen.state, seen.message, seen.revision) == (AddonState.HEALTHY, "", 1)


async def test_what_is_deleted_is_brought_back(site: Site, workloads: Workloads) -> None:
    addon = site.addon("web", more=DEPLOYED)
    await site.installed(addon)
    await site.cluster.client.delete(DEPLOYMENT, "web", "addons")
    assert (await site.look(addon)).message.startswith("changed by others: Deployment addons/web: missing")
    assert (await site.look(addon, repair=True)).message.startswith("repaired: Deployment addons/web: missing")
    assert await site.is_there(DEPLOYMENT, "web")


async def test_objects_come_after_what_serves_them(site: Site, workloads: Workloads) -> None:
    addon = site.addon("web", more=charts.WHOLE, resources=(gadget(1),))
    assert (await site.installed(addon)).state is AddonState.HEALTHY
    assert await site.is_there(GADGET, "pool")
    await site.cluster.client.delete(GADGET, "pool", "addons")
    looked = await site.look(addon)
    assert (looked.message, looked.outdated) == ("missing: Gadget addons/pool", True)
    assert not (await site.look(addon, repair=True)).outdated
    assert await site.is_there(GADGET, "pool")


async def test_objects_of_what_nodes_wait_for_come_when_it_works(site: Site) -> None:
    addon = site.addon("web", more=charts.WHOLE, resources=(gadget(1),), for_nodes=True)
    assert (await site.installed(addon)).state is AddonState.INSTALLING
    assert not await site.is_there(GADGET, "pool")


async def test_what_an_api_refuses_is_not_repeated(
    site: Site, workloads: Workloads, caplog: pytest.LogCaptureFixture
) -> None:
    token = "c2VjcmV0LW5vLWJhc2U2NA=!"
    wrong = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"token": token}}
    secret = site.addon("web", more=charts.WHOLE, secrets=(wrong,))
    seen = await site.installed(secret)
    assert (seen.state, seen.reason) == (AddonState.FAILED, "ObjectRefused")
    assert "Secret addons/x: the API server says " in seen.message
    resources = site.addon("web", more=charts.WHOLE, resources=(gadget(987654),))
    refused = await site.installed(resources)
    assert (refused.state, refused.outdated) == (AddonState.FAILED, True)
    assert refused.message == "web: Gadget addons/pool: the API server says Invalid about spec.size"
    told = f"{seen} {refused} {await site.look(secret, repair=True)} {await site.look(resources)} {caplog.text}"
    assert token not in told
    assert "987654" not in told


async def test_secrets_are_before_the_release_in_whatever_namespace(site: Site) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "cloud", "namespace": "elsewhere"},
        "stringData": {"token": "s3cret-token"},
    }
    seen = await site.installed(site.addon("web", secrets=(secret,)))
    assert seen.state is AddonState.HEALTHY
    assert await site.is_there(SECRET, "cloud", "elsewhere")
    assert "s3cret-token" not in repr(site.addon("web", secrets=(secret,)))


async def test_a_value_is_in_no_message(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    more = {"templates/fail.yaml": '{{ fail (printf "bad password %s" .Values.password) }}'}
    seen = await site.installed(site.addon("web", {"password": "open-sesame"}, more=more))
    assert (seen.state, seen.reason) == (AddonState.FAILED, "RenderFailed")
    assert "bad password ***" in seen.message
    assert "open-sesame" not in f"{seen}{caplog.text}"


async def test_a_cluster_that_does_not_answer_is_no_fault_of_addons(site: Site) -> None:
    addon = site.addon("web")
    await site.installed(addon)
    config = site.cluster.config
    nowhere = replace(config, cluster=replace(config.cluster, server="https://127.0.0.1:1"))
    async with HttpClient(nowhere) as client:
        silent = Cluster(config, client)
        with pytest.raises(ServiceUnavailable):
            await site.installer.look(silent, [addon], repair=True)
        with pytest.raises(ServiceUnavailable):
            await site.installer.install(silent, [addon])
        with pytest.raises(ServiceUnavailable):
            await site.installer.remove(silent, addon.place)


async def test_looking_costs_no_run_of_helm_and_few_requests(site: Site) -> None:
    addon = site.addon("web")
    await site.installed(addon)
    runs, client = site.runs, Counted(site.cluster.client)
    await site.installer.look(Cluster(site.cluster.config, client), [addon], repair=True)
    assert site.runs == runs
    assert client.calls == {"Secret": 1, "ConfigMap": 1}
