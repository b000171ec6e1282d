"""What a ProviderConfig says about Amazon Web Services."""

from __future__ import annotations

from ..model import Model
from ..shared import SecretRef


class AwsSection(Model):
    """Amazon Web Services."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    region: str
    """Region."""
    vpc_id: str | None = None
    """VPC."""
    subnet_ids: tuple[str, ...] = ()
    """Subnets; machines are in the first."""
    security_group_ids: tuple[str, ...] = ()
    """Security groups."""
