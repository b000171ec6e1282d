"""Which ProviderConfig a cluster means."""

from __future__ import annotations

from butler.api.cluster import TenantCluster
from butler.api.shared import NsRef
from butler.controllers.cluster.acceptance import provider_candidates, provider_choices, with_only_provider
from butler.controllers.cluster.lookup import Snapshot
from tests.controllers.clusters import cluster, config, provider, team

MADE_WITH = {"providerConfigRef": {"name": "before", "namespace": "elsewhere"}}


def places(wanted: TenantCluster, *, defaults: bool = False) -> list[str]:
    owner = team(providerConfigRef={"name": "fast"}) if defaults else None
    platform = config(defaultProviderConfigRef={"name": "slow"}) if defaults else None
    return [f"{ref.namespace}/{ref.name}" for ref in provider_candidates(wanted, owner, platform)]


def test_one_that_is_named_is_looked_for_in_the_system_namespace_then_beside_the_cluster() -> None:
    wanted = cluster(providerConfigRef={"name": "prod"}, namespace="home", status=MADE_WITH)
    assert places(wanted, defaults=True) == ["butler-system/prod", "home/prod"]


def test_one_that_is_named_with_a_namespace_is_looked_for_only_there() -> None:
    wanted = cluster(providerConfigRef={"name": "prod", "namespace": "there"})
    assert provider_candidates(wanted, None, config()) == (NsRef(name="prod", namespace="there"),)


def test_a_cluster_that_names_none_keeps_the_one_it_was_made_with() -> None:
    assert places(cluster(status=MADE_WITH), defaults=True) == ["elsewhere/before"]


def test_a_new_cluster_that_names_none_means_its_team_s_then_the_platform_s_then_the_usual_one() -> None:
    assert places(cluster(), defaults=True) == ["butler-system/fast", "butler-system/slow", "butler-system/default"]
    assert places(cluster()) == ["butler-system/default"]


def sight_of(*names: str) -> Snapshot:
    sight = Snapshot()
    for name in names:
        sight.put(type(provider()), [provider(name)])
    return sight


def test_the_only_provider_is_named_where_nothing_else_says_which() -> None:
    made = with_only_provider(cluster(), sight_of("lab"))
    assert made.spec.provider_config_ref is not None
    assert made.spec.provider_config_ref.name == "lab"


def test_nothing_is_chosen_where_there_is_a_choice_or_a_default() -> None:
    assert provider_choices(cluster(), sight_of("lab", "prod")) == ["lab", "prod"]
    assert with_only_provider(cluster(), sight_of("lab", "prod")) == cluster()
    assert provider_choices(cluster(), sight_of("default")) == []
    assert provider_choices(cluster(providerConfigRef={"name": "gone"}), sight_of("lab")) == []
