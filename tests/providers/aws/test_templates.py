"""The Cluster API objects of workers on AWS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from butler.api.normalise import normalise
from butler.api.sections.aws import AwsIdentity
from butler.providers import registry
from butler.providers.aws.templates import ClusterTemplates
from butler.providers.contract import Blueprint, Pool
from kubekit.errors import InvalidConfiguration
from tests.providers.aws.configs import config

POOL = Pool("", 4, "16Gi", "50Gi")
PLACES = {"vpc_id": "vpc-1", "subnet_ids": ("subnet-1", "subnet-2"), "security_group_ids": ("sg-1",)}


def blueprint(**section: Any) -> Blueprint:
    given = {"image": "ami-0123456789abcdef0", **PLACES, **section}
    return Blueprint("shop", "shop-1234", normalise(config("https://ec2.example.com", **given)), "v1.33.4", (POOL,))


def test_a_small_cluster_is_made_of_these_objects() -> None:
    templates = ClusterTemplates()
    assert templates.cluster(blueprint()) == {
        "region": "eu-central-1",
        "controlPlaneLoadBalancer": {"loadBalancerType": "disabled"},
        "network": {"vpc": {"id": "vpc-1"}, "subnets": [{"id": "subnet-1"}, {"id": "subnet-2"}]},
    }
    assert templates.machine(blueprint(), POOL) == {
        "instanceType": "m6i.xlarge",
        "ami": {"id": "ami-0123456789abcdef0"},
        "rootVolume": {"size": 50, "type": "gp3", "encrypted": True},
        "subnet": {"id": "subnet-1"},
        "additionalSecurityGroups": [{"id": "sg-1"}],
        "sshKeyName": "",
        "instanceMetadataOptions": {
            "httpEndpoint": "enabled",
            "httpTokens": "required",
            "httpPutResponseHopLimit": 2,
            "instanceMetadataTags": "disabled",
        },
        "cloudInit": {"insecureSkipSecretsManager": True},
    }
    assert templates.joining(blueprint(), POOL) == {
        "joinConfiguration": {
            "nodeRegistration": {
                "name": "{{ ds.meta_data.local_hostname }}",
                "kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}],
            }
        }
    }
    assert templates.extras(blueprint()) == ()
    assert templates.endpoint_is_handed_over


def test_a_section_that_says_little_leaves_the_rest_to_cluster_api() -> None:
    bare = blueprint(vpc_id=None, subnet_ids=(), security_group_ids=(), image=None)
    cluster, machine = ClusterTemplates().cluster(bare), ClusterTemplates().machine(bare, POOL)
    assert "network" not in cluster
    assert not machine.keys() & {"ami", "subnet", "additionalSecurityGroups", "publicIP", "iamInstanceProfile"}


def test_what_the_section_says_is_in_the_objects() -> None:
    identity = AwsIdentity(kind="AWSClusterStaticIdentity", name="butler")
    said = blueprint(
        identity_ref=identity, instance_type="t3.large", public_ip=True, iam_instance_profile="nodes", kms_key_id="k"
    )
    assert ClusterTemplates().cluster(said)["identityRef"] == {"kind": "AWSClusterStaticIdentity", "name": "butler"}
    machine = ClusterTemplates().machine(said, POOL)
    assert (machine["instanceType"], machine["publicIP"], machine["iamInstanceProfile"]) == ("t3.large", True, "nodes")
    assert machine["rootVolume"]["encryptionKey"] == "k"


@pytest.mark.parametrize(
    ("cpu", "memory", "found"),
    [(1, "1Gi", "c6i.large"), (2, "8Gi", "m6i.large"), (2, "16Gi", "r6i.large"), (5, "16Gi", "c6i.2xlarge")],
)
def test_the_smallest_type_is_chosen(cpu: int, memory: str, found: str) -> None:
    assert ClusterTemplates().machine(blueprint(), Pool("", cpu, memory, "50Gi"))["instanceType"] == found


def test_a_pool_in_a_zone_finds_its_subnet_there() -> None:
    assert "subnet" not in ClusterTemplates().machine(blueprint(), replace(POOL, failure_domain="eu-central-1b"))


def test_the_image_of_a_pool_wins() -> None:
    machine = ClusterTemplates().machine(blueprint(), replace(POOL, image="ami-00000000000000001"))
    assert machine["ami"] == {"id": "ami-00000000000000001"}


def test_an_image_is_looked_up_by_name_and_owner() -> None:
    machine = ClusterTemplates().machine(blueprint(image="talos-*", image_owners=("540036508848",)), POOL)
    assert (machine["imageLookupFormat"], machine["imageLookupOrg"]) == ("talos-*", "540036508848")


@pytest.mark.parametrize(
    ("section", "pool", "field"),
    [
        ({"image": "ssm:/talos"}, POOL, "spec.aws.image"),
        ({"image": "talos-*"}, POOL, "spec.aws.imageOwners"),
        ({}, Pool("", 200, "8Gi", "50Gi"), "spec.aws.instanceType"),
    ],
)
def test_what_workers_cannot_be_made_of_is_said_by_field(section: dict[str, Any], pool: Pool, field: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        ClusterTemplates().machine(blueprint(**section), pool)
    assert raised.value.path == field


def test_the_registry_has_them() -> None:
    assert isinstance(registry.templates("aws"), ClusterTemplates)
