"""A cluster and what it refers to: whether they fit together, and what follows for the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from butler.api.cluster import TenantCluster
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE, TENANTS_NAMESPACE, NsRef
from butler.api.team import Team, TeamPhase
from butler.providers import registry
from butler.providers.contract import Templates
from kubekit.client.protocol import Client
from kubekit.errors import FieldError, FieldProblem, Invalid, InvalidConfiguration, KubeError, invalid
from kubekit.runtime.objects import key

from . import kinds, versions
from .lookup import Lookup, Snapshot
from .settings import ClusterSettings, settings_of
from .validation import problems


@dataclass(frozen=True, slots=True)
class Accepted:
    """A cluster that can be made, with everything it refers to."""

    cluster: TenantCluster
    """Normalised."""
    config: ButlerConfig | None
    team: Team | None
    provider: ProviderConfig
    """Normalised."""
    templates: Templates
    settings: ClusterSettings


class Refused(KubeError):
    """A cluster that cannot be made as it is; it is looked at again when it, or what it refers to, changes."""

    retryable = False

    def __init__(self, reason: str, found: Sequence[FieldError]) -> None:
        super().__init__("; ".join(map(str, found)))
        self.condition_reason, self.problems = reason, tuple(found)


def accept(cluster: TenantCluster, sight: Lookup) -> Accepted:
    """What is needed to make a cluster. Raises Refused."""
    try:
        cluster = normalise(cluster)
    except InvalidConfiguration as error:
        raise Refused("InvalidConfiguration", [_invalid(error.path, None, str(error))]) from None
    if found := problems(cluster):
        raise Refused("ValidationFailed", found)
    config = sight.get(ButlerConfig, BUTLER_CONFIG_NAME)
    config = normalise(config) if config is not None else None
    team = _team(cluster, config, sight)
    provider = _provider(cluster, team, config, sight)
    _keeps_infrastructure(cluster, provider, sight)
    try:
        templates = registry.templates(provider.spec.infrastructure)
    except InvalidConfiguration as error:
        raise Refused(
            "InvalidConfiguration", [_invalid("spec.providerConfigRef.name", provider.key, str(error))]
        ) from None
    settings = settings_of(cluster, team, config)
    _may_step(cluster, settings)
    _keeps_networks(cluster, sight)
    return Accepted(cluster, config, team, provider, templates, settings)


async def resolve(client: Client, cluster: TenantCluster) -> Accepted:
    """The same for a command, by asking the API. Raises Invalid, naming every field that cannot stay."""
    sight = Snapshot()
    await fetch_surroundings(client, sight)
    await fetch_networks(client, sight, cluster)
    try:
        return accept(cluster, sight)
    except Refused as refused:
        raise refusal(cluster, refused) from None


def refusal(cluster: TenantCluster, refused: Refused) -> Invalid:
    """What an API server would answer."""
    return invalid(cluster.kind, cluster.address.group, cluster.metadata.name, refused.problems)


async def fetch_surroundings(client: Client, sight: Snapshot) -> None:
    """Everything a cluster may refer to."""
    await sight.fetch_one(client, ButlerConfig, BUTLER_CONFIG_NAME)
    for kind in (Team, ProviderConfig, TenantCluster):
        await sight.fetch(client, kind)


async def fetch_networks(client: Client, sight: Snapshot, cluster: TenantCluster) -> None:
    """What a cluster that was made already can no longer change."""
    if cluster.status.tenant_namespace:
        await sight.fetch_one(client, kinds.CLUSTER, cluster.metadata.name, cluster.status.tenant_namespace)


def _team(cluster: TenantCluster, config: ButlerConfig | None, sight: Lookup) -> Team | None:
    """The team of a cluster, which must be in the team's namespace, or without one in the common one."""
    mode = config.spec.multi_tenancy.mode.capitalize() if config else "Disabled"
    ref = cluster.spec.team_ref
    if ref is None:
        if mode == "Enforced":
            raise Refused(
                "TeamRequired", [FieldError(FieldProblem.REQUIRED, "spec.teamRef", "every cluster needs a team")]
            )
        home = config.spec.default_namespace if config else TENANTS_NAMESPACE
        _must_be_in(cluster, home, "clusters without a team")
        return None
    team: Team | None = sight.get(Team, ref.name)
    if team is None:
        raise Refused("TeamNotFound", [FieldError(FieldProblem.NOT_FOUND, "spec.teamRef.name", "", ref.name)])
    if mode == "Disabled":
        _must_be_in(cluster, config.spec.default_namespace if config else TENANTS_NAMESPACE, "clusters")
        return normalise(team)
    if mode == "Enforced" and team.status.phase is not TeamPhase.READY:
        raise Refused("TeamNotFound", [_invalid("spec.teamRef.name", ref.name, "the team is not ready yet")])
    _must_be_in(cluster, team.status.namespace or ref.name, f"clusters of team {ref.name}")
    return normalise(team)


def _must_be_in(cluster: TenantCluster, home: str, whose: str) -> None:
    where = cluster.metadata.namespace
    if where != home:
        raise Refused("NamespaceMismatch", [_invalid("metadata.namespace", where, f"{whose} are in namespace {home}")])


def _provider(cluster: TenantCluster, team: Team | None, config: ButlerConfig | None, sight: Lookup) -> ProviderConfig:
    candidates = _candidates(cluster, team, config)
    for place in candidates:
        found: ProviderConfig | None = sight.get(ProviderConfig, key(place.namespace, place.name))
        if found is not None:
            return _accessible(cluster, normalise(found))
    there = ", ".join(sorted(one.metadata.name for one in sight.within(ProviderConfig, SYSTEM_NAMESPACE)))
    advice = f"there are: {there}" if there else f"there is none in {SYSTEM_NAMESPACE}"
    ref = cluster.spec.provider_config_ref
    path = "spec.providerConfigRef.name" if ref else "spec.providerConfigRef"
    problem = FieldProblem.NOT_FOUND if ref else FieldProblem.REQUIRED
    raise Refused("ProviderConfigNotFound", [FieldError(problem, path, advice, ref.name if ref else None)])


def _candidates(cluster: TenantCluster, team: Team | None, config: ButlerConfig | None) -> tuple[NsRef, ...]:
    """Where to look: what the cluster names or was made with, and nothing else; or the team's, the platform's, the one
    called default."""
    if named := cluster.provider_candidates():
        return named
    found = []
    if team is not None and team.spec.provider_config_ref is not None:
        found.append(NsRef(name=team.spec.provider_config_ref.name, namespace=SYSTEM_NAMESPACE))
    platform = config.spec.default_provider_config_ref if config else None
    if platform is not None:
        found.append(NsRef(name=platform.name, namespace=platform.namespace or SYSTEM_NAMESPACE))
    return (*found, NsRef(name="default", namespace=SYSTEM_NAMESPACE))


def _accessible(cluster: TenantCluster, provider: ProviderConfig) -> ProviderConfig:
    scope, team = provider.spec.scope, cluster.spec.team_ref
    if scope.type == "team" and (scope.team_ref is None or team is None or scope.team_ref.name != team.name):
        detail = (
            f"the provider is only for team {scope.team_ref.name}" if scope.team_ref else "the provider is for no team"
        )
        problem = FieldError(FieldProblem.FORBIDDEN, "spec.providerConfigRef.name", detail)
        raise Refused("ProviderAccessDenied", [problem])
    return provider


def _may_step(cluster: TenantCluster, settings: ClusterSettings) -> None:
    """A cluster that runs goes from minor to minor."""
    seen = cluster.status.observed_state
    if seen is not None and seen.kubernetes_version:
        wrong = versions.forbidden_step(seen.kubernetes_version, settings.version)
        if wrong:
            raise Refused("VersionNotAllowed", [_invalid("spec.kubernetesVersion", settings.version, wrong)])


def _keeps_networks(cluster: TenantCluster, sight: Lookup) -> None:
    """Nodes, pods and Services have addresses from these; nothing could give them others."""
    made = sight.get(kinds.CLUSTER, key(cluster.status.tenant_namespace or "", cluster.metadata.name))
    networks = ((made or {}).get("spec") or {}).get("clusterNetwork") or {}
    networking = cluster.spec.networking
    wrong = [
        _invalid(f"spec.networking.{field}", wanted, f"must stay {there[0]}: a cluster cannot get other addresses")
        for field, name, wanted in (
            ("podCIDR", "pods", networking.pod_cidr),
            ("serviceCIDR", "services", networking.service_cidr),
        )
        if (there := (networks.get(name) or {}).get("cidrBlocks")) and wanted not in there
    ]
    if wrong:
        raise Refused("ValidationFailed", wrong)


def _keeps_infrastructure(cluster: TenantCluster, provider: ProviderConfig, sight: Lookup) -> None:
    """Machines cannot move; only another account of the same kind may take over."""
    made = cluster.status.provider_config_ref
    before = sight.get(ProviderConfig, key(made.namespace or "", made.name)) if made is not None else None
    if before is None:
        return
    kind, wanted = normalise(before).spec.infrastructure, provider.spec.infrastructure
    if kind != wanted:
        detail = f"is on {wanted}, and the machines of this cluster are on {kind}: make another cluster there"
        raise Refused("ValidationFailed", [_invalid("spec.providerConfigRef.name", provider.metadata.name, detail)])


def _invalid(path: str, value: object, detail: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, value)
