"""The kinds of Cluster API, of its providers and of Kamaji are such that an API server takes them."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from butler.api.sections.aws import AwsIdentity
from butler.providers import registry
from butler.providers.contract import Blueprint, Pool
from butler.providers.gcp.templates import ClusterTemplates as GcpTemplates
from kubekit.model.resource import Address
from testbed.parts import MANIFESTS, Manifests
from testbed.running.embedded import Kubectl
from testbed.running.servers import Cluster
from tests.providers.aws.test_templates import blueprint as aws_blueprint
from tests.providers.azure.test_templates import blueprint as azure_blueprint
from tests.providers.gcp.test_templates import blueprint as gcp_blueprint
from tests.providers.harvester.harness import config as harvester_config
from tests.providers.nutanix.harness import PLACES as NUTANIX_PLACES
from tests.providers.nutanix.harness import config as nutanix_config
from tests.providers.proxmox.test_templates import blueprint as proxmox_blueprint
from tests.real import managers

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

each_provider = pytest.mark.parametrize("manifests", MANIFESTS, ids=lambda one: one.name)


@each_provider
def test_an_api_server_takes_their_definitions(manifests: Manifests, kubectl: Kubectl) -> None:
    definitions = managers.manifests(manifests.name, "crds")
    arguments = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-o", "name")
    taken = kubectl(*arguments, "-f", "-", stdin=managers.listed(definitions), timeout=60)
    assert taken.out.split() == [f"customresourcedefinition.apiextensions.k8s.io/{name_of(one)}" for one in definitions]
    assert [line for line in taken.err.splitlines() if "unrecognized format" not in line] == []


@each_provider
def test_the_newest_contract_they_follow_names_versions_that_are_served(manifests: Manifests) -> None:
    for definition in managers.manifests(manifests.name, "crds"):
        labels = definition["metadata"].get("labels", {})
        followed = {contract: labels.get(f"cluster.x-k8s.io/{contract}") for contract in manifests.contracts}
        assert followed == dict(manifests.contracts)
        served = {version["name"] for version in definition["spec"]["versions"] if version["served"]}
        assert not followed or served & set(followed[max(followed)].split("_")), name_of(definition)


POOL = Pool("", 4, "8Gi", "40Gi")


def harvester() -> Blueprint:
    return Blueprint("demo", "default", harvester_config(image_storage_class_name="lh-7"), "v1.33.4", (POOL,))


def nutanix() -> Blueprint:
    places = {**NUTANIX_PLACES, "tenant_credentials_name": "demo-nutanix"}
    return Blueprint("demo", "default", nutanix_config("https://prism.example.com", **places), "v1.33.4", (POOL,))


def gcp() -> Blueprint:
    places = {"subnetwork": "projects/host/regions/europe-west3/subnetworks/nodes", "network": "shared"}
    given = {"service_account": "nodes@x.iam.gserviceaccount.com", "tags": ("k8s",), "public_ip": False, **places}
    return gcp_blueprint(None, endpoint="https://compute-psc.p.googleapis.com", **given)


def azure() -> Blueprint:
    return azure_blueprint(image_urn="/CommunityGalleries/talos/Images/talos-x64/Versions/1.9.0")


def aws() -> Blueprint:
    identity = AwsIdentity(kind="AWSClusterStaticIdentity", name="butler")
    given = {"public_ip": False, "iam_instance_profile": "nodes", "kms_key_id": "alias/disks"}
    return aws_blueprint(image="talos-v1.9.*", image_owners=("540036508848",), identity_ref=identity, **given)


@pytest.mark.parametrize(
    ("kinds", "provider", "blueprint"),
    [
        ("kubevirt", "harvester", harvester),
        ("nutanix", "nutanix", nutanix),
        ("gcp", "gcp", gcp),
        ("azure", "azure", azure),
        ("aws", "aws", aws),
        ("proxmox", "proxmox", proxmox_blueprint),
    ],
)
def test_an_api_server_takes_the_objects_that_are_made_of_them(
    kinds: str, provider: str, blueprint: Callable[[], Blueprint], kubernetes: Cluster, kubectl: Kubectl
) -> None:
    definitions = managers.manifests(kinds, "crds")
    templates, wanted = registry.templates(provider), blueprint()
    objects = [
        *(made(kind, extra) for kind, extra in templates.extras(wanted)),
        made(templates.cluster_kind, {"spec": templates.cluster(wanted)}),
        made(templates.machine_template_kind, {"spec": {"template": {"spec": templates.machine(wanted, POOL)}}}),
        made(templates.machine_kind, {"spec": templates.machine(wanted, POOL)}),
    ]
    with managers.installed(kubernetes, definitions):
        names = [name_of(one) for one in definitions]
        kubectl("wait", "--for=condition=Established", "crd", *names, "--timeout=60s", timeout=90)
        arguments = ("create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-")
        taken = kubectl(*arguments, stdin=managers.listed(objects), timeout=60)
    assert len(taken.out.split()) == len(objects)


def test_butler_can_say_that_a_cluster_is_ready_whose_controller_leaves_it_alone(
    kubernetes: Cluster, kubectl: Kubectl
) -> None:
    templates = GcpTemplates()
    kind = msgspec.structs.replace(templates.cluster_kind, group="kept.example.com")
    definition = next(one for one in managers.manifests("gcp", "crds") if one["spec"]["names"]["plural"] == kind.plural)
    # In a group of its own: other tests come and go with the real one.
    definition["spec"]["group"], definition["metadata"]["name"] = kind.group, kind.name
    body = {"spec": templates.cluster(gcp()), "status": templates.cluster_status(gcp())}
    wanted = managers.listed([made(kind, body)])
    with managers.installed(kubernetes, [definition]):
        kubectl("wait", "--for=condition=Established", "crd", kind.name, "--timeout=60s", timeout=90)
        for subresource in ((), ("--subresource=status",)):
            kubectl("apply", "--server-side", "--validate=strict", *subresource, "-f", "-", stdin=wanted)
        said = kubectl("get", kind.name, "demo", "-o", "jsonpath={.status}").out
    assert json.loads(said) == templates.cluster_status(gcp())


def made(kind: Address, body: managers.Json) -> managers.Json:
    metadata = {"name": "demo", "namespace": "default", **body.get("metadata", {})}
    return {"apiVersion": f"{kind.group}/{kind.version}", "kind": kind.kind, **body, "metadata": metadata}


def name_of(definition: managers.Json) -> str:
    return str(definition["metadata"]["name"])
