"""What a ProviderConfig and its Secret say about AWS, with every default filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from butler.api.provider import ProviderConfig
from butler.api.sections.aws import AwsSection
from kubekit.errors import InvalidConfiguration

from .. import account_fields
from ..rest import Trust

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d+")
_OWNER = re.compile(r"\d{12}|self|amazon|aws-marketplace")


@dataclass(frozen=True, slots=True)
class Keys:
    """Who asks."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.access_key, self.secret_key, self.session_token)


@dataclass(frozen=True, slots=True)
class Settings:
    """One account, in one region."""

    region: str
    keys: Keys
    trust: Trust = field(default_factory=Trust, repr=False)
    endpoint: str = ""
    vpc: str = ""
    subnets: tuple[str, ...] = ()
    security_groups: tuple[str, ...] = ()
    image: str = ""
    image_owners: tuple[str, ...] = ("self",)
    instance_type: str = ""
    public_address: bool | None = None
    instance_profile: str = ""
    volume_type: str = "gp3"
    kms_key: str = ""
    scheme: str = "internet-facing"
    bucket: str = ""
    import_role: str = "vmimport"


def settings_of(config: ProviderConfig, credentials: Mapping[str, str]) -> Settings:
    """Raises InvalidConfiguration, CredentialsInvalid."""
    section = config.spec.aws
    assert section is not None, "the registry has looked"
    _check(section, f"ProviderConfig {config.key}")
    access_key, secret_key = account_fields.needed(config, credentials, "accessKeyID", "secretAccessKey")
    return Settings(
        region=section.region,
        keys=Keys(access_key, secret_key, credentials.get("sessionToken", "").strip()),
        trust=Trust(credentials.get("ca.pem", ""), section.insecure, section.proxy or ""),
        endpoint=section.endpoint or "",
        vpc=section.vpc_id or "",
        subnets=section.subnet_ids,
        security_groups=section.security_group_ids,
        image=section.image or "",
        image_owners=section.image_owners or ("self",),
        instance_type=section.instance_type or "",
        public_address=section.public_ip,
        instance_profile=section.iam_instance_profile or "",
        volume_type=section.volume_type,
        kms_key=section.kms_key_id or "",
        scheme=section.load_balancer_scheme,
        bucket=section.image_bucket or "",
        import_role=section.image_import_role,
    )


def _check(section: AwsSection, subject: str) -> None:
    """What can be seen to be wrong without asking anybody."""
    if not _REGION.fullmatch(section.region):
        raise InvalidConfiguration(subject, "spec.aws.region", f"{section.region!r} is no region, such as eu-central-1")
    if section.vpc_id and not section.vpc_id.startswith("vpc-"):
        raise InvalidConfiguration(subject, "spec.aws.vpcID", f"{section.vpc_id!r} does not begin with vpc-")
    for name, prefix, values in (
        ("subnetIDs", "subnet-", section.subnet_ids),
        ("securityGroupIDs", "sg-", section.security_group_ids),
    ):
        for number, value in enumerate(values):
            if not value.startswith(prefix):
                path = f"spec.aws.{name}[{number}]"
                raise InvalidConfiguration(subject, path, f"{value!r} does not begin with {prefix}")
    for number, owner in enumerate(section.image_owners):
        if not _OWNER.fullmatch(owner):
            path = f"spec.aws.imageOwners[{number}]"
            raise InvalidConfiguration(subject, path, f"{owner!r} is neither the number of an account nor self")
