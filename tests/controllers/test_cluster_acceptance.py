"""A cluster and what it refers to."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.api.cluster import TenantCluster
from butler.api.provider import ProviderConfig
from butler.controllers.cluster import kinds
from butler.controllers.cluster.acceptance import Refused, accept
from butler.controllers.cluster.lookup import Snapshot
from tests.controllers.clusters import INSIDE, cluster, config, provider, surroundings, team


def refused(wanted: TenantCluster, *objects: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as error:
        accept(wanted, surroundings(*objects))
    return error.value.condition_reason, str(error.value)


def test_a_cluster_that_names_no_provider_gets_that_of_the_platform() -> None:
    assert accept(cluster(), surroundings()).provider.metadata.name == "simulated"


def test_the_team_s_provider_wins_over_that_of_the_platform() -> None:
    wanted = cluster(teamRef={"name": "web"}, namespace="team-web")
    world = (team(providerConfigRef={"name": "fast"}), provider("fast"), config(multiTenancy={"mode": "Optional"}))
    assert accept(wanted, surroundings(*world)).provider.metadata.name == "fast"


def test_an_unknown_provider_is_refused_with_those_that_exist() -> None:
    wanted = cluster(providerConfigRef={"name": "nowhere"})
    assert refused(wanted, provider("other")) == (
        "ProviderConfigNotFound",
        'spec.providerConfigRef.name: Not found: "nowhere": there are: other, simulated',
    )


def test_without_any_provider_the_message_says_so() -> None:
    with pytest.raises(Refused, match="there is none in butler-system"):
        accept(cluster(), Snapshot())


def test_a_provider_for_one_team_is_not_for_another() -> None:
    world = (provider(scope={"type": "team", "teamRef": {"name": "data"}}), team())
    assert refused(cluster(), *world) == (
        "ProviderAccessDenied",
        "spec.providerConfigRef.name: Forbidden: the provider is only for team data",
    )


@pytest.mark.parametrize(
    ("mode", "wanted", "reason"),
    [
        ("Enforced", cluster(), "TeamRequired"),
        ("Enforced", cluster(teamRef={"name": "nobody"}), "TeamNotFound"),
        ("Enforced", cluster(teamRef={"name": "web"}), "NamespaceMismatch"),
        ("Optional", cluster(namespace="elsewhere"), "NamespaceMismatch"),
        ("Disabled", cluster(namespace="elsewhere"), "NamespaceMismatch"),
    ],
)
def test_clusters_are_where_their_team_is(mode: str, wanted: TenantCluster, reason: str) -> None:
    assert refused(wanted, config(multiTenancy={"mode": mode}), team())[0] == reason


def test_an_enforced_team_must_be_ready() -> None:
    wanted = cluster(teamRef={"name": "web"}, namespace="team-web")
    world = (config(multiTenancy={"mode": "Enforced"}), team(phase="Pending"))
    assert refused(wanted, *world)[1].endswith("the team is not ready yet")


def test_two_spellings_that_contradict_each_other_are_refused() -> None:
    wanted = cluster(workers={"machineTemplate": {"disk": "20Gi", "diskSize": "30Gi"}})
    assert refused(wanted)[0] == "InvalidConfiguration"


def test_a_running_cluster_may_not_skip_a_minor() -> None:
    wanted = cluster(kubernetesVersion="v1.32.0", status={"observedState": {"kubernetesVersion": "v1.30.2"}})
    reason, message = refused(wanted)
    assert reason == "VersionNotAllowed"
    assert message.endswith("the cluster runs v1.30.2, and no minor may be skipped: go to v1.31 first")


def test_a_cluster_that_was_made_keeps_its_networks() -> None:
    network = {"pods": {"cidrBlocks": ["10.244.0.0/16"]}, "services": {"cidrBlocks": ["10.96.0.0/12"]}}
    made = {"metadata": {"name": "shop", "namespace": INSIDE}, "spec": {"clusterNetwork": network}}
    world, status = surroundings(), {"tenantNamespace": INSIDE}
    world.put(kinds.CLUSTER, [made])
    accept(cluster(status=status), world)
    with pytest.raises(Refused, match=r'podCIDR: Invalid value: "10.50.0.0/16": must stay 10.244.0.0/16'):
        accept(cluster(status=status, networking={"podCIDR": "10.50.0.0/16"}), world)


def test_the_machines_of_a_cluster_stay_on_their_kind_of_infrastructure() -> None:
    made = {"providerConfigRef": {"name": "simulated", "namespace": "butler-system"}}
    wanted = cluster(providerConfigRef={"name": "metal"}, status=made)
    section = {"networkName": "default/vlan", "credentialsRef": {"name": "secret"}}
    metal = provider("metal", provider="harvester", harvester=section)
    reason, message = refused(wanted, metal)
    assert reason == "ValidationFailed"
    assert "is on harvester, and the machines of this cluster are on simulated" in message


def test_another_account_of_the_same_kind_may_take_over() -> None:
    made = {"providerConfigRef": {"name": "simulated", "namespace": "butler-system"}}
    wanted = cluster(providerConfigRef={"name": "other"}, status=made)
    assert accept(wanted, surroundings(provider("other"))).provider.metadata.name == "other"


ENVIRONMENT = "butler.butlerlabs.dev/environment"


def in_environment(name: str, **more: Any) -> TenantCluster:
    return cluster(teamRef={"name": "web"}, namespace="team-web", labels={ENVIRONMENT: name}, **more)


def test_an_unknown_environment_is_refused_with_those_that_exist() -> None:
    world = (
        config(multiTenancy={"mode": "Optional"}),
        team(environments=[{"name": "prod"}, {"name": "staging"}]),
    )
    assert accept(in_environment("prod"), surroundings(*world)).team is not None
    assert refused(in_environment("prd"), *world) == (
        "ValidationFailed",
        f'metadata.labels[{ENVIRONMENT}]: Not found: "prd": team web has the environments prod, staging',
    )


def test_a_team_without_environments_knows_none() -> None:
    message = refused(in_environment("prod"), config(multiTenancy={"mode": "Optional"}), team())[1]
    assert message.endswith("team web has no environments")


def test_a_cluster_stays_in_an_environment_that_its_team_has_given_up() -> None:
    sight = surroundings(config(multiTenancy={"mode": "Optional"}), team(environments=[{"name": "staging"}]))
    sight.put(kinds.NAMESPACE, [{"metadata": {"name": INSIDE, "labels": {ENVIRONMENT: "prod"}}}])
    assert accept(in_environment("prod", status={"tenantNamespace": INSIDE}), sight).team is not None


@pytest.mark.parametrize("mode", ["Optional", "Disabled"])
def test_a_cluster_that_names_no_namespace_is_where_kubectl_puts_it(mode: str) -> None:
    beside = msgspec.convert(
        {"metadata": {"name": "harvester-prod", "namespace": "default"}, "spec": {"provider": "simulated"}},
        ProviderConfig,
    )
    wanted = cluster(namespace="default", providerConfigRef={"name": "harvester-prod"})
    world = surroundings(config(multiTenancy={"mode": mode}), beside)
    assert accept(wanted, world).provider.key == "default/harvester-prod"


def test_a_version_of_the_team_that_does_not_exist_is_refused() -> None:
    wanted = cluster(teamRef={"name": "web"}, namespace="team-web")
    world = (config(multiTenancy={"mode": "Optional"}), team(clusterDefaults={"kubernetesVersion": "v1.99.0"}))
    assert refused(wanted, *world)[1].endswith('"v1.99.0": must be between v1.28 and v1.36')
