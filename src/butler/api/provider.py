"""ProviderConfig: an account on some infrastructure and how to use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from kubekit.model.resource import AGE, Column, Model, Positive, Rule, Time
from kubekit.model.status import Status

from .model import NOT_YET, Resource
from .sections.aws import AwsSection
from .sections.azure import AzureSection
from .sections.gcp import GcpSection
from .sections.harvester import HarvesterSection
from .sections.nutanix import NutanixSection
from .sections.others import ExternalSection, LocalSection
from .sections.proxmox import ProxmoxSection
from .sections.simulated import SimulatedSection
from .shared import LocalRef, ProviderType, SecretRef


class PoolRef(Model):
    """A NetworkPool to take addresses from."""

    name: str
    """NetworkPool beside this object."""
    priority: Annotated[int, NOT_YET] = 0
    """Lower goes first."""


class LoadBalancerPolicy(Model):
    """How tenants get addresses for LoadBalancer Services."""

    allocation_mode: Annotated[Literal["static", "elastic"], NOT_YET] = "static"
    """A fixed block, or one that grows and shrinks."""
    default_pool_size: Positive = 8
    """Addresses per tenant, static."""
    initial_pool_size: Annotated[Positive, NOT_YET] = 2
    """Addresses to begin with, elastic."""
    growth_increment: Annotated[Positive, NOT_YET] = 2
    """Addresses per step, elastic."""


class TenantQuota(Model):
    """Most addresses one cluster may have."""

    max_load_balancer_ips: Positive | None = None
    """For LoadBalancer Services."""
    max_node_ips: Positive | None = None
    """For nodes."""


_NAMES_POOLS = "(has(self.poolRefs) && size(self.poolRefs) > 0)"


class ProviderNetwork(Model):
    """Where addresses come from, and network defaults."""

    rules = (
        Rule(
            f"self.mode != 'ipam' || {_NAMES_POOLS}",
            "mode ipam needs a NetworkPool to take addresses from",
            missing=".poolRefs",
        ),
        Rule(
            f"self.mode == 'ipam' || !({_NAMES_POOLS})",
            "NetworkPools are for mode ipam; in mode cloud the provider itself gives addresses",
            forbidden=".poolRefs",
        ),
    )

    mode: Literal["ipam", "cloud"] = "cloud"
    """From NetworkPools, or from the provider itself."""
    pool_refs: tuple[PoolRef, ...] = ()
    """Pools; needed for ipam."""
    load_balancer: LoadBalancerPolicy | None = None
    quota_per_tenant: Annotated[TenantQuota | None, NOT_YET] = None
    subnet: str | None = None
    """Network of the workers of tenant clusters as CIDR, on Proxmox VE; elsewhere the infrastructure knows it."""
    gateway: str | None = None
    """Gateway of the workers of tenant clusters, on Proxmox VE; elsewhere the infrastructure knows it."""
    dns_servers: tuple[str, ...] = ()
    """Name servers of machines, on Proxmox VE and Harvester; elsewhere the infrastructure knows them. A MachineRequest
    with networkData has those that are in it."""
    time_servers: tuple[str, ...] = ()
    """Time servers of the workers of tenant clusters that name none themselves; left out, those of the platform."""


NETWORK_FIELDS = {
    "subnet": ("proxmox", "external"),
    "gateway": ("proxmox", "external"),
    "dnsServers": ("proxmox", "harvester", "external"),
}
"""The fields of `network` that are of use on some infrastructures only, and on which."""


class ProviderLimits(Model):
    """What one team may have on this provider."""

    max_clusters_per_team: Positive | None = None
    """Clusters."""
    max_nodes_per_team: Positive | None = None
    """Workers."""


class ProviderScope(Model):
    """Who may use the provider."""

    rules = (
        Rule("self.type != 'team' || has(self.teamRef)", "type team needs the team's name", missing=".teamRef"),
        Rule("self.type == 'team' || !has(self.teamRef)", "a team is for type team alone", forbidden=".teamRef"),
    )

    type: Literal["platform", "team"] = "platform"
    """Everyone, or one team."""
    team_ref: LocalRef | None = None
    """The team; needed for type team."""


_WITHOUT_CREDENTIALS = ("local", "simulated", "external")
_CLOUDS = ("azure", "aws", "gcp")
_NESTED_CREDENTIALS = ("harvester", "nutanix", "proxmox", "azure", "aws", "gcp")


def _credentials_rule() -> Rule:
    either = [f"(has(self.{name}) && self.{name} in {list(_WITHOUT_CREDENTIALS)})" for name in ("provider", "type")]
    nested = [f"(has(self.{name}) && has(self.{name}.credentialsRef))" for name in _NESTED_CREDENTIALS]
    return Rule(
        " || ".join([*either, "has(self.credentialsRef)", *nested]),
        "here or in the section of the provider, except for local, simulated and external",
        ".credentialsRef",
    )


_KIND = "(has(self.provider) ? self.provider : has(self.type) ? self.type : '')"


def _section_rules() -> tuple[Rule, ...]:
    """The section of the provider is there, and none of another."""
    needed = (
        Rule(f"{_KIND} != '{name}' || has(self.{name})", f"provider {name} needs it", missing=f".{name}")
        for name in (*_NESTED_CREDENTIALS, "external")
    )
    only = (
        Rule(f"!has(self.{name}) || {_KIND} == '{name}'", f"it is for provider {name} alone", forbidden=f".{name}")
        for name in (*_NESTED_CREDENTIALS, *_WITHOUT_CREDENTIALS)
    )
    return (*needed, *only)


def _key_rules() -> Iterator[Rule]:
    """Credentials of several entries are nothing that one key can name."""
    for name in ("azure", "aws"):
        kind = f"{_KIND} == '{name}'"
        for ref, holds in (
            (".credentialsRef", kind),
            (f".{name}.credentialsRef", f"has(self.{name})"),
            (".clusterCredentialsRef", kind),
        ):
            yield Rule(
                f"!({holds}) || !has(self{ref}) || !has(self{ref}.key)",
                f"provider {name} needs several keys of the Secret, which have their customary names",
                forbidden=f"{ref}.key",
            )


def _addresses_rule() -> Rule:
    return Rule(
        f"!({_KIND} in {list(_CLOUDS)}) || !has(self.network) || self.network.mode != 'ipam'",
        "a cloud gives addresses itself; NetworkPools are for data centres",
        forbidden=".network.mode",
    )


class ProviderConfigSpec(Model):
    """The account and its settings.

    After normalise(), `provider` is set and the credentials are in `credentials_ref`.
    """

    rules = (
        Rule("has(self.provider) || has(self.type)", "here or as type", ".provider"),
        Rule(
            "!has(self.provider) || !has(self.type) || self.provider == self.type",
            "provider and type are two names of one field and must be equal",
        ),
        _credentials_rule(),
        *_section_rules(),
        _addresses_rule(),
        *_key_rules(),
    )

    provider: ProviderType | None = None
    """Kind of infrastructure."""
    type: ProviderType | None = None
    """Another name for provider."""
    credentials_ref: SecretRef | None = None
    """Secret with the credentials; without a namespace, beside this object. One of another namespace has to allow this
    one by the annotation butler.butlerlabs.dev/allowed-namespaces."""
    cluster_credentials_ref: SecretRef | None = None
    """Secret with a narrower account, with the same keys, which is copied into tenant clusters for their cloud
    controller and volumes; left out, clusters have what their machines are given by the cloud, or nothing."""
    harvester: HarvesterSection | None = None
    nutanix: NutanixSection | None = None
    proxmox: ProxmoxSection | None = None
    azure: AzureSection | None = None
    aws: AwsSection | None = None
    gcp: GcpSection | None = None
    local: Annotated[LocalSection | None, NOT_YET] = None
    simulated: SimulatedSection | None = None
    external: ExternalSection | None = None
    network: ProviderNetwork = ProviderNetwork()
    limits: ProviderLimits | None = None
    scope: ProviderScope = ProviderScope()

    @property
    def infrastructure(self) -> str:
        """The name under which the provider is installed; empty when nothing says."""
        kind = self.provider or self.type
        if kind is ProviderType.EXTERNAL:
            return self.external.name if self.external is not None else ""
        return kind.value if kind is not None else ""


class Capacity(Model):
    """What the pools still have room for."""

    available_ips: int | None = None
    """Free addresses in all pools."""
    estimated_tenants: int | None = None
    """Clusters that would fit."""


CREDENTIALS_VALID = "CredentialsValid"
"""The condition that says whether the Secret may be used, and is good for anything."""


class ProviderConfigStatus(Status):
    """The account as it is."""

    provider: ProviderType | None = None
    """Kind of infrastructure, whichever way the spec says it."""
    scope: Literal["platform", "team"] | None = None
    """Who may use it, whether the spec says it or not."""
    network_mode: Literal["ipam", "cloud"] | None = None
    """Where addresses come from, whether the spec says it or not."""
    ready: bool | None = None
    """Can be used."""
    validated: bool | None = None
    """The credentials were accepted."""
    provider_version: str | None = None
    """Version the platform reports."""
    capacity: Capacity | None = None
    last_probe_time: Time | None = None
    """Last probe."""
    last_validation_time: Time | None = None
    """Last time the credentials were accepted."""


class ProviderConfig(
    Resource,
    plural="providerconfigs",
    short="pc",
    columns=(
        Column("Provider", ".status.provider"),
        Column("Scope", ".status.scope"),
        Column("Mode", ".status.networkMode"),
        Column("Ready", ".status.ready", "boolean"),
        Column("Validated", ".status.validated", "boolean"),
        AGE,
    ),
):
    """An account on some infrastructure: credentials and settings."""

    spec: ProviderConfigSpec = ProviderConfigSpec()
    status: ProviderConfigStatus = ProviderConfigStatus()
