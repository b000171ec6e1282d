"""What a ProviderConfig says about Amazon Web Services."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from kubekit.model.resource import Model

from ..model import HttpUrl
from ..shared import SecretRef


class AwsIdentity(Model):
    """As whom Cluster API makes the workers of tenant clusters."""

    kind: Literal["AWSClusterStaticIdentity", "AWSClusterRoleIdentity", "AWSClusterControllerIdentity"]
    """Kind of Cluster API's AWS provider."""
    name: str
    """Name; such an object belongs to the whole cluster."""


class AwsSection(Model):
    """Amazon Web Services."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    region: str
    """Region."""
    vpc_id: str | None = None
    """VPC; left out, that of the subnets, then the default VPC."""
    subnet_ids: tuple[str, ...] = ()
    """Subnets; machines are in the first that has room. Left out, all of the VPC."""
    security_group_ids: tuple[str, ...] = ()
    """Security groups; left out, the default one of the VPC."""
    image: str | None = None
    """AMI: its id, a parameter of Systems Manager such as ssm:/talos/ami, or a name, which may have wildcards."""
    image_owners: tuple[str, ...] = ()
    """Accounts whose AMIs are looked up by name; left out, only one's own."""
    instance_type: str | None = None
    """Instance type of every machine; left out, the smallest that has the cores and the memory of the request."""
    public_ip: bool | None = field(default=None, name="publicIP")
    """Give machines a public address; left out, as the subnet says."""
    iam_instance_profile: str | None = None
    """Instance profile of the machines, by name or ARN."""
    volume_type: str = "gp3"
    """Type of the disks."""
    kms_key_id: str | None = None
    """Key that disks are encrypted with; left out, the account's own for disks."""
    load_balancer_scheme: Literal["internet-facing", "internal"] = "internet-facing"
    """Whether load balancers are reached from outside the VPC."""
    image_bucket: str | None = None
    """S3 bucket that images are brought from; its keys are the paths of the Image Factory."""
    image_import_role: str = "vmimport"
    """IAM role with which EC2 reads that bucket."""
    endpoint: HttpUrl | None = None
    """Address of all AWS services, for endpoints of one's own; left out, the public ones of the region."""
    insecure: bool = False
    """Do not verify certificates."""
    proxy: HttpUrl | None = None
    """HTTP proxy on the way to AWS."""
    identity_ref: AwsIdentity | None = None
    """As whom Cluster API makes workers; left out, as its own controller."""
