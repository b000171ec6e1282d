"""The Cluster API objects of AWS."""

from __future__ import annotations

from butler.api.provider import ProviderConfig
from butler.api.sections.aws import AwsSection
from butler.api.units import GIB, MIB, whole
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import Address

from ..contract import Blueprint, Object, Pool
from ..sizes import InstanceType, smallest

_GROUP, _VERSION = "infrastructure.cluster.x-k8s.io", "v1beta2"
_SMALLEST_DISK = 8
"""GB."""
_SIZES = ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge", "32xlarge")
_CORES = (2, 4, 8, 16, 32, 48, 64, 96, 128)
_TYPES = tuple(
    InstanceType(f"{family}.{size}", cpu, cpu * memory * 1024)
    for family, memory in (("c6i", 2), ("m6i", 4), ("r6i", 8))
    for size, cpu in zip(_SIZES, _CORES, strict=True)
)
"""Types that every region has, for x86: their family, and GiB for each core."""


class ClusterTemplates:
    """AWSCluster and AWSMachineTemplate."""

    cluster_kind = Address(_GROUP, _VERSION, "AWSCluster", "awsclusters", namespaced=True)
    machine_template_kind = Address(_GROUP, _VERSION, "AWSMachineTemplate", "awsmachinetemplates", namespaced=True)
    machine_kind = Address(_GROUP, _VERSION, "AWSMachine", "awsmachines", namespaced=True)
    endpoint_is_handed_over = True

    def cluster(self, blueprint: Blueprint) -> Object:
        """Without a load balancer of its own: the control plane has an address already."""
        aws = _section(blueprint.provider)
        network: Object = {}
        if aws.vpc_id:
            network["vpc"] = {"id": aws.vpc_id}
        if aws.subnet_ids:
            network["subnets"] = [{"id": one} for one in aws.subnet_ids]
        return {
            "region": aws.region,
            "controlPlaneLoadBalancer": {"loadBalancerType": "disabled"},
            **({"network": network} if network else {}),
            **({"identityRef": _identity(aws)} if aws.identity_ref else {}),
        }

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        config, aws = blueprint.provider, _section(blueprint.provider)
        # In another zone than that of the first subnet, Cluster API looks for a subnet itself.
        subnet = {"subnet": {"id": aws.subnet_ids[0]}} if aws.subnet_ids and not pool.failure_domain else {}
        groups = [{"id": one} for one in aws.security_group_ids]
        return {
            "instanceType": aws.instance_type or _type(config, pool),
            **_image(config, aws, pool.image or aws.image or ""),
            "rootVolume": {
                "size": max(whole(pool.disk, GIB), _SMALLEST_DISK),
                "type": aws.volume_type,
                "encrypted": True,
                **({"encryptionKey": aws.kms_key_id} if aws.kms_key_id else {}),
            },
            **subnet,
            **({"additionalSecurityGroups": groups} if groups else {}),
            **({"publicIP": aws.public_ip} if aws.public_ip is not None else {}),
            **({"iamInstanceProfile": aws.iam_instance_profile} if aws.iam_instance_profile else {}),
            # Without it, a key pair called default is asked for, which hardly anybody has.
            "sshKeyName": "",
            "instanceMetadataOptions": {
                "httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 2,
                "instanceMetadataTags": "disabled",
            },
            # Otherwise userData is hidden in Secrets Manager, where only cloud-init with a plugin finds it.
            "cloudInit": {"insecureSkipSecretsManager": True},
        }  # fmt: skip

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        """Nodes get their providerID from AWS's cloud controller, which knows them by their private DNS name."""
        registration = {
            "name": "{{ ds.meta_data.local_hostname }}",
            "kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}],
        }
        return {"joinConfiguration": {"nodeRegistration": registration}}

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        """Identities of Cluster API's AWS provider belong to the whole cluster, and so to its administrator."""
        return ()


def _section(config: ProviderConfig) -> AwsSection:
    if config.spec.aws is None:
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.aws", "is missing")
    return config.spec.aws


def _identity(aws: AwsSection) -> Object:
    assert aws.identity_ref is not None
    return {"kind": aws.identity_ref.kind, "name": aws.identity_ref.name}


def _type(config: ProviderConfig, pool: Pool) -> str:
    found = smallest(_TYPES, pool.cpu, whole(pool.memory, MIB))
    if found is None:
        message = f"is missing, and no usual type has {pool.cpu} cores and {pool.memory} of memory"
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.aws.instanceType", message)
    return found.name


def _image(config: ProviderConfig, aws: AwsSection, image: str) -> Object:
    """An AMI by its id, or by its name and owner; left out, Cluster API's own for the version of Kubernetes."""
    if not image:
        return {}
    if image.startswith("ami-"):
        return {"ami": {"id": image}}
    subject = f"ProviderConfig {config.key}"
    if image.startswith(("ssm:", "resolve:ssm:")):
        message = "workers of tenant clusters take an AMI by its id or its name, and not by a parameter"
        raise InvalidConfiguration(subject, "spec.aws.image", message)
    owner = next((one for one in aws.image_owners if one.isdigit()), None)
    if owner is None:
        message = f"workers find AMI {image!r} only with the number of the account it belongs to"
        raise InvalidConfiguration(subject, "spec.aws.imageOwners", message)
    return {"ami": {}, "imageLookupFormat": image, "imageLookupOrg": owner}
