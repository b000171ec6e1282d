"""A cluster as far as its addons are concerned: what the platform itself put there, and what addons must fit."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field

from butler import advice
from kubekit.model.resource import Address

from ..rows import CLUSTERS, Meta

PARTS = {
    "cni": "cni",
    "certmanager": "certManager",
    "storage": "storage",
    "loadbalancer": "loadBalancer",
    "ingress": "ingress",
    "gitops": "gitops",
}
"""By category, the part of spec.addons that says which one of it a cluster has."""


class SeenAddon(Struct, rename="camel", gc=False):
    """An addon that the platform put there, as it was last seen."""

    name: str = ""
    version: str = ""
    status: str = ""
    managed_by: str = ""
    message: str | None = None


class Observed(Struct, rename="camel", gc=False):
    """What was seen."""

    kubernetes_version: str | None = None
    addons: list[SeenAddon] = []


class ProviderPlace(Struct, gc=False):
    """Which ProviderConfig."""

    name: str = ""
    namespace: str = ""


class HostSpec(Struct, rename="camel", gc=False):
    """What is wanted."""

    kubernetes_version: str | None = None


class HostStatus(Struct, rename="camel", gc=False):
    """How it is."""

    phase: str | None = None
    tenant_namespace: str | None = None
    provider_config_ref: ProviderPlace | None = None
    observed_state: Observed = field(default_factory=Observed)


class Host(Struct, gc=False):
    """A TenantCluster."""

    address: ClassVar[Address] = CLUSTERS

    metadata: Meta
    spec: HostSpec = field(default_factory=HostSpec)
    status: HostStatus = field(default_factory=HostStatus)

    @property
    def version(self) -> str:
        """Of Kubernetes; empty while nobody knows."""
        return self.status.observed_state.kubernetes_version or self.spec.kubernetes_version or ""

    @property
    def is_complete(self) -> bool:
        """Whether everything is there that the platform puts into it."""
        return self.status.phase in ("Running", "Ready")

    def platform_addon(self, name: str) -> SeenAddon | None:
        return next((one for one in self.status.observed_state.addons if one.name == name), None)


def how_to_change(category: str, cluster: str, where: str) -> str:
    """What to do about an addon of the platform that is to be otherwise."""
    part = PARTS.get(category)
    teller = f"spec.addons.{part} of the cluster" if part else "the cluster"
    return f"{teller} says how, and `{advice.edit_cluster(cluster, where)}` changes it"


def how_to_remove(category: str, cluster: str, where: str) -> str:
    """What to do about an addon of the platform that is not wanted."""
    from butler.api import cluster_addons

    if category == "cni":
        return "a cluster cannot live without its network"
    part = PARTS.get(category)
    if part is None:
        return "every cluster has it"
    models = {
        "certManager": cluster_addons.CertManagerAddon,
        "storage": cluster_addons.StorageAddon,
        "loadBalancer": cluster_addons.LoadBalancerAddon,
        "ingress": cluster_addons.IngressAddon,
        "gitops": cluster_addons.GitOpsAddon,
    }
    edit = advice.edit_cluster(cluster, where)
    if "enabled" in models[part].__struct_fields__:
        return f"`{edit}` switches it off: set spec.addons.{part}.enabled to false"
    return f"`{edit}` changes that: it is there because of spec.addons.{part}"
