"""ClusterCreationPolicy: what people may choose when they create a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Model, Rule
from kubekit.model.status import Status

from .model import NOT_YET, Resource
from .shared import LocalRef, ProviderType


class Everyone(Model):
    """All teams."""


class TeamScope(Model):
    """One team, all its environments."""

    team_ref: LocalRef
    """The team."""


class EnvironmentScope(Model):
    """One environment of one team."""

    team_ref: LocalRef
    """The team."""
    environment_name: Annotated[str, Meta(min_length=1, max_length=63)]
    """The environment."""


class PolicyScope(Model):
    """Whom the policy concerns: exactly one of these."""

    rules = (
        Rule(
            "[has(self.platformWide) || has(self.clusterWide), has(self.team), has(self.teamAndEnvironment)]"
            ".exists_one(given, given)",
            "exactly one of platformWide, team and teamAndEnvironment must be set",
        ),
    )

    platform_wide: Everyone | None = None
    cluster_wide: Everyone | None = None
    """Another name for platformWide."""
    team: TeamScope | None = None
    team_and_environment: EnvironmentScope | None = None


class PolicyOption(Model):
    """What is offered for one choice."""

    mode: Literal["pin", "allowList", "default", "recommended"]
    """pin and allowList restrict; default and recommended only advise."""
    values: tuple[str, ...] = ()
    """What is offered: one value for pin, at least one for allowList and recommended."""
    default: str | None = None
    """What is chosen beforehand; needed for mode default."""
    recommended_reason: Annotated[str, Meta(max_length=120)] | None = None
    """Why it is recommended."""


class ClusterCreationPolicySpec(Model):
    """The policy."""

    scope: PolicyScope
    target_providers: tuple[ProviderType, ...] = ()
    """Kinds of infrastructure it concerns; empty means all."""
    options: Mapping[str, PolicyOption] = {}
    """By choice: image, network, cluster, storageContainer."""


class ClusterCreationPolicyStatus(Status):
    """The policy as it is."""

    stale_references: tuple[str, ...] = ()
    """Values the provider no longer offers."""


class ClusterCreationPolicy(
    Resource,
    plural="clustercreationpolicies",
    short="ccp",
    namespaced=False,
    columns=(
        Column("Team", ".spec.scope.team.teamRef.name"),
        Column("Env", ".spec.scope.teamAndEnvironment.environmentName"),
        Column("Providers", ".spec.targetProviders"),
        AGE,
    ),
):
    """What people may choose when they create a cluster."""

    spec: Annotated[ClusterCreationPolicySpec, NOT_YET]
    status: ClusterCreationPolicyStatus = ClusterCreationPolicyStatus()
