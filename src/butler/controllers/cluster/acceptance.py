"""A cluster and what it refers to: whether they fit together, and what follows for the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import convert, structs

from butler.api.cluster import TenantCluster, TenantClusterSpec
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.normalise import normalise
from butler.api.provider import CREDENTIALS_VALID, ProviderConfig
from butler.api.references import ALLOWED_NAMESPACES, serves
from butler.api.shared import DEFAULT_NAMESPACE, SYSTEM_NAMESPACE, TENANTS_NAMESPACE, NsRef, ProviderRef
from butler.api.team import Team, TeamPhase
from butler.providers import registry
from butler.providers.contract import Templates
from kubekit.client.protocol import Client, Selection
from kubekit.errors import FieldError, FieldProblem, Invalid, InvalidConfiguration, KubeError, invalid
from kubekit.runtime.objects import key

from . import kinds, names, versions
from .lookup import Lookup, Snapshot
from .settings import ClusterSettings, settings_of
from .team_rules import forbidden_choices, with_default_sizes, with_platform_limits
from .validation import problems


@dataclass(frozen=True, slots=True)
class Judged:
    """A cluster that fits what it refers to."""

    cluster: TenantCluster
    """Normalised."""
    config: ButlerConfig | None
    team: Team | None
    provider: ProviderConfig
    """As it is written."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A cluster that can be made, with everything that takes."""

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
    judged = judge(cluster, sight)
    provider = normalise(judged.provider)
    _may_pass_on_credentials(provider)
    settings = settings_of(cluster, judged.team, judged.config, provider)
    return Accepted(cluster, judged.config, judged.team, provider, _templates(provider), settings)


def as_last_accepted(cluster: TenantCluster, sight: Lookup) -> TenantCluster | None:
    """The cluster as it was before a change that is refused; None when nothing of it was ever accepted."""
    spec = cluster.status.accepted_spec
    if spec is None:
        return None
    labels = {name: value for name, value in cluster.metadata.labels.items() if name != names.ENVIRONMENT}
    if environment := environment_of(cluster, sight):
        labels[names.ENVIRONMENT] = environment
    return structs.replace(
        cluster, metadata=structs.replace(cluster.metadata, labels=labels), spec=convert(spec, TenantClusterSpec)
    )


def environment_of(cluster: TenantCluster, sight: Lookup) -> str | None:
    """The environment a cluster is in, whatever it is asked to be in; None before it was made and without one."""
    home = sight.get(kinds.NAMESPACE, cluster.status.tenant_namespace or "")
    labels = (home["metadata"].get("labels") or {}) if home is not None else {}
    found: str | None = labels.get(names.ENVIRONMENT)
    return found


def judge(cluster: TenantCluster, sight: Lookup) -> Judged:
    """Whether a cluster, normalised and without problems of its own, fits what it refers to. Raises Refused."""
    config = sight.get(ButlerConfig, BUTLER_CONFIG_NAME)
    team = _ruled(_team(cluster, config, sight), config)
    provider = _accessible(cluster, _provider(cluster, team, config, sight))
    _keeps_infrastructure(cluster, provider, sight)
    _overrides_its_own(cluster, provider)
    kind = provider.spec.provider or provider.spec.type
    # Every provider that comes with Butler makes workers; one that somebody else installed need not.
    if kind is None or kind.value not in registry.BUILT_IN:
        _templates(provider)
    _knows_environment(cluster, team, sight)
    _may_step(cluster, team, config)
    _keeps_networks(cluster, sight)
    _may_choose(cluster, team, config, provider)
    return Judged(cluster, config, team, provider)


def refusal(cluster: TenantCluster, refused: Refused) -> Invalid:
    """What an API server would answer."""
    return invalid(cluster.kind, cluster.address.group, cluster.metadata.name, refused.problems)


async def fetch_references(client: Client, sight: Snapshot, cluster: TenantCluster) -> None:
    """What `judge` looks at, and no more. Raises NotFound when the API is not that of a platform, Forbidden."""
    meta, team, made_with = cluster.metadata, cluster.spec.team_ref, cluster.status.provider_config_ref
    sight.put(ProviderConfig, (await client.list(ProviderConfig, Selection(SYSTEM_NAMESPACE))).items)
    await sight.fetch_one(client, ButlerConfig, BUTLER_CONFIG_NAME)
    if team is not None:
        await sight.fetch_one(client, Team, team.name)
    if home := cluster.status.tenant_namespace:
        await sight.fetch_one(client, kinds.CLUSTER, meta.name, home)
        if names.ENVIRONMENT in meta.labels:
            await sight.fetch_one(client, kinds.NAMESPACE, home)
    if made_with is not None:
        await _fetch_provider(client, sight, made_with)
    for ref in _candidates(cluster, sight):
        if await _fetch_provider(client, sight, ref):
            return


async def _fetch_provider(client: Client, sight: Snapshot, ref: NsRef) -> bool:
    """Take in a ProviderConfig that is not among the common ones; answers whether there is one."""
    if ref.namespace != SYSTEM_NAMESPACE:
        await sight.fetch_one(client, ProviderConfig, ref.name, ref.namespace)
    return _at(ref, sight) is not None


def provider_candidates(cluster: TenantCluster, team: Team | None, config: ButlerConfig | None) -> tuple[NsRef, ...]:
    """The ProviderConfigs a cluster may mean; it means the first of them that there is.

    Those that it names, or else the one it was made with, and no other; or else its team's, the platform's, the one
    called default."""
    ref, made_with = cluster.spec.provider_config_ref, cluster.status.provider_config_ref
    if ref is not None:
        places = [ref.namespace] if ref.namespace else [SYSTEM_NAMESPACE, cluster.metadata.namespace]
        return tuple(NsRef(name=ref.name, namespace=place) for place in dict.fromkeys(places) if place)
    if made_with is not None:
        return (made_with,)
    found = []
    if team is not None and team.spec.provider_config_ref is not None:
        found.append(NsRef(name=team.spec.provider_config_ref.name, namespace=SYSTEM_NAMESPACE))
    platform = config.spec.default_provider_config_ref if config else None
    if platform is not None:
        found.append(NsRef(name=platform.name, namespace=platform.namespace or SYSTEM_NAMESPACE))
    return (*found, NsRef(name="default", namespace=SYSTEM_NAMESPACE))


def provider_serves(config: ProviderConfig, namespace: str) -> bool:
    """Whether an account may be used from a namespace, as far as that says it: its scope may still be a team."""
    return config.metadata.namespace == SYSTEM_NAMESPACE or serves(config.metadata, namespace)


def provider_choices(cluster: TenantCluster, sight: Lookup) -> list[str]:
    """Which providers a new cluster could name, where nothing says yet which one it means."""
    if cluster.spec.provider_config_ref is not None or any(_at(ref, sight) for ref in _candidates(cluster, sight)):
        return []
    return _common_providers(sight)


def with_only_provider(cluster: TenantCluster, sight: Lookup) -> TenantCluster:
    """A new cluster, which names the provider if there is only one to choose."""
    choices = provider_choices(cluster, sight)
    if len(choices) != 1:
        return cluster
    ref = ProviderRef(name=choices[0])
    return structs.replace(cluster, spec=structs.replace(cluster.spec, provider_config_ref=ref))


def _common_providers(sight: Lookup) -> list[str]:
    """Names of the ProviderConfigs that are there for everyone."""
    return sorted(one.metadata.name for one in sight.within(ProviderConfig, SYSTEM_NAMESPACE))


def _candidates(cluster: TenantCluster, sight: Lookup) -> tuple[NsRef, ...]:
    team = sight.get(Team, cluster.spec.team_ref.name) if cluster.spec.team_ref is not None else None
    return provider_candidates(cluster, team, sight.get(ButlerConfig, BUTLER_CONFIG_NAME))


def _at(ref: NsRef, sight: Lookup) -> ProviderConfig | None:
    found: ProviderConfig | None = sight.get(ProviderConfig, key(ref.namespace, ref.name))
    return found


def _team(cluster: TenantCluster, config: ButlerConfig | None, sight: Lookup) -> Team | None:
    """The team of a cluster, which must be in the team's namespace, or without one in the common one."""
    mode = config.spec.multi_tenancy.mode.capitalize() if config else "Disabled"
    ref = cluster.spec.team_ref
    if ref is None:
        if mode == "Enforced":
            raise Refused(
                "TeamRequired", [FieldError(FieldProblem.REQUIRED, "spec.teamRef", "every cluster needs a team")]
            )
        _must_be_in(cluster, _home(config), "clusters without a team")
        return None
    team: Team | None = sight.get(Team, ref.name)
    if team is None:
        raise Refused("TeamNotFound", [FieldError(FieldProblem.NOT_FOUND, "spec.teamRef.name", "", ref.name)])
    if mode == "Disabled":
        _must_be_in(cluster, _home(config), "clusters")
        return normalise(team)
    if mode == "Enforced" and team.status.phase is not TeamPhase.READY:
        raise Refused("TeamNotFound", [_invalid("spec.teamRef.name", ref.name, "the team is not ready yet")])
    _must_be_in(cluster, [team.status.namespace or ref.name], f"clusters of team {ref.name}")
    return normalise(team)


def _ruled(team: Team | None, config: ButlerConfig | None) -> Team | None:
    """The team with everything that holds for it."""
    if team is None:
        return None
    try:
        return with_default_sizes(with_platform_limits(team, config))
    except ValueError as error:
        raise Refused("InvalidConfiguration", [_invalid("spec.teamRef.name", team.metadata.name, str(error))]) from None


def _home(config: ButlerConfig | None) -> tuple[str, str]:
    """Where clusters are that are no team's: where the platform has them, or where kubectl puts what names no
    namespace."""
    return (config.spec.default_namespace if config else TENANTS_NAMESPACE), DEFAULT_NAMESPACE


def _must_be_in(cluster: TenantCluster, homes: Sequence[str], whose: str) -> None:
    where = cluster.metadata.namespace
    if where not in homes:
        detail = f"{whose} are in namespace {' or '.join(dict.fromkeys(homes))}"
        raise Refused("NamespaceMismatch", [_invalid("metadata.namespace", where, detail)])


def _provider(cluster: TenantCluster, team: Team | None, config: ButlerConfig | None, sight: Lookup) -> ProviderConfig:
    candidates = provider_candidates(cluster, team, config)
    home = cluster.metadata.namespace
    there = [one for ref in candidates if (one := _at(ref, sight)) is not None]
    if found := next((one for one in there if provider_serves(one, home)), None):
        return found
    common = ", ".join(_common_providers(sight))
    advice = f"there are: {common}" if common else f"there is none in {SYSTEM_NAMESPACE}"
    if any(ref.namespace not in (SYSTEM_NAMESPACE, home) for ref in candidates):
        advice += f"; one of another namespace has to allow {home} by the annotation {ALLOWED_NAMESPACES}"
    ref = cluster.spec.provider_config_ref
    path = "spec.providerConfigRef.name" if ref else "spec.providerConfigRef"
    problem = FieldProblem.NOT_FOUND if ref else FieldProblem.REQUIRED
    raise Refused("ProviderConfigNotFound", [FieldError(problem, path, advice, ref.name if ref else None)])


def _accessible(cluster: TenantCluster, provider: ProviderConfig) -> ProviderConfig:
    scope, team = provider.spec.scope, cluster.spec.team_ref
    if scope.type == "team" and (scope.team_ref is None or team is None or scope.team_ref.name != team.name):
        detail = (
            f"the provider is only for team {scope.team_ref.name}" if scope.team_ref else "the provider is for no team"
        )
        problem = FieldError(FieldProblem.FORBIDDEN, "spec.providerConfigRef.name", detail)
        raise Refused("ProviderAccessDenied", [problem])
    return provider


def _overrides_its_own(cluster: TenantCluster, provider: ProviderConfig) -> None:
    """A section for an infrastructure the cluster is not on can only be a mistake."""
    override = cluster.spec.infrastructure_override
    if override is None:
        return
    kind = provider.spec.infrastructure
    given = [name for name in override.__struct_fields__ if getattr(override, name) is not None]
    detail = f"ProviderConfig {provider.metadata.name}, which the cluster is on, is for {kind}"
    others = [
        FieldError(FieldProblem.FORBIDDEN, f"spec.infrastructureOverride.{name}", detail)
        for name in given
        if name != kind
    ]
    if others:
        raise Refused("ValidationFailed", others)


def _may_pass_on_credentials(provider: ProviderConfig) -> None:
    """Cluster API is told which Secret to read, and reads any: so one of another namespace must have been allowed."""
    ref, meta = provider.spec.credentials_ref, provider.metadata
    if ref is None or ref.namespace == meta.namespace:
        return
    accepted = provider.status.condition(CREDENTIALS_VALID)
    is_current = provider.status.observed_generation == meta.generation
    if not is_current or accepted is None or accepted.status != "True":
        detail = f"ProviderConfig {provider.key} has its Secret in another namespace, and is not ready"
        problem = FieldError(FieldProblem.FORBIDDEN, "spec.providerConfigRef.name", detail)
        raise Refused("ProviderNotReady", [problem])


def _templates(provider: ProviderConfig) -> Templates:
    """The Cluster API objects of its infrastructure. Raises Refused where that makes no workers."""
    try:
        return registry.templates(provider.spec.infrastructure)
    except InvalidConfiguration as error:
        problem = _invalid("spec.providerConfigRef.name", provider.key, str(error))
        raise Refused("InvalidConfiguration", [problem]) from None


def _knows_environment(cluster: TenantCluster, team: Team | None, sight: Lookup) -> None:
    """The environments are those of the team; a cluster stays in one that the team has given up."""
    wanted = cluster.metadata.labels.get(names.ENVIRONMENT)
    if wanted is None or team is None or wanted == environment_of(cluster, sight):
        return
    known = [one.name for one in team.spec.environments]
    if wanted not in known:
        advice = f"has the environments {', '.join(known)}" if known else "has no environments"
        path, detail = f"metadata.labels[{names.ENVIRONMENT}]", f"team {team.metadata.name} {advice}"
        raise Refused("ValidationFailed", [FieldError(FieldProblem.NOT_FOUND, path, detail, wanted)])


def _may_step(cluster: TenantCluster, team: Team | None, config: ButlerConfig | None) -> None:
    """A cluster that runs goes from minor to minor; a new one may get its version from a team that names any."""
    seen, asked = cluster.status.observed_state, cluster.spec.kubernetes_version
    runs = seen.kubernetes_version if seen is not None else None
    if not runs and asked is not None:
        return
    wanted = settings_of(cluster, team, config).version
    if not runs:
        if wanted != versions.DEFAULT and (wrong := versions.unsupported(wanted)):
            raise Refused("ValidationFailed", [_invalid("spec.kubernetesVersion", wanted, wrong)])
        return
    if wrong := versions.forbidden_step(runs, wanted):
        raise Refused("VersionNotAllowed", [_invalid("spec.kubernetesVersion", wanted, wrong)])


def _may_choose(
    cluster: TenantCluster, team: Team | None, config: ButlerConfig | None, provider: ProviderConfig
) -> None:
    """A team may have a choice of versions, providers and addons."""
    if team is None or team.spec.resource_limits is None:
        return
    found = list(forbidden_choices(cluster, team, provider, settings_of(cluster, team, config, provider)))
    if found:
        raise Refused(found[0][0], [problem for _, problem in found])


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
    kind, wanted = before.spec.infrastructure, provider.spec.infrastructure
    if kind != wanted:
        detail = f"is on {wanted}, and the machines of this cluster are on {kind}: make another cluster there"
        raise Refused("ValidationFailed", [_invalid("spec.providerConfigRef.name", provider.metadata.name, detail)])


def _invalid(path: str, value: object, detail: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, value)
