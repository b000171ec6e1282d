"""ProviderConfig: an account on some infrastructure and how to use it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .model import (
    AGE,
    Cidr,
    Column,
    DnsLabel,
    Duration,
    HttpUrl,
    Model,
    NotNegative,
    Percent,
    Port,
    Positive,
    Resource,
    Rule,
    Time,
    Values,
)
from .shared import LocalRef, ProviderType, SecretRef, Status

NUTANIX_PORT = 9440


class HarvesterSection(Model):
    """Harvester HCI."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    endpoint: str | None = None
    """Address of the API; left out, that of the kubeconfig."""
    namespace: str = "default"
    """Namespace of the VMs."""
    network_name: Annotated[str, Meta(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")]
    """VM network as namespace/name."""
    image_name: str | None = None
    """Image as namespace/name."""
    storage_class_name: str | None = None
    """Storage class of the disks."""


class PrismCentral(Model):
    """Another way to write endpoint, port and insecure; port and insecure win over those."""

    address: str | None = None
    """Host name or URL."""
    port: Port | None = None
    """Port."""
    insecure: bool | None = None
    """Do not verify its certificate."""


class Entity(Model):
    """Something in Prism Central, by UUID or by name."""

    name: str | None = None
    """Name; looked up."""
    uuid: str | None = None
    """UUID; wins."""


def _named_or_uuid(entity: str) -> Rule:
    return Rule(
        f"has(self.{entity}UUID) || (has(self.{entity}) && (has(self.{entity}.uuid) || has(self.{entity}.name)))",
        f"here or as {entity}.uuid or {entity}.name",
        f".{entity}UUID",
    )


def _same_uuid(entity: str) -> Rule:
    return Rule(
        f"!has(self.{entity}UUID) || !has(self.{entity}) || !has(self.{entity}.uuid)"
        f" || self.{entity}UUID == self.{entity}.uuid",
        f"{entity}UUID and {entity}.uuid are two names of one field and must be equal",
    )


class NutanixSection(Model):
    """Nutanix AHV.

    After normalise() an entity is either a UUID (`cluster_uuid`) or, as long as nobody looked it up, a name
    (`cluster.name`); never both.
    """

    rules = (
        Rule(
            "has(self.endpoint) || (has(self.prismCentral) && has(self.prismCentral.address))",
            "here or as prismCentral.address",
            ".endpoint",
        ),
        _named_or_uuid("cluster"),
        _named_or_uuid("subnet"),
        _same_uuid("cluster"),
        _same_uuid("subnet"),
        _same_uuid("image"),
        _same_uuid("storageContainer"),
    )

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    endpoint: HttpUrl | None = None
    """Prism Central as URL, without port."""
    port: int | None = None
    """Port; left out, that of the credentials, then 9440."""
    insecure: bool | None = None
    """Do not verify its certificate; left out, as the credentials say, then false."""
    prism_central: PrismCentral | None = None
    cluster_uuid: str | None = None
    """Prism Element cluster."""
    cluster: Entity | None = None
    """Prism Element cluster by name or UUID."""
    subnet_uuid: str | None = None
    """Subnet."""
    subnet: Entity | None = None
    """Subnet by name or UUID."""
    image_uuid: str | None = None
    """Image."""
    image: Entity | None = None
    """Image by name or UUID."""
    storage_container_uuid: str | None = None
    """Storage container."""
    storage_container: Entity | None = None
    """Storage container by name or UUID."""


class VmidRange(Model):
    """VM numbers Butler may use."""

    start: Annotated[int, Meta(ge=100)]
    """First."""
    end: Annotated[int, Meta(ge=100)]
    """Last."""


class ProxmoxSection(Model):
    """Proxmox VE."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    endpoint: HttpUrl
    """Address of the API."""
    insecure: bool = False
    """Do not verify its certificate."""
    nodes: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Hosts the machines may be on."""
    storage: str
    """Storage of the disks."""
    template_id: int | None = None
    """Template that is cloned."""
    vmid_range: VmidRange | None = None


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


class AzureSection(Model):
    """Microsoft Azure."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    subscription_id: str
    """Subscription."""
    resource_group: str
    """Resource group."""
    location: str | None = None
    """Region."""
    vnet_name: str | None = None
    """Virtual network."""
    subnet_name: str | None = None
    """Subnet."""
    vm_size: str | None = None
    """VM size such as Standard_D4s_v3."""
    image_urn: str | None = None
    """publisher:offer:sku:version, or the id of a managed or gallery image."""


class GcpSection(Model):
    """Google Cloud."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    project_id: str
    """Project."""
    region: str
    """Region."""
    zone: str | None = None
    """Zone; left out, the region's zone a."""
    network: str | None = None
    """VPC network."""
    subnetwork: str | None = None
    """Subnetwork."""
    machine_type: str | None = None
    """Machine type."""
    image: str | None = None
    """Image; wins over the family."""
    image_family: str | None = None
    """Image family."""
    image_project: str | None = None
    """Project the image is in."""
    service_account: str | None = None
    """Service account of the machines."""
    tags: tuple[str, ...] = ()
    """Network tags."""


class LocalSection(Model):
    """Containers on one computer."""

    kind_node_image: str | None = None
    """Node image; left out, it follows from the Kubernetes version."""


class SimulatedSection(Model):
    """Infrastructure that exists only in Butler's own records, for trying things out.

    It fails, loses, slows down and repeats as it is told to."""

    network: Cidr = "172.16.0.0/12"
    """Where the machines' addresses are from."""
    failure_domains: tuple[str, ...] = ()
    """Names of its zones."""
    capacity: NotNegative | None = None
    """How many machines there is room for; left out, any number."""
    capacity_cpu: NotNegative | None = None
    """How many cores all machines may have together; left out, any number."""
    capacity_memory_mb: NotNegative | None = None
    """How much memory all machines may have together, in MiB; left out, any amount."""
    boot_delay: Duration = "2s"
    """How long a machine takes until it has an address."""
    removal_delay: Duration = "1s"
    """How long a machine takes to go."""
    call_delay: Duration = "0s"
    """How long every call takes."""
    visibility_delay: Duration = "0s"
    """How long a new machine is not found yet."""
    rate_limit: Positive | None = None
    """How many calls a second are answered; left out, any number."""
    failure_percent: Percent = 0
    """How many of a hundred calls fail before they do anything."""
    lost_answer_percent: Percent = 0
    """How many of a hundred calls do what they should and then fail."""
    repeated_percent: Percent = 0
    """How many of a hundred orders for a machine arrive twice."""
    ignores_tokens: bool = False
    """Take an order that was made before for a new one."""
    stuck_percent: Percent = 0
    """How many of a hundred machines never boot."""
    lost_percent: Percent = 0
    """How many of a hundred machines disappear."""
    lost_after: Duration = "10m"
    """How old those are when they do."""


class ExternalSection(Model):
    """A provider that does not come with Butler."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    name: DnsLabel
    """What the provider is called where it is installed."""
    settings: Values | None = None
    """Whatever it needs to know; see its own documentation."""


class PoolRef(Model):
    """A NetworkPool to take addresses from."""

    name: str
    """NetworkPool beside this object."""
    priority: int = 0
    """Lower goes first."""


class LoadBalancerPolicy(Model):
    """How tenants get addresses for LoadBalancer Services."""

    allocation_mode: Literal["static", "elastic"] = "static"
    """A fixed block, or one that grows and shrinks."""
    default_pool_size: Positive = 8
    """Addresses per tenant, static."""
    initial_pool_size: Positive = 2
    """Addresses to begin with, elastic."""
    growth_increment: Positive = 2
    """Addresses per step, elastic."""


class TenantQuota(Model):
    """Most addresses one cluster may have."""

    max_load_balancer_ips: Positive | None = None
    """For LoadBalancer Services."""
    max_node_ips: Positive | None = None
    """For nodes."""


class ProviderNetwork(Model):
    """Where addresses come from, and network defaults."""

    mode: Literal["ipam", "cloud"] = "cloud"
    """From NetworkPools, or from the provider itself."""
    pool_refs: tuple[PoolRef, ...] = ()
    """Pools; needed for ipam."""
    load_balancer: LoadBalancerPolicy | None = None
    quota_per_tenant: TenantQuota | None = None
    subnet: str | None = None
    """Network the machines are in."""
    gateway: str | None = None
    """Gateway."""
    dns_servers: tuple[str, ...] = ()
    """Name servers."""
    time_servers: tuple[str, ...] = ()
    """Time servers."""


class ProviderLimits(Model):
    """What one team may have on this provider."""

    max_clusters_per_team: Positive | None = None
    """Clusters."""
    max_nodes_per_team: Positive | None = None
    """Workers."""


class ProviderScope(Model):
    """Who may use the provider."""

    type: Literal["platform", "team"] = "platform"
    """Everyone, or one team."""
    team_ref: LocalRef | None = None
    """The team; needed for type team."""


_WITHOUT_CREDENTIALS = ("local", "simulated", "external")
_NESTED_CREDENTIALS = ("harvester", "nutanix", "proxmox", "azure", "aws", "gcp")


def _credentials_rule() -> Rule:
    either = [f"(has(self.{name}) && self.{name} in {list(_WITHOUT_CREDENTIALS)})" for name in ("provider", "type")]
    nested = [f"(has(self.{name}) && has(self.{name}.credentialsRef))" for name in _NESTED_CREDENTIALS]
    return Rule(
        " || ".join([*either, "has(self.credentialsRef)", *nested]),
        "here or in the section of the provider, except for local, simulated and external",
        ".credentialsRef",
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
    )

    provider: ProviderType | None = None
    """Kind of infrastructure."""
    type: ProviderType | None = None
    """Another name for provider."""
    credentials_ref: SecretRef | None = None
    """Secret with the credentials; without a namespace, beside this object, then in butler-system."""
    harvester: HarvesterSection | None = None
    nutanix: NutanixSection | None = None
    proxmox: ProxmoxSection | None = None
    azure: AzureSection | None = None
    aws: AwsSection | None = None
    gcp: GcpSection | None = None
    local: LocalSection | None = None
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


class ProviderConfigStatus(Status):
    """The account as it is."""

    provider: ProviderType | None = None
    """Kind of infrastructure, whichever way the spec says it."""
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
        Column("Provider", ".spec.provider"),
        Column("Scope", ".spec.scope.type"),
        Column("Ready", ".status.ready", "boolean"),
        Column("Validated", ".status.validated", "boolean"),
        AGE,
    ),
):
    """An account on some infrastructure: credentials and settings."""

    spec: ProviderConfigSpec = ProviderConfigSpec()
    status: ProviderConfigStatus = ProviderConfigStatus()
