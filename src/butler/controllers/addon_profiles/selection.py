"""Which clusters a profile is for, and in which order they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import msgspec

from butler.api.addon_profile import AddonProfileSpec, ClusterSelector, Rollout
from butler.api.cluster import ClusterPhase, TenantCluster
from butler.controllers.cluster.names import LONGEST
from kubekit.model.selectors import LabelSelector, from_label_selector

Matches = Callable[[TenantCluster], bool]

_ESTABLISHED = {ClusterPhase.READY, ClusterPhase.RUNNING, ClusterPhase.UPDATING}


def is_established(cluster: TenantCluster) -> bool:
    """Whether a cluster was ready once: its phase never goes back behind that."""
    return cluster.status.phase in _ESTABLISHED


def matching(spec: AddonProfileSpec) -> Matches:
    """Whether a cluster gets the addons of a profile. One that is being deleted does not, nor one whose name is refused
    for its length."""
    selector, namespaces, teams = compiled(spec.cluster_selector), {*spec.namespaces}, {*spec.teams}

    def matches(cluster: TenantCluster) -> bool:
        meta, team = cluster.metadata, cluster.spec.team_ref
        return (
            selector.matches(meta.labels)
            and (not namespaces or meta.namespace in namespaces)
            and (not teams or (team is not None and team.name in teams))
            and meta.deletion_timestamp is None
            and len(meta.name) <= LONGEST
        )

    return matches


def waves(rollout: Rollout, clusters: Iterable[TenantCluster]) -> list[Sequence[TenantCluster]]:
    """The clusters in the order in which they get a change: the same for the same clusters, whenever it is asked."""
    selectors = [compiled(one) for one in rollout.order]

    def turn(cluster: TenantCluster) -> int:
        labels = cluster.metadata.labels
        return next((place for place, one in enumerate(selectors) if one.matches(labels)), len(selectors))

    ordered = sorted(((turn(one), one.key, one) for one in clusters), key=lambda one: one[:2])
    size = wave_size(rollout, len(ordered))
    turns = ([cluster for _, _, cluster in found] for _, found in groupby(ordered, key=lambda one: one[0]))
    return [turn[at : at + size] for turn in turns for at in range(0, len(turn), size)]


def wave_size(rollout: Rollout, matched: int) -> int:
    """How many clusters may be under way at the same time."""
    size = rollout.wave_size
    if isinstance(size, int):
        return max(size, 1)
    return max(-(-matched * int(size.removesuffix("%")) // 100), 1)


def compiled(selector: ClusterSelector) -> LabelSelector:
    return from_label_selector(msgspec.to_builtins(selector))
