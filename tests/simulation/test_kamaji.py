"""Kamaji's stand-in and its Cluster API provider's, on a real server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from butler.engines.capi.kinds import Cluster
from butler.engines.core import Secret
from butler.engines.kamaji.kinds import KamajiControlPlane, TenantControlPlane
from butler.local.installation import CLUSTER_ROLE_BINDING, NAMESPACE
from butler.simulation.delays import REALISTIC
from butler.simulation.kamaji.addons import DAEMON_SET, DEPLOYMENT, SERVICE
from butler.simulation.kamaji.control_planes import TenantControlPlanes
from butler.simulation.kamaji.kubeadm import CONFIG_MAP
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.client.kubeconfig import parse
from kubekit.client.protocol import Selection
from kubekit.server.client import DirectClient
from tests.simulation.kamaji_world import (
    ADDONS,
    NS,
    World,
    ask,
    provisioned,
    spell,
    wanted_cluster,
    wanted_control_plane,
    world,
)


def config_of(secret: Secret, key: str) -> Config:
    return parse(secret.data[key], Path("kubeconfig")).config()


async def served_version(config: Config) -> str:
    async with HttpClient(config) as client:
        return (await client.version()).git_version


def with_meta(obj: Any, **meta: Any) -> Any:
    return structs.replace(obj, metadata=structs.replace(obj.metadata, **meta))


async def change(world: World, **spec: Any) -> None:
    await world.client.patch(KamajiControlPlane, "shop", {"spec": spec}, NS)


async def test_a_control_plane_that_is_asked_for_becomes_ready(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        status = (await here.ready()).status
        assert status.initialization
        assert status.initialization.control_plane_initialized
        assert (status.version, status.replicas, status.ready_replicas) == ("v1.31.4", 2, 2)
        assert status.external_managed_control_plane
        assert {one.type: one.status for one in status.conditions} == {
            "TenantControlPlaneCreated": "True",
            "TenantControlPlaneAddressReady": "True",
            "KamajiControlPlaneIsInitialized": "True",
            "KubeadmResourcesCreated": "True",
            "KamajiControlPlaneIsReady": "True",
            "Available": "True",
        }


async def test_that_takes_few_writes(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        await here.quiet()
        assert spell(here.written.writes) == [
            "create tenantcontrolplanes shop",
            "create secrets shop-admin-kubeconfig",
            "create secrets shop-ca",
            "patch tenantcontrolplanes shop status",
            "create secrets shop-kubeconfig",
            "patch kamajicontrolplanes shop status",
        ]


async def test_the_tenant_control_plane_says_where_everything_is(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        plane = await here.find(TenantControlPlane, "shop")
        status = plane.status
        assert status.control_plane_endpoint == here.server.url.removeprefix("https://")
        assert status.kubernetes_resources.version.status == "Ready"
        assert status.kubeconfig.admin.secret_name == "shop-admin-kubeconfig"
        assert status.certificates.ca.secret_name == "shop-ca"
        assert plane.spec.network_profile.pod_cidr == "10.200.0.0/16"
        assert plane.spec.network_profile.service_cidr == "10.201.0.0/16"


@pytest.mark.parametrize(
    ("secret", "key"),
    [("shop-kubeconfig", "value"), ("shop-admin-kubeconfig", "admin.conf"), ("shop-admin-kubeconfig", "admin.svc")],
)
async def test_the_kubeconfigs_open_an_api_of_the_right_version(tmp_path: Path, secret: str, key: str) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        assert await served_version(config_of(await here.find(Secret, secret), key)) == "v1.31.4"


async def test_the_secrets_are_labelled_and_owned_as_by_kamaji(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        admin, copy = [await here.find(Secret, f"shop-{name}") for name in ("admin-kubeconfig", "kubeconfig")]
        assert admin.metadata.labels["kamaji.clastix.io/component"] == "admin-kubeconfig"
        assert [owner.kind for owner in admin.metadata.owner_references] == ["TenantControlPlane"]
        assert copy.type == "cluster.x-k8s.io/secret"
        assert copy.metadata.labels["cluster.x-k8s.io/cluster-name"] == "shop"
        assert [owner.kind for owner in copy.metadata.owner_references] == ["KamajiControlPlane"]


async def test_the_authority_can_sign_for_the_tenant_and_recognise_the_server(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        data = (await here.find(Secret, "shop-ca")).data
        assert data["tls.crt"] == data["ca.crt"]
        own = here.server.spaces[NS].access.authority.pair
        assert data["tls.crt"].startswith(own.certificate[own.certificate.index(b"-----") :].rstrip())
        assert data["tls.key"] == own.key
        root = here.server.pki.server_authority
        assert data["tls.crt"].endswith(root[root.index(b"-----") :])


async def test_nothing_happens_before_cluster_api_takes_the_control_plane_over(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await here.client.create({"metadata": {"name": NS}}, NAMESPACE)
        cluster = await here.client.create(wanted_cluster())
        alone = with_meta(wanted_control_plane(cluster), owner_references=())
        await here.client.create(alone)
        await here.quiet()
        assert here.written.writes == []


async def test_a_control_plane_waits_for_the_infrastructure(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await here.client.create({"metadata": {"name": NS}}, NAMESPACE)
        cluster = await here.client.create(wanted_cluster())
        await here.client.create(wanted_control_plane(cluster))
        waiting = await here.until(
            KamajiControlPlane, "shop", lambda found: found.status.condition("TenantControlPlaneAddressReady")
        )
        assert (waiting.status.ready, waiting.status.initialization) == (False, None)
        assert await here.find(Secret, "shop-kubeconfig") is None
        await provisioned(here.client)
        assert (await here.ready()).status.initialization is not None


async def test_a_paused_cluster_is_left_alone(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await here.client.create({"metadata": {"name": NS}}, NAMESPACE)
        cluster = await here.client.create(wanted_cluster())
        await here.client.patch(Cluster, "shop", {"spec": {"paused": True}}, NS)
        await here.client.create(wanted_control_plane(cluster))
        await here.until(KamajiControlPlane, "shop", lambda found: found.status.condition("Paused"))
        assert await here.find(TenantControlPlane, "shop") is None
        await here.client.patch(Cluster, "shop", {"spec": {"paused": None}}, NS)
        await provisioned(here.client)
        assert (await here.ready()).status.condition("Paused") is None


async def test_the_tenant_has_what_kubeadm_leaves_behind(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        tenant = DirectClient(here.server.spaces[NS])
        settings = await tenant.get(CONFIG_MAP, "kubeadm-config", "kube-system")
        assert "kubernetesVersion: v1.31.4" in settings["data"]["ClusterConfiguration"]
        kubelet = await tenant.get(CONFIG_MAP, "kubelet-config", "kube-system")
        assert "- 10.201.0.10" in kubelet["data"]["kubelet"]
        info = await tenant.get(CONFIG_MAP, "cluster-info", "kube-public")
        assert f"server: {here.server.url}/clusters/{NS}\n" in info["data"]["kubeconfig"]
        await tenant.get(CLUSTER_ROLE_BINDING, "kubeadm:kubelet-bootstrap")
        assert not (await tenant.list(DEPLOYMENT)).items
        assert not (await tenant.list(DAEMON_SET)).items


async def test_the_addons_that_are_asked_for_are_there(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client, addons=ADDONS)
        await here.ready()
        tenant = DirectClient(here.server.spaces[NS])
        proxy = await tenant.get(DAEMON_SET, "kube-proxy", "kube-system")
        assert proxy["spec"]["template"]["spec"]["containers"][0]["image"].endswith("/kube-proxy:v1.31.4")
        await tenant.get(DEPLOYMENT, "coredns", "kube-system")
        assert (await tenant.get(SERVICE, "kube-dns", "kube-system"))["spec"]["clusterIP"] == "10.201.0.10"


@pytest.mark.parametrize(
    ("first", "then", "enabled"), [({}, ADDONS, True), (ADDONS, {"coreDNS": None, "kubeProxy": None}, False)]
)
async def test_an_addon_comes_and_goes_with_the_wish_for_it(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], enabled: bool
) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client, addons=first)
        await here.ready()
        await change(here, addons=then)
        await here.until(TenantControlPlane, "shop", lambda found: found.status.addons.core_dns.enabled is enabled)
        tenant = DirectClient(here.server.spaces[NS])
        assert bool((await tenant.list(DEPLOYMENT)).items) is enabled
        assert bool((await tenant.list(DAEMON_SET)).items) is enabled


async def test_an_upgrade_reaches_the_api_and_what_is_in_it(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client, addons=ADDONS)
        await here.ready("v1.31.4")
        await change(here, version="v1.32.1")
        await here.ready("v1.32.1")
        assert await served_version(config_of(await here.find(Secret, "shop-kubeconfig"), "value")) == "v1.32.1"
        tenant = DirectClient(here.server.spaces[NS])
        settings = await tenant.get(CONFIG_MAP, "kubeadm-config", "kube-system")
        assert "kubernetesVersion: v1.32.1" in settings["data"]["ClusterConfiguration"]
        proxy = await tenant.get(DAEMON_SET, "kube-proxy", "kube-system")
        assert proxy["spec"]["template"]["spec"]["containers"][0]["image"].endswith("/kube-proxy:v1.32.1")


@pytest.mark.parametrize("version", ["v1.33.0", "v1.30.8"])
async def test_a_version_that_kamaji_refuses_changes_nothing_but_a_condition(tmp_path: Path, version: str) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        await change(here, version=version)
        refused = await here.until(
            KamajiControlPlane,
            "shop",
            lambda found: found.status.condition("TenantControlPlaneCreated").status == "False",
        )
        assert version in refused.status.condition("TenantControlPlaneCreated").message
        assert (refused.status.ready, refused.status.version) == (True, "v1.31.4")
        assert (await here.find(TenantControlPlane, "shop")).spec.kubernetes.version == "v1.31.4"
        await change(here, version="v1.31.4")
        await here.until(
            KamajiControlPlane,
            "shop",
            lambda found: found.status.condition("TenantControlPlaneCreated").status == "True",
        )


async def test_what_is_no_version_is_refused_at_once(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client, "latest")
        refused = await here.until(
            KamajiControlPlane, "shop", lambda found: found.status.condition("TenantControlPlaneCreated")
        )
        assert "latest" in refused.status.condition("TenantControlPlaneCreated").message
        assert await here.find(TenantControlPlane, "shop") is None


async def test_a_tenant_control_plane_that_is_told_to_skip_a_minor_stays_as_it_is(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        await here.client.delete(KamajiControlPlane, "shop", NS, propagation="Orphan")
        await here.until(KamajiControlPlane, "shop", lambda found: found is None)
        skipping = {"spec": {"kubernetes": {"version": "v1.33.0"}}}
        await here.client.patch(TenantControlPlane, "shop", skipping, NS)
        await here.quiet()
        version = (await here.find(TenantControlPlane, "shop")).status.kubernetes_resources.version
        assert (version.version, version.status) == ("v1.31.4", "Ready")


async def test_replicas_are_passed_on(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        await change(here, replicas=3)
        scaled = await here.until(KamajiControlPlane, "shop", lambda found: found.status.ready_replicas == 3)
        assert (scaled.status.replicas, scaled.status.up_to_date_replicas) == (3, 3)


async def test_a_secret_that_is_deleted_is_made_anew(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        for name in ("shop-kubeconfig", "shop-admin-kubeconfig", "shop-ca"):
            before = await here.find(Secret, name)
            await here.client.delete(Secret, name, NS)
            after = await here.until(Secret, name, lambda found: found is not None)
            assert after.metadata.uid != before.metadata.uid


async def test_an_idle_control_plane_is_never_written_again(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client, addons=ADDONS)
        await here.ready()
        await here.quiet()
        before, inside = len(here.written.writes), len(here.tenant_writes)
        # Something that wakes both, and concerns neither.
        await here.client.patch(Cluster, "shop", {"metadata": {"labels": {"seen": "yes"}}}, NS)
        await here.client.patch(TenantControlPlane, "shop", {"metadata": {"annotations": {"seen": "yes"}}}, NS)
        await here.quiet()
        assert (len(here.written.writes), len(here.tenant_writes)) == (before, inside)


async def test_a_second_control_plane_in_a_namespace_is_refused_and_harms_nobody(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        first = await here.find(TenantControlPlane, "shop")
        meta = {"name": "rival", "namespace": NS}
        spec = {"controlPlane": {"service": {"serviceType": "ClusterIP"}}, "kubernetes": {"version": "v1.31.4"}}
        await here.client.create({"metadata": meta, "spec": spec}, TenantControlPlane.address)
        await here.until(TenantControlPlane, "rival", lambda found: bool(found.metadata.finalizers))
        await here.quiet()
        await here.client.delete(TenantControlPlane, "rival", NS)
        await here.until(TenantControlPlane, "rival", lambda found: found is None)
        assert here.tenants.get(NS) is not None
        assert (await here.find(TenantControlPlane, "shop")).status == first.status


async def test_deleting_the_control_plane_leaves_nothing_behind(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        await here.client.delete(KamajiControlPlane, "shop", NS)
        await here.until(TenantControlPlane, "shop", lambda found: found is None)
        for name in ("shop-kubeconfig", "shop-admin-kubeconfig", "shop-ca"):
            await here.until(Secret, name, lambda found: found is None)
        assert here.tenants.get(NS) is None
        assert NS not in here.server.store.spaces()


async def test_a_control_plane_that_goes_takes_its_time(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        plane = await here.find(TenantControlPlane, "shop")
        began = datetime(2026, 3, 1, tzinfo=UTC)
        going = with_meta(plane, deletion_timestamp=began)
        slow = TenantControlPlanes(here.manager, here.tenants, REALISTIC, At(began + timedelta(seconds=0.25)))
        assert (await slow.finalize(going)).again == timedelta(seconds=REALISTIC.removal - 0.25)
        assert here.tenants.get(NS) is not None


class At:
    """A clock that stands still."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody waits here")


async def everything(here: World) -> dict[str, Any]:
    """All there is, without what differs from one time to the next."""
    secrets = await here.client.list(Secret, Selection(namespace=NS))
    plane = await here.find(TenantControlPlane, "shop")
    tenant = DirectClient(here.server.spaces[NS])
    inside = [(await tenant.list(kind)).items for kind in (CONFIG_MAP, CLUSTER_ROLE_BINDING, DEPLOYMENT)]
    return {
        "secrets": sorted((secret.metadata.name, tuple(secret.data)) for secret in secrets.items),
        "version": plane.status.kubernetes_resources.version,
        "conditions": [(one.type, one.status) for one in (await here.ready()).status.conditions],
        "inside": [sorted(item["metadata"]["name"] for item in items) for items in inside],
        "apis": sorted(here.server.spaces),
    }


async def undisturbed(data: Path) -> dict[str, Any]:
    async with world(data) as here:
        await ask(here.client, addons=ADDONS)
        await here.ready()
        return await everything(here)


@pytest.mark.parametrize("answers", [True, False], ids=["before the next write", "before the answer"])
@pytest.mark.parametrize("lives", range(1, 7))
async def test_after_a_crash_everything_ends_as_if_there_had_been_none(
    tmp_path: Path, lives: int, answers: bool
) -> None:
    async with world(tmp_path / "data", lives=lives, answers=answers) as here:
        await ask(here.client, addons=ADDONS)
        if lives < 6 or not answers:
            await here.written.died.wait()
    async with world(tmp_path / "data") as here:
        await here.ready()
        await here.quiet()
        assert await everything(here) == await undisturbed(tmp_path / "calm")


@pytest.mark.parametrize("lives", [0, 1, 4, 7])
async def test_a_crash_while_the_tenant_is_filled_does_no_harm(tmp_path: Path, lives: int) -> None:
    async with world(tmp_path / "data", tenant_lives=lives) as here:
        await ask(here.client, addons=ADDONS)
        await here.died_inside.wait()
    async with world(tmp_path / "data") as here:
        await here.ready()
        assert await everything(here) == await undisturbed(tmp_path / "calm")


@pytest.mark.parametrize("lives", range(3))
async def test_a_crash_while_it_goes_leaves_nothing_behind_either(tmp_path: Path, lives: int) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
    async with world(tmp_path / "data", lives=lives) as here:
        await here.client.delete(TenantControlPlane, "shop", NS)
        await here.client.delete(KamajiControlPlane, "shop", NS)
        if lives == 0:
            await here.written.died.wait()
    async with world(tmp_path / "data") as here:
        await here.until(TenantControlPlane, "shop", lambda found: found is None)
        assert NS not in here.server.store.spaces()


async def test_a_restart_on_the_same_port_writes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client, addons=ADDONS)
        await here.ready()
        port = here.server.port
    async with world(tmp_path / "data", port=port) as here:
        await here.ready()
        await here.quiet()
        assert (here.written.writes, here.tenant_writes) == ([], [])
        assert await served_version(config_of(await here.find(Secret, "shop-kubeconfig"), "value")) == "v1.31.4"


@pytest.mark.parametrize(("secret", "key"), [("shop-admin-kubeconfig", "admin.conf"), ("shop-kubeconfig", "value")])
async def test_a_restart_on_another_port_rewrites_the_kubeconfigs(tmp_path: Path, secret: str, key: str) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
        old = here.server.url
    async with world(tmp_path / "data") as here:
        assert here.server.url != old
        moved = await here.until(
            Secret, secret, lambda found: config_of(found, key).cluster.server.startswith(here.server.url)
        )
        assert await served_version(config_of(moved, key)) == "v1.31.4"


async def test_a_restart_on_another_port_is_told_everywhere(tmp_path: Path) -> None:
    async with world(tmp_path / "data") as here:
        await ask(here.client)
        await here.ready()
    async with world(tmp_path / "data") as here:
        endpoint = here.server.url.removeprefix("https://")
        plane = await here.until(
            TenantControlPlane, "shop", lambda found: found.status.control_plane_endpoint == endpoint
        )
        assert plane.status.kubernetes_resources.version.status == "Ready"
        info = await DirectClient(here.server.spaces[NS]).get(CONFIG_MAP, "cluster-info", "kube-public")
        assert f"server: {here.server.url}/clusters/{NS}\n" in info["data"]["kubeconfig"]
