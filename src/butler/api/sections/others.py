"""What a ProviderConfig says about infrastructure that is no data centre or cloud of Butler's own list."""

from __future__ import annotations

from kubekit.model.resource import Model

from ..model import DnsLabel, Values
from ..shared import SecretRef


class LocalSection(Model):
    """Containers on one computer."""

    kind_node_image: str | None = None
    """Node image; left out, it follows from the Kubernetes version."""


class ExternalSection(Model):
    """A provider that does not come with Butler."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    name: DnsLabel
    """What the provider is called where it is installed."""
    settings: Values | None = None
    """Whatever it needs to know; see its own documentation."""
