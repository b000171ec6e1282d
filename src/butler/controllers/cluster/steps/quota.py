"""The cluster is within what its team and its provider allow."""

from __future__ import annotations

from collections.abc import Iterator

from butler.api.cluster import TenantCluster
from butler.api.provider import ProviderConfig
from kubekit.runtime.objects import key

from .. import names
from ..acceptance import as_last_accepted, environment_of, provider_candidates, provider_serves
from ..scope import Scope
from ..settings import ClusterSettings, settings_of
from ..step import Step, Verdict, Whose
from ..team_rules import allowed, exceeded_sizes


class Quota(Step):
    """Counts what others have, and what those before it ask for: the youngest is the one too many. What was granted
    stays granted until the cluster asks for something else, so no limit takes down a cluster that runs."""

    condition, title, holds = "QuotaSatisfied", "Quota", True

    def verdict(self, scope: Scope) -> Verdict:
        if not _is_granted(scope):
            for reason, problem in _exceeded(scope):
                return Verdict(False, reason, problem, Whose.OWNER)
        return Verdict(True, "QuotaSatisfied", "the cluster is within its limits")


def _is_granted(scope: Scope) -> bool:
    """Whether the cluster as it is written was found to be within its limits before."""
    stays = scope.cluster.metadata.labels.get(names.ENVIRONMENT) == environment_of(scope.cluster, scope.sight)
    return stays and scope.cluster.status.accepted_spec == scope.asked


def _exceeded(scope: Scope) -> Iterator[tuple[str, str]]:
    team, limits = scope.accepted.team, scope.accepted.provider.spec.limits
    if limits is None and team is None:
        return
    others = _others(scope)
    workers = scope.settings.workers
    if limits is not None:
        here = [one for one in others if _is_on_same_provider(one, scope)]
        there = workers + sum(_workers(one, scope) for one in here)
        yield from _above("QuotaExceeded", "cluster", "on this provider", len(here) + 1, limits.max_clusters_per_team)
        yield from _above("QuotaExceeded", "worker", "on this provider", there, limits.max_nodes_per_team)
    if team is None:
        return
    most = team.spec.resource_limits
    if most is not None:
        total = workers + sum(_workers(one, scope) for one in others)
        yield from _above("QuotaExceeded", "worker", "in one cluster", workers, most.max_nodes_per_cluster)
        yield from _above("QuotaExceeded", "cluster", "of the team", len(others) + 1, most.max_clusters)
        yield from _above("QuotaExceeded", "worker", "of the team", total, most.max_total_nodes)
        together = [scope.settings, *(_settings(one, scope) for one in others)]
        yield from (("QuotaExceeded", problem) for problem in exceeded_sizes(most, together))
    yield from _environment(scope, others)


def _environment(scope: Scope, others: list[TenantCluster]) -> Iterator[tuple[str, str]]:
    team, wanted = scope.accepted.team, scope.cluster.metadata.labels.get(names.ENVIRONMENT)
    environment = next((one for one in team.spec.environments if one.name == wanted), None) if team else None
    if environment is None or environment.limits is None:
        return
    same = [one for one in others if one.metadata.labels.get(names.ENVIRONMENT) == wanted]
    limits, member = environment.limits, _member(scope.cluster)
    yield from _above("EnvQuotaExceeded", "cluster", f"in {wanted}", len(same) + 1, limits.max_clusters or None)
    if member:
        own = sum(_member(one) == member for one in same) + 1
        yield from _above(
            "PerMemberCapExceeded", "cluster", f"of {member} in {wanted}", own, limits.max_clusters_per_member or None
        )


def _others(scope: Scope) -> list[TenantCluster]:
    """Clusters of the same team, or without one too, that are not on their way out: those whose turn is before as they
    are to be, the rest as far as they were granted. So two that ask at the same moment never get both what is left for
    one."""
    own, team = scope.cluster.metadata, scope.cluster.spec.team_ref
    others = [
        one
        for one in scope.sight.within(TenantCluster, own.namespace)
        if one.spec.team_ref == team and one.metadata.uid != own.uid and not one.deleting
    ]
    turn = _turn(scope.cluster)
    counted = (one if _turn(one) < turn else as_last_accepted(one, scope.sight) for one in others)
    return [one for one in counted if one is not None]


def _is_on_same_provider(cluster: TenantCluster, scope: Scope) -> bool:
    """Whether another cluster of the team means this cluster's provider too."""
    meant = provider_candidates(cluster, scope.accepted.team, scope.accepted.config)
    there = (scope.sight.get(ProviderConfig, key(ref.namespace, ref.name)) for ref in meant)
    usable = (one for one in there if one is not None and provider_serves(one, cluster.metadata.namespace))
    found = next(usable, None)
    return found is not None and found.key == scope.accepted.provider.key


def _turn(cluster: TenantCluster) -> tuple[bool, float, str]:
    """Clusters that were granted something come first, then the older; one that was not created yet is the last."""
    created = cluster.metadata.creation_timestamp
    age = created.timestamp() if created else float("inf")
    return cluster.status.accepted_spec is None, age, cluster.metadata.uid


def _workers(cluster: TenantCluster, scope: Scope) -> int:
    return _settings(cluster, scope).workers


def _settings(cluster: TenantCluster, scope: Scope) -> ClusterSettings:
    return settings_of(cluster, scope.accepted.team, scope.accepted.config)


def _member(cluster: TenantCluster) -> str:
    annotations = cluster.metadata.annotations
    return (annotations.get(names.OWNER) or annotations.get(names.CREATOR) or "").lower()


def _above(reason: str, noun: str, where: str, count: int, limit: int | None) -> Iterator[tuple[str, str]]:
    if limit is not None and count > limit:
        yield reason, f"{count} {noun if count == 1 else f'{noun}s'} {where}, and {allowed(limit)}"
