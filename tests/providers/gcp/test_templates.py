"""The Cluster API objects of workers on Google Cloud."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.gcp import GcpSection
from butler.api.shared import ProviderType, SecretRef
from butler.controllers.cluster.steps.infrastructure import Infrastructure
from butler.providers import registry
from butler.providers.contract import Blueprint, Pool
from butler.providers.gcp.templates import ClusterTemplates
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import ObjectMeta
from tests.controllers.clusters import cluster, scope_of, surroundings
from tests.controllers.test_cluster_steps import control_plane

POOL = Pool("", 4, "16Gi", "50Gi")


def blueprint(override: dict[str, Any] | None = None, **section: Any) -> Blueprint:
    given = {"project_id": "my-project", "region": "europe-west3", "image": "ubuntu-2404-k8s", **section}
    spec = ProviderConfigSpec(
        provider=ProviderType.GCP, credentials_ref=SecretRef(name="gcp-credentials"), gcp=GcpSection(**given)
    )
    config = ProviderConfig(metadata=ObjectMeta(name="google", namespace="butler-system"), spec=spec)
    return Blueprint("shop", "shop-1234", normalise(config), "v1.33.4", (POOL,), override or {})


def test_a_small_cluster_is_made_of_these_objects() -> None:
    templates = ClusterTemplates()
    assert templates.cluster(blueprint()) == {
        "project": "my-project",
        "region": "europe-west3",
        "network": {"name": "default"},
        "credentialsRef": {"name": "gcp-credentials", "namespace": "butler-system"},
    }
    assert templates.machine(blueprint(), POOL) == {
        "instanceType": "e2-standard-4",
        "image": "projects/my-project/global/images/ubuntu-2404-k8s",
        "rootDeviceSize": 50,
        "rootDeviceType": "pd-balanced",
        "publicIP": True,
    }
    assert templates.joining(blueprint(), POOL) == {
        "joinConfiguration": {
            "nodeRegistration": {
                "name": '{{ ds.meta_data.local_hostname.split(".")[0] }}',
                "kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}],
            }
        }
    }
    assert templates.extras(blueprint()) == ()


def test_everything_the_section_says_reaches_the_machines() -> None:
    wanted = blueprint(
        network="projects/host/global/networks/shared",
        subnetwork="projects/host/regions/europe-west3/subnetworks/nodes",
        image=None,
        image_family="ubuntu-k8s",
        image_project="images",
        machine_type="c3-standard-8",
        disk_type="hyperdisk-balanced",
        service_account="nodes@my-project.iam.gserviceaccount.com",
        tags=("k8s",),
        public_ip=False,
        endpoint="https://compute-psc.p.googleapis.com",
    )
    templates = ClusterTemplates()
    assert templates.cluster(wanted)["network"] == {"name": "shared", "hostProject": "host"}
    assert templates.cluster(wanted)["serviceEndpoints"] == {
        "compute": "https://compute-psc.p.googleapis.com/compute/v1/"
    }
    assert templates.machine(wanted, POOL) == {
        "instanceType": "c3-standard-8",
        "imageFamily": "projects/images/global/images/family/ubuntu-k8s",
        "rootDeviceSize": 50,
        "rootDeviceType": "hyperdisk-balanced",
        "publicIP": False,
        "subnet": "nodes",
        "additionalNetworkTags": ["k8s"],
        "serviceAccounts": {
            "email": "nodes@my-project.iam.gserviceaccount.com",
            "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        },
    }


def test_a_cluster_may_differ_from_the_provider_config() -> None:
    override = {"machineType": "n2-standard-8", "imageFamily": "edge", "subnetwork": "edge", "zone": "europe-west3-c"}
    wanted = blueprint(override, network="prod")
    machine = ClusterTemplates().machine(wanted, POOL)
    assert (machine["instanceType"], machine["subnet"]) == ("n2-standard-8", "edge")
    assert machine["imageFamily"] == "projects/my-project/global/images/family/edge"
    assert ClusterTemplates().cluster_status(wanted)["failureDomains"] == {"europe-west3-c": {"controlPlane": False}}


def test_the_image_of_a_pool_wins() -> None:
    wanted = blueprint({"image": "of-the-cluster"})
    machine = ClusterTemplates().machine(wanted, replace(POOL, image="of-the-pool"))
    assert machine["image"] == "projects/my-project/global/images/of-the-pool"


@pytest.mark.parametrize(
    ("section", "pool", "path"),
    [
        ({"image": None}, POOL, "spec.gcp.image"),
        ({}, replace(POOL, cpu=128, memory="4Ti"), "spec.gcp.machineType"),
        ({"subnetwork": "nodes"}, POOL, "spec.gcp.network"),
    ],
)
def test_what_workers_cannot_do_without_is_named(section: dict[str, Any], pool: Pool, path: str) -> None:
    templates, wanted = ClusterTemplates(), blueprint(**section)
    with pytest.raises(InvalidConfiguration) as raised:
        templates.cluster(wanted), templates.machine(wanted, pool)
    assert raised.value.path == path


def gcp_config() -> ProviderConfig:
    section = {"projectID": "my-project", "region": "europe-west3", "image": "ubuntu"}
    return msgspec.convert(
        {
            "kind": "ProviderConfig",
            "metadata": {"name": "google", "namespace": "butler-system"},
            "spec": {"provider": "gcp", "credentialsRef": {"name": "gcp-credentials"}, "gcp": section},
        },
        ProviderConfig,
    )


def test_butler_takes_the_place_of_the_controller_that_would_make_a_load_balancer() -> None:
    wanted = cluster(providerConfigRef={"name": "google"})
    made = Infrastructure().manifests(scope_of(wanted, surroundings(gcp_config())))
    before = next(one for one in made if one.kind.kind == "GCPCluster")
    assert before.body["metadata"]["annotations"]["cluster.x-k8s.io/managed-by"] == "butler"
    assert "status" not in before.body
    made = Infrastructure().manifests(scope_of(wanted, surroundings(gcp_config(), control_plane("v1.32.2"))))
    after = next(one for one in made if one.kind.kind == "GCPCluster")
    assert after.body["spec"]["controlPlaneEndpoint"] == {"host": "10.0.0.5", "port": 6443}
    assert after.body["status"] == {"ready": True, "failureDomains": {"europe-west3-a": {"controlPlane": False}}}


def test_templates_need_no_sdk() -> None:
    """They are looked at for every provider that is known, whether its SDK is installed or not."""
    code = (
        "import sys; from butler.providers import registry; registry.templates('gcp')\n"
        "print([name for name in sys.modules if name.startswith('google')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert registry.offers_clusters("gcp")
