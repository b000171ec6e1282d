"""A platform on a cluster that is there already, over HTTPS."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from butler.api.machine import MachineRequest
from butler.engines.capi.kinds import Cluster
from butler.engines.kamaji.kinds import TenantControlPlane
from butler.local import doctor, status
from butler.local.checks.finding import Verdict
from butler.local.home import Home
from butler.local.installation import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, install_definitions
from butler.local.on_cluster import attached, definitions, survey
from butler.local.platform import Options
from butler.simulation.delays import NONE
from kubekit.client import kubeconfig
from kubekit.client.config import Config, Impersonation
from kubekit.client.protocol import Client
from kubekit.model import crd
from kubekit.model.crd import DEFINITION
from kubekit.runtime.leader import LEASE
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.local.worlds import a_machine_request, create, destroy, is_gone, runs, until


def config_of(server: Server) -> Config:
    return kubeconfig.load(server.kubeconfig)


def place_in(tmp_path: Path) -> Home:
    return Home(tmp_path / "attached")


async def install_as_others(client: Client, *kinds: Any) -> None:
    """The definitions of kinds, as somebody else would install them."""
    for kind in kinds:
        definition = crd.definition(kind)
        await client.create({**definition, "metadata": {"name": kind.address.name}}, DEFINITION)


async def test_a_cluster_comes_to_life_on_an_existing_api(server: Server, tmp_path: Path) -> None:
    options = Options(delays=NONE)
    async with attached(place_in(tmp_path), options, config_of(server), simulate=True) as platform:
        await create(platform.client)
        await until(platform.client, runs("v1.31.4", 2))
        await destroy(platform.client)
        await until(platform.client, is_gone)
        assert platform.url == server.url
        assert platform.port != server.port


async def test_nothing_is_simulated_unless_that_is_asked_for(server: Server, tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match=r"lacks Cluster API .* Kamaji .*--simulate"):
        async with attached(place_in(tmp_path), Options(), config_of(server), simulate=False):
            pass
    assert (await DirectClient(server.root).list(DEFINITION)).items == ()


async def test_what_the_cluster_has_is_not_simulated(server: Server, tmp_path: Path) -> None:
    client = DirectClient(server.root)
    await install_as_others(client, TenantControlPlane)
    found = await survey(client)
    assert [engine.name for engine in found.real] == ["Kamaji"]
    assert TenantControlPlane not in definitions(found, True)
    assert Cluster in definitions(found, True)
    async with attached(place_in(tmp_path), Options(delays=NONE), config_of(server), simulate=True) as platform:
        names = {controller.name for manager in platform.managers for controller in manager.controllers}
        assert "tenantcontrolplanes" not in names
        assert "kamajicontrolplanes" in names
        assert "Kamaji: as the cluster has it." in platform.remarks
        assert any(remark.startswith("Cluster API: simulated, because") for remark in platform.remarks)


async def test_what_butler_installed_counts_as_absent(server: Server) -> None:
    client = DirectClient(server.root)
    await install_definitions(client, (TenantControlPlane, Cluster))
    assert (await survey(client)).real == ()


async def test_one_replica_leads(server: Server, tmp_path: Path) -> None:
    config = config_of(server)
    async with (
        attached(place_in(tmp_path / "one"), Options(delays=NONE), config, simulate=True) as first,
        attached(place_in(tmp_path / "two"), Options(delays=NONE), config, simulate=True) as second,
    ):
        leases = (await DirectClient(server.root).list(LEASE)).items
        assert {lease["metadata"]["name"] for lease in leases} == {"butler-controller", "butler-simulation"}
        assert [manager.leadership is not None and manager.leadership.holds() for manager in first.managers] == [
            True
        ] * 2
        assert [manager.leadership is not None and manager.leadership.holds() for manager in second.managers] == [
            False
        ] * 2


async def someone(server: Server, *rules: dict[str, Any]) -> Config:
    """Somebody who may do just this."""
    client = DirectClient(server.root)
    role = {"metadata": {"name": "jane"}, "rules": list(rules)}
    subject = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
    ref = {"kind": "ClusterRole", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
    await client.create(role, CLUSTER_ROLE)
    await client.create({"metadata": {"name": "jane"}, "roleRef": ref, "subjects": [subject]}, CLUSTER_ROLE_BINDING)
    config = config_of(server)
    return replace(config, user=replace(config.user, impersonation=Impersonation(user="jane")))


LOOKING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}


async def test_rights_that_are_missing_are_named_before_anything_is_written(server: Server, tmp_path: Path) -> None:
    config = await someone(server, LOOKING)
    with pytest.raises(click.ClickException) as refused:
        async with attached(place_in(tmp_path), Options(delays=NONE), config, simulate=True):
            pass
    assert "customresourcedefinitions.apiextensions.k8s.io: create, patch" in refused.value.message
    assert "namespaces: create, patch" in refused.value.message
    assert (await DirectClient(server.root).list(DEFINITION)).items == ()


async def test_rights_of_the_controllers_are_looked_at_before_anything_is_written(
    server: Server, tmp_path: Path
) -> None:
    groups = ["", "apiextensions.k8s.io", "admissionregistration.k8s.io", "butler.butlerlabs.dev"]
    writing = {"apiGroups": groups, "resources": ["*"], "verbs": ["create", "patch"]}
    config = await someone(server, LOOKING, writing)
    with pytest.raises(click.ClickException) as refused:
        async with attached(place_in(tmp_path), Options(delays=NONE), config, simulate=True):
            pass
    assert "machinedeployments.cluster.x-k8s.io: create, patch, delete" in refused.value.message
    assert "leases.coordination.k8s.io butler-controller in butler-system: patch" in refused.value.message
    assert "customresourcedefinitions" not in refused.value.message
    assert (await DirectClient(server.root).list(DEFINITION)).items == ()


async def test_a_port_that_is_taken_is_noticed_before_anything_is_written(server: Server, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="in use"):
        async with attached(place_in(tmp_path), Options(server.port), config_of(server), simulate=True):
            pass
    assert (await DirectClient(server.root).list(DEFINITION)).items == ()


async def test_a_platform_on_a_cluster_is_looked_at_by_its_kubeconfig(server: Server, tmp_path: Path) -> None:
    before = await status.collect_on_cluster(server.kubeconfig)
    assert before.problems == [f"this is no platform yet; `butleradm up --kubeconfig {server.kubeconfig}` makes it one"]
    ill = [one for one in await doctor.examine_cluster(server.kubeconfig) if one.verdict is Verdict.FAIL]
    assert [(one.subject, one.remedy) for one in ill] == [
        ("platform", f"start the controllers: `butleradm up --kubeconfig {server.kubeconfig}`")
    ]
    async with attached(place_in(tmp_path), Options(delays=NONE), config_of(server), simulate=True):
        report = await status.collect_on_cluster(server.kubeconfig)
        assert (report.running, report.healthy, report.clusters) == (True, True, {})
        assert (report.leader or "").endswith(" leads")
        findings = await doctor.examine_cluster(server.kubeconfig)
        assert {"API", "platform", "definitions", "controllers"} <= {one.subject for one in findings}
        assert [one for one in findings if one.verdict is Verdict.FAIL and one.subject != "definitions"] == []
    after = await status.collect_on_cluster(server.kubeconfig)
    assert (after.running, after.problems[0].startswith("controllers: none leads")) == (False, True)


async def test_a_remedy_for_a_platform_elsewhere_is_for_that_one(server: Server, tmp_path: Path) -> None:
    async with attached(place_in(tmp_path), Options(delays=NONE), config_of(server), simulate=True):
        pass
    client = DirectClient(server.root)
    await client.create(a_machine_request())
    failed = {"status": {"phase": "Failed", "failureMessage": "no space"}}
    await client.patch(MachineRequest, "cp-0", failed, "default", subresource="status")
    (request,) = [one for one in await doctor.examine_cluster(server.kubeconfig) if one.subject == "requests"]
    assert request.message == "default/cp-0 has failed: no space"
    assert f"describe machinerequest cp-0 -n default --kubeconfig {server.kubeconfig}`" in request.remedy
