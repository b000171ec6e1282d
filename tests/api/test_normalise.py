"""Both spellings mean the same, and a contradiction is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import yaml

from butler.api import KINDS
from butler.api.bootstrap import ClusterBootstrap
from butler.api.cluster import TenantCluster
from butler.api.machine import MachineRequest, MachineRole
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.sections.nutanix import Entity, NutanixSection
from butler.api.shared import IPRange, IPv4Range, ProviderRef, ProviderType, SecretRef
from kubekit.errors import InvalidConfiguration

Document = Callable[..., dict[str, Any]]
Read = Callable[[dict[str, Any]], Any]
BY_KIND = {kind.address.kind: kind for kind in KINDS}

UUID = "11111111-2222-3333-4444-555555555555"


def made(kind: str, spec: str, namespace: str = "home") -> Any:
    """The canonical form of an object whose spec is written as YAML."""
    metadata = {"name": "x", "namespace": namespace}
    return normalise(msgspec.convert({"metadata": metadata, "spec": yaml.safe_load(spec)}, BY_KIND[kind]))


def refusal(kind: str, spec: str) -> str:
    with pytest.raises(InvalidConfiguration) as refused:
        made(kind, spec)
    assert not refused.value.retryable
    return str(refused.value)


def test_a_nested_harvester_config_becomes_a_flat_one(document: Document, read: Read) -> None:
    config: ProviderConfig = normalise(read(document("providerconfig-harvester-nested")))
    assert (config.spec.provider, config.spec.type) == (ProviderType.HARVESTER, None)
    assert config.spec.credentials_ref == SecretRef(name="harvester-kubeconfig", namespace="butler-system")
    section = config.spec.harvester
    assert section is not None
    assert section.credentials_ref is None
    assert (section.namespace, section.network_name, section.image_name) == (
        "default", "default/workloads", "default/talos-1.9",
    )  # fmt: skip


def test_credentials_are_looked_for_beside_the_provider_config(document: Document, read: Read) -> None:
    config: ProviderConfig = normalise(read(document("providerconfig-harvester")))
    assert config.spec.credentials_ref == SecretRef(name="harvester-kubeconfig", namespace="butler-system")


def test_prism_central_becomes_an_endpoint_and_names_stay_names(document: Document, read: Read) -> None:
    config: ProviderConfig = normalise(read(document("providerconfig-nutanix")))
    assert config.spec.credentials_ref == SecretRef(name="nutanix-credentials", namespace="butler-system")
    assert config.spec.nutanix == NutanixSection(
        endpoint="https://prism-central.example.com",
        port=9440,
        insecure=False,
        cluster=Entity(name="cluster-01"),
        subnet=Entity(name="workload-subnet"),
        image=Entity(name="talos-1.9"),
    )


def test_the_documented_insecure_patch_takes_effect(document: Document, read: Read) -> None:
    config: ProviderConfig = normalise(read(document("providerconfig-nutanix", "nutanix-insecure")))
    assert config.spec.nutanix is not None
    assert config.spec.nutanix.insecure is True


FLAT = f"provider: nutanix\nnutanix: {{endpoint: 'https://pc', clusterUUID: {UUID}, subnetUUID: {UUID}, port: 9440"


def test_prism_central_settings_win_over_flat_ones() -> None:
    config = made("ProviderConfig", FLAT + ", insecure: false, prismCentral: {port: 9441, insecure: true}}")
    assert (config.spec.nutanix.port, config.spec.nutanix.insecure) == (9441, True)


def test_what_the_credentials_may_still_say_stays_open() -> None:
    config = made("ProviderConfig", "type: nutanix\nnutanix: {prismCentral: {address: pc}}")
    assert (config.spec.nutanix.port, config.spec.nutanix.insecure) == (None, None)


@pytest.mark.parametrize(
    ("address", "endpoint", "port"),
    [
        ("pc.example.com", "https://pc.example.com", None),
        ("pc.example.com:9999", "https://pc.example.com", 9999),
        ("http://pc.example.com/", "http://pc.example.com", None),
        ("https://[2001:db8::1]:9440/", "https://[2001:db8::1]", 9440),
    ],
)
def test_an_address_is_a_host_or_a_url(address: str, endpoint: str, port: int | None) -> None:
    section = made("ProviderConfig", f"type: nutanix\nnutanix: {{prismCentral: {{address: '{address}'}}}}").spec.nutanix
    assert (section.endpoint, section.port) == (endpoint, port)


def test_an_address_without_a_host_is_refused() -> None:
    text = refusal("ProviderConfig", "type: nutanix\nnutanix: {prismCentral: {address: 'https://'}}")
    assert text == "ProviderConfig home/x: spec.nutanix.prismCentral.address: 'https://' names no host"


def test_a_port_that_is_no_number_is_refused() -> None:
    text = refusal("ProviderConfig", "type: nutanix\nnutanix: {prismCentral: {address: 'pc:door'}}")
    assert text.startswith("ProviderConfig home/x: spec.nutanix.prismCentral.address: ")


def test_a_uuid_needs_no_name() -> None:
    section = made("ProviderConfig", f"type: nutanix\nnutanix: {{cluster: {{name: c, uuid: {UUID}}}}}").spec.nutanix
    assert (section.cluster_uuid, section.cluster) == (UUID, None)


def test_an_image_uuid_that_is_none_is_a_name() -> None:
    section = made("ProviderConfig", "type: nutanix\nnutanix: {imageUUID: talos-1.9}").spec.nutanix
    assert (section.image_uuid, section.image) == (None, Entity(name="talos-1.9"))


def test_the_account_for_clusters_is_beside_its_config_too() -> None:
    config = made("ProviderConfig", "provider: aws\naws: {region: eu-west-1}\nclusterCredentialsRef: {name: s}")
    assert config.spec.cluster_credentials_ref == SecretRef(name="s", namespace="home")


def test_equal_spellings_are_accepted() -> None:
    config = made("ProviderConfig", "provider: aws\ntype: aws\naws: {region: eu-west-1}\ncredentialsRef: {name: s}")
    assert config.spec.provider is ProviderType.AWS


@pytest.mark.parametrize(
    ("kind", "spec", "text"),
    [
        (
            "ProviderConfig",
            "{provider: aws, type: gcp}",
            'spec.provider: is "aws", but spec.type, another name for it, is "gcp"',
        ),
        (
            "ProviderConfig",
            "{provider: aws, credentialsRef: {name: a}, aws: {region: r, credentialsRef: {name: b}}}",
            (
                'spec.credentialsRef: is {"name":"a","namespace":"home"}, '
                'but spec.aws.credentialsRef, another name for it, is {"name":"b","namespace":"home"}'
            ),
        ),
        (
            "TenantCluster",
            "{workers: {machineTemplate: {disk: 50Gi, diskSize: 40Gi}}}",
            (
                'spec.workers.machineTemplate.diskSize: is "40Gi", '
                'but spec.workers.machineTemplate.disk, another name for it, is "50Gi"'
            ),
        ),
        (
            "TenantCluster",
            "{networking: {loadBalancerPool: {start: 10.0.0.1, end: 10.0.0.2}}, platform: {metalLBPool: 10.0.0.9}}",
            (
                'spec.networking.loadBalancerPool: is [{"start":"10.0.0.1","end":"10.0.0.2"}], '
                'but spec.platform.metalLBPool, another name for it, is [{"start":"10.0.0.9","end":"10.0.0.9"}]'
            ),
        ),
        (
            "MachineRequest",
            "{machineName: m, role: worker, providerRef: {name: p}, cpu: 2, resources: {cpu: 4}}",
            "spec.cpu: is 2, but spec.resources.cpu, another name for it, is 4",
        ),
        (
            "Team",
            "{resourceLimits: {maxClusters: 2}, quotas: {maxClusters: 3}}",
            "spec.resourceLimits.maxClusters: is 2, but spec.quotas.maxClusters, another name for it, is 3",
        ),
    ],
    ids=["provider", "credentials", "disk", "pool", "cpu", "quota"],
)
def test_a_contradiction_names_both_fields_and_values(kind: str, spec: str, text: str) -> None:
    name = "Team home/x" if kind == "Team" else f"{kind} home/x"
    assert refusal(kind, spec) == f"{name}: {text}"


def test_a_provider_config_without_provider_is_refused() -> None:
    assert refusal("ProviderConfig", "{}") == "ProviderConfig home/x: spec.provider: is required"


def test_a_worker_size_may_say_disk(document: Document, read: Read) -> None:
    cluster: TenantCluster = normalise(read(document("provider-selection", "worker-override")))
    template = cluster.spec.workers.machine_template
    assert (template.cpu, template.memory, template.disk_size, template.disk) == (8, "16Gi", "100Gi", None)


def test_the_same_disk_in_other_units_is_no_contradiction() -> None:
    cluster = made("TenantCluster", "{workers: {machineTemplate: {disk: 1Gi, diskSize: 1024Mi}}}")
    assert cluster.spec.workers.machine_template.disk_size == "1024Mi"


def test_named_pools_may_say_disk_too() -> None:
    cluster = made("TenantCluster", "{workers: {pools: [{name: a, replicas: 1, machineTemplate: {disk: 9Gi}}]}}")
    assert cluster.spec.workers.pools[0].machine_template.disk_size == "9Gi"


def test_a_metallb_pool_is_a_load_balancer_pool(document: Document, read: Read) -> None:
    cluster: TenantCluster = normalise(read(document("provider-selection", "metallb-pool")))
    assert cluster.spec.networking.load_balancer_pool == IPRange(start="10.127.14.30", end="10.127.14.50")
    assert cluster.spec.platform is None


def test_an_address_pool_of_the_addon_is_a_load_balancer_pool() -> None:
    cluster = made("TenantCluster", "{addons: {loadBalancer: {addressPool: 10.0.0.0/30}}}")
    assert cluster.spec.networking.load_balancer_pool == IPRange(start="10.0.0.0", end="10.0.0.3")
    assert cluster.spec.addons.load_balancer.address_pool is None


def test_several_ranges_are_kept() -> None:
    cluster = made("TenantCluster", "{platform: {metalLBPool: '10.0.0.9, 10.0.0.1-10.0.0.2'}}")
    assert cluster.spec.networking.load_balancer_pool is None
    assert cluster.spec.platform.metal_lb_pool == "10.0.0.1-10.0.0.2,10.0.0.9-10.0.0.9"


def test_a_pool_that_is_no_pool_is_refused() -> None:
    text = refusal("TenantCluster", "{platform: {metalLBPool: all of them}}")
    assert text.startswith("TenantCluster home/x: spec.platform.metalLBPool: 'all of them' is not an IPv4 address")


def test_a_cluster_that_says_little_leaves_the_rest_to_defaults(document: Document, read: Read) -> None:
    cluster: TenantCluster = normalise(read(document("provider-selection")))
    assert (cluster.spec.kubernetes_version, cluster.spec.workers.replicas) == (None, None)


def bootstrap(document: Document, read: Read, *fragments: str) -> ClusterBootstrap:
    normal: ClusterBootstrap = normalise(read(document("../clusterbootstrap", *fragments)))
    return normal


def test_a_control_plane_endpoint_is_the_vip(document: Document, read: Read) -> None:
    network = bootstrap(document, read, "control-plane-vip", "metallb-pool").spec.network
    assert (network.vip, network.vip_interface) == ("10.127.14.29", "ens3")
    assert network.load_balancer_pool == IPv4Range(start="10.127.14.30", end="10.127.14.50")


BOOTSTRAP = """
provider: proxmox
providerRef: {name: p}
cluster:
  name: m
  controlPlane: {replicas: 1, machineTemplate: {cpu: 4, memory: 16Gi, diskSize: 100Gi}}
networking: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/12}
talos: {version: v1.9.2, schematic: abc}
"""


def test_older_bootstrap_names_are_understood() -> None:
    spec = made(
        "ClusterBootstrap", BOOTSTRAP + "platform: {cni: cilium}\ngitops: {enabled: true, provider: fluxcd}"
    ).spec
    pool = spec.cluster.control_plane
    assert (pool.cpu, pool.memory_mb, pool.disk_gb, pool.machine_template) == (4, 16384, 100, None)
    assert (spec.network.pod_cidr, spec.networking) == ("10.244.0.0/16", None)
    assert (spec.addons.cni.type, spec.addons.git_ops.type) == ("cilium", "flux")
    assert spec.provider_ref == ProviderRef(name="p", namespace="home")


@pytest.mark.parametrize(("endpoint", "kept"), [("a.example:6443", None), ("a.example:8443", "a.example:8443")])
def test_an_unusual_api_port_is_kept(endpoint: str, kept: str | None) -> None:
    spec = made(
        "ClusterBootstrap", BOOTSTRAP.replace("name: m\n", f"name: m\n  controlPlaneEndpoint: {endpoint}\n")
    ).spec
    assert (spec.network.vip, spec.cluster.control_plane_endpoint) == ("a.example", kept)


def test_an_addon_that_does_not_exist_is_refused() -> None:
    text = refusal("ClusterBootstrap", BOOTSTRAP + "platform: {cni: wires}")
    assert text == "ClusterBootstrap home/x: spec.platform.cni: 'wires' is not one of the addons there are"


def test_a_bootstrap_without_network_is_refused() -> None:
    without = BOOTSTRAP.replace("networking: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/12}\n", "")
    assert refusal("ClusterBootstrap", without) == "ClusterBootstrap home/x: spec.network: is required"


def test_older_machine_request_names_are_understood() -> None:
    request: MachineRequest = made(
        "MachineRequest",
        """
        {machineName: m, role: controlplane, providerConfigRef: {name: p},
         resources: {cpu: 4, memory: 8Gi, disk: 9Gi}}
        """,
    )
    spec = request.spec
    assert (spec.role, spec.provider_ref) == (MachineRole.CONTROL_PLANE, ProviderRef(name="p", namespace="home"))
    assert (spec.cpu, spec.memory_mb, spec.disk_gb, spec.resources) == (4, 8192, 9, None)


def test_a_machine_request_without_size_is_refused() -> None:
    text = refusal("MachineRequest", "{machineName: m, role: worker, providerRef: {name: p}}")
    assert text == "MachineRequest home/x: spec.cpu: is required"


@pytest.mark.parametrize("kind", ["LoadBalancerRequest", "ImageSync"])
def test_a_request_finds_its_provider_in_its_own_namespace(kind: str) -> None:
    rest = "clusterName: c" if kind == "LoadBalancerRequest" else "factoryRef: {schematicID: abcdefgh, version: v1}"
    assert made(kind, f"providerConfigRef: {{name: p}}\n{rest}").spec.provider_config_ref.namespace == "home"


def test_a_tenancy_mode_in_lower_case_is_understood() -> None:
    assert made("ButlerConfig", "{multiTenancy: {mode: enforced}}").spec.multi_tenancy.mode == "Enforced"


def test_the_default_provider_is_in_the_system_namespace() -> None:
    ref = made("ButlerConfig", "{defaultProviderConfigRef: {name: p}}").spec.default_provider_config_ref
    assert ref == ProviderRef(name="p", namespace="butler-system")


def test_older_team_names_are_understood() -> None:
    spec = made(
        "Team",
        """
        quotas: {maxClusters: 3, maxWorkersPerCluster: 5, maxTotalWorkers: 9}
        defaults:
          kubernetesVersion: v1.32.2
          workers: {replicas: 2, machineTemplate: {cpu: 2, memory: 8Gi, disk: 40Gi}}
        """,
    ).spec
    limits, defaults = spec.resource_limits, spec.cluster_defaults
    assert (limits.max_clusters, limits.max_nodes_per_cluster, limits.max_total_nodes) == (3, 5, 9)
    assert (defaults.kubernetes_version, defaults.worker_count) == ("v1.32.2", 2)
    assert (defaults.worker_cpu, defaults.worker_memory_gi, defaults.worker_disk_gi) == (2, 8, 40)


@pytest.mark.parametrize(
    ("written", "admin", "role"),
    [
        ("platformAdmin: true, isPlatformAdmin: false", True, "admin"),
        ("isPlatformAdmin: true, platformRole: viewer", True, "admin"),
        ("platformRole: viewer", False, "viewer"),
        ("platformRole: ''", False, None),
    ],
)
def test_the_higher_platform_right_counts(written: str, admin: bool, role: str | None) -> None:
    spec = made("User", f"{{email: a@example.com, {written}}}").spec
    assert (spec.is_platform_admin, spec.platform_role) == (admin, role)


def test_a_cluster_wide_policy_is_platform_wide() -> None:
    scope = made("ClusterCreationPolicy", "{scope: {clusterWide: {}}}").spec.scope
    assert scope.platform_wide is not None
    assert scope.cluster_wide is None


def test_a_kind_with_one_spelling_is_left_alone() -> None:
    pool = made("NetworkPool", "{cidr: 10.0.0.0/24}")
    assert normalise(pool) is pool
