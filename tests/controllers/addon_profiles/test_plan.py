"""What a profile comes to: waves, what stops them, what is removed, and who gives way to whom."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from butler.controllers.addon_profiles.plan import MOST_WRITES
from butler.controllers.addon_profiles.wanted_addon import CLUSTER, DEFINITION, PROFILE
from kubekit.model.status import Condition
from kubekit.runtime.conditions import Truth, condition
from tests.controllers.addon_profiles.profiles import (
    CERTIFICATES,
    NAMESPACE,
    Platform,
    cluster,
    clusters,
    profile,
)

AGENT = {
    "name": "agent",
    "helm": {"repository": "https://charts.example.com", "chart": "agent"},
    "version": "2.0.0",
    "dependsOn": ["certificates"],
}


def said(platform: Platform, type: str) -> Condition:  # noqa: A002 -- its name
    found = platform.profile.status.condition(type)
    assert found is not None
    return found


def names(platform: Platform) -> list[str]:
    """The clusters that the next visit would touch."""
    return [one.cluster.metadata.name for one in platform.plan().started]


def test_a_cluster_gets_what_the_profile_says() -> None:
    platform = Platform(profile(addons=(CERTIFICATES, AGENT)), cluster("shop"))
    platform.visit()
    certificates, agent = (platform.addons[f"{NAMESPACE}/shop-{name}"] for name in ("certificates", "agent"))
    assert certificates.metadata.labels == {PROFILE: "base", CLUSTER: "shop", DEFINITION: "cert-manager"}
    assert (certificates.spec.cluster_ref.name, certificates.spec.addon) == ("shop", "cert-manager")
    assert agent.spec.helm is not None
    assert agent.spec.helm.release_name == "agent"
    assert [one.name for one in agent.spec.depends_on] == ["shop-certificates"]
    (owner,) = agent.metadata.owner_references
    assert (owner.kind, owner.name, owner.uid) == ("AddonProfile", "base", "uid-base")


def test_when_all_is_there_nothing_is_written() -> None:
    platform = Platform(profile(addons=(CERTIFICATES, AGENT)), *clusters(3))
    platform.roll_out()
    now = platform.plan()
    assert (now.writes, now.deletions) == ([], [])
    assert said(platform, "Ready").status == "True"
    assert platform.profile.status.wave == "3/3"
    assert platform.profile.status.completed_generation == 1


@pytest.mark.parametrize(
    ("size", "matched", "first"),
    [("25%", 10, 3), ("25%", 1, 1), ("1%", 10, 1), ("100%", 10, 10), (4, 10, 4), (99, 3, 3)],
)
def test_a_wave_is_a_number_or_a_part_rounded_up(size: Any, matched: int, first: int) -> None:
    platform = Platform(profile(rollout={"waveSize": size}), *clusters(matched))
    assert len(platform.visit().started) == first


def test_the_next_wave_begins_when_the_one_before_has_what_it_was_told() -> None:
    platform = Platform(profile(rollout={"waveSize": 2}), *clusters(5))
    platform.visit()
    platform.tell(f"{NAMESPACE}/c0000-certificates")
    platform.tell(f"{NAMESPACE}/c0001-certificates", "Installing")
    assert platform.visit().started == ()
    assert platform.profile.status.wave == "1/3"
    platform.tell(f"{NAMESPACE}/c0001-certificates", version="0.9.0")
    assert platform.visit().started == ()
    platform.tell(f"{NAMESPACE}/c0001-certificates", version="v1.0.0")
    assert names(platform) == ["c0002", "c0003"]


def test_what_is_said_of_an_earlier_generation_does_not_count() -> None:
    platform = Platform(profile(rollout={"waveSize": 1}), *clusters(2))
    platform.roll_out()
    platform.become(addons=[{**CERTIFICATES, "values": {"replicas": 2}}])
    platform.visit()
    assert names(platform) == []
    platform.tell(f"{NAMESPACE}/c0000-certificates")
    assert names(platform) == ["c0001"]


@pytest.mark.parametrize(
    ("ready", "generation", "goes_on"), [("True", 2, True), ("True", 1, False), ("Unknown", 2, False)]
)
def test_what_was_ready_before_a_change_need_not_be_ready_after_it(
    ready: Truth, generation: int, goes_on: bool
) -> None:
    platform = Platform(profile(rollout={"waveSize": 1}), *clusters(2))
    platform.roll_out()
    platform.become(addons=[{**CERTIFICATES, "values": {"replicas": 2}}])
    platform.visit()
    key = f"{NAMESPACE}/c0000-certificates"
    platform.tell(key)
    live = platform.addons[key]
    said = structs.replace(condition("Ready", ready, "Installed"), observed_generation=generation)
    platform.addons[key] = structs.replace(live, status=structs.replace(live.status, conditions=(said,)))
    assert bool(names(platform)) is goes_on


def test_canaries_come_first_and_alone() -> None:
    platform = Platform(profile(rollout={"waveSize": 5, "order": [{"matchLabels": {"canary": "yes"}}]}), *clusters(3))
    platform.label("c0002", tier="gold", canary="yes")
    assert names(platform) == ["c0002"]
    platform.visit()
    platform.install_all()
    assert names(platform) == ["c0000", "c0001"]


@pytest.mark.parametrize("phase", ["Failed", "Degraded"])
def test_one_that_fails_stops_the_others_until_it_works(phase: str) -> None:
    platform = Platform(profile(rollout={"waveSize": 2}), *clusters(4))
    platform.visit()
    platform.tell(f"{NAMESPACE}/c0000-certificates")
    platform.tell(f"{NAMESPACE}/c0001-certificates", phase, "no such image")
    now = platform.visit()
    assert (now.writes, now.deletions) == ([], [])
    stopped = said(platform, "Stopped")
    assert (stopped.status, stopped.reason) == ("True", "AddonFailed")
    assert f"{NAMESPACE}/c0001" in stopped.message
    first = platform.profile.status.clusters[0]
    assert (first.name, first.state, first.message) == ("c0001", "Failed", "certificates: no such image")
    assert (platform.profile.status.failed, platform.profile.status.wave) == (1, "1/2")
    platform.tell(f"{NAMESPACE}/c0001-certificates")
    assert names(platform) == ["c0002", "c0003"]
    platform.visit()
    assert said(platform, "Stopped").status == "False"


def test_another_spec_goes_to_the_ones_that_failed_too() -> None:
    platform = Platform(profile(rollout={"waveSize": 1}), *clusters(3))
    platform.visit()
    platform.tell(f"{NAMESPACE}/c0000-certificates", "Failed")
    assert names(platform) == []
    platform.become(addons=[{**CERTIFICATES, "version": "1.0.1"}])
    assert names(platform) == ["c0000"]
    platform.roll_out()
    assert {one.spec.version for one in platform.addons.values()} == {"1.0.1"}


def test_so_many_may_fail_as_the_profile_says() -> None:
    platform = Platform(profile(rollout={"waveSize": 2, "maxFailures": 1}), *clusters(6))
    platform.visit()
    platform.tell(f"{NAMESPACE}/c0000-certificates", "Failed")
    platform.tell(f"{NAMESPACE}/c0001-certificates")
    assert names(platform) == ["c0002", "c0003"]
    platform.visit()
    platform.tell(f"{NAMESPACE}/c0002-certificates", "Failed")
    platform.tell(f"{NAMESPACE}/c0003-certificates")
    assert names(platform) == []


def test_a_cluster_that_leaves_the_profile_no_longer_stops_it() -> None:
    platform = Platform(profile(rollout={"waveSize": 1}), *clusters(2))
    platform.visit()
    platform.tell(f"{NAMESPACE}/c0000-certificates", "Failed")
    platform.label("c0000")
    platform.visit()
    assert platform.has == {"c0001-certificates"}


def test_paused_nothing_is_touched() -> None:
    platform = Platform(profile(rollout={"pause": True}), *clusters(2))
    assert names(platform) == []
    platform.become(rollout={})
    platform.roll_out()
    platform.become(rollout={"pause": True}, addons=[AGENT | {"dependsOn": []}])
    platform.label("c0000")
    now = platform.visit()
    assert (now.writes, now.deletions) == ([], [])
    assert (said(platform, "Stopped").reason, said(platform, "Ready").status) == ("Paused", "False")


@pytest.mark.parametrize("phase", [None, "Pending", "Provisioning", "Installing", "Failed"])
def test_a_cluster_that_was_never_ready_holds_up_nobody(phase: str | None) -> None:
    platform = Platform(profile(rollout={"waveSize": 1}), cluster("a", phase=phase), cluster("b"))
    platform.visit()
    assert "a-certificates" in platform.has
    platform.tell(f"{NAMESPACE}/a-certificates", "Pending")
    platform.visit()
    platform.tell(f"{NAMESPACE}/b-certificates")
    platform.visit()
    status = platform.profile.status
    assert (status.matched, status.ready, status.waiting, status.failed) == (2, 1, 1, 0)
    assert said(platform, "Ready").status == "True"
    assert [(one.name, one.state) for one in status.clusters] == [("a", "Waiting")]


def test_a_cluster_that_becomes_ready_late_counts_like_the_others() -> None:
    platform = Platform(profile(rollout={"waveSize": 1}), cluster("a", phase="Provisioning"), *clusters(2))
    platform.visit()
    platform.add(cluster("a"))
    platform.tell(f"{NAMESPACE}/a-certificates", "Failed")
    platform.tell(f"{NAMESPACE}/c0000-certificates")
    assert names(platform) == []


def test_clusters_that_come_when_all_is_done_get_it_at_once() -> None:
    platform = Platform(profile(rollout={"waveSize": 1}), *clusters(2))
    platform.roll_out()
    platform.add(cluster("x"), cluster("y"), cluster("z"))
    assert names(platform) == ["x", "y", "z"]


def test_clusters_that_come_meanwhile_take_their_turn() -> None:
    platform = Platform(profile(rollout={"waveSize": 2}), *clusters(6))
    platform.visit()
    platform.add(*(cluster(f"a{number}") for number in range(10)))
    assert names(platform) == []
    platform.install_all()
    assert names(platform) == ["a0", "a1"]


def test_what_the_profile_no_longer_has_goes_wave_by_wave() -> None:
    platform = Platform(profile(addons=(CERTIFICATES, AGENT), rollout={"waveSize": 1}), *clusters(2))
    platform.roll_out()
    platform.become(addons=[CERTIFICATES])
    platform.visit()
    assert platform.has == {"c0000-certificates", "c0001-certificates", "c0001-agent"}
    platform.roll_out()
    assert platform.has == {"c0000-certificates", "c0001-certificates"}


def test_what_is_no_longer_said_of_an_addon_is_noticed() -> None:
    platform = Platform(profile(addons=({**CERTIFICATES, "values": {"a": 1, "b": 2}},)), *clusters(1))
    platform.roll_out()
    platform.become(addons=[{**CERTIFICATES, "values": {"a": 1}}])
    assert names(platform) == ["c0000"]


def test_clusters_that_match_no_more_lose_it_and_those_that_are_gone_too() -> None:
    platform = Platform(profile(), *clusters(3))
    platform.roll_out()
    platform.label("c0000")
    del platform.clusters[f"{NAMESPACE}/c0001"]
    platform.visit()
    assert platform.has == {"c0002-certificates"}


def test_without_pruning_it_stays_where_there_is_a_cluster() -> None:
    platform = Platform(profile(addons=(CERTIFICATES, AGENT), prune=False), *clusters(3))
    platform.roll_out()
    platform.become(addons=[CERTIFICATES])
    platform.label("c0000")
    del platform.clusters[f"{NAMESPACE}/c0001"]
    platform.roll_out()
    assert platform.has == {"c0000-certificates", "c0000-agent", "c0002-certificates", "c0002-agent"}


def test_a_cluster_that_is_being_deleted_is_left_alone() -> None:
    platform = Platform(profile(), *clusters(2))
    platform.roll_out()
    platform.add(cluster("c0000", deletionTimestamp="2026-02-01T00:00:00Z"))
    platform.become(addons=[{**CERTIFICATES, "version": "1.0.1"}])
    platform.roll_out()
    versions = {one.metadata.name: one.spec.version for one in platform.addons.values()}
    assert versions == {"c0000-certificates": "1.0.0", "c0001-certificates": "1.0.1"}
    assert platform.profile.status.matched == 1


def test_what_somebody_changed_is_put_right_and_what_they_added_stays() -> None:
    platform = Platform(profile(addons=({**CERTIFICATES, "values": {"a": {"b": 1}}},)), cluster("shop"))
    platform.roll_out()
    live = platform.addons[f"{NAMESPACE}/shop-certificates"]
    added = structs.replace(live, spec=structs.replace(live.spec, values={"a": {"b": 1, "c": 2}}))
    platform.addons[live.key] = added
    assert names(platform) == []
    platform.addons[live.key] = structs.replace(live, spec=structs.replace(live.spec, values={"a": {"b": 7}}))
    assert names(platform) == ["shop"]


def test_an_addon_of_somebody_else_is_left_alone_and_told() -> None:
    platform = Platform(profile(addons=(CERTIFICATES, AGENT)), cluster("shop"))
    body = {
        "kind": "TenantAddon",
        "metadata": {"name": "shop-certificates", "namespace": NAMESPACE},
        "spec": {"clusterRef": {"name": "shop"}, "addon": "cert-manager", "version": "0.1.0"},
    }
    theirs = platform.put(body)
    platform.visit()
    assert platform.addons[theirs.key] == theirs
    assert "shop-agent" in platform.has
    conflict = said(platform, "Conflict")
    assert (conflict.status, conflict.reason) == ("True", "NotOwned")
    assert theirs.key in conflict.message
    platform.install_all()
    platform.visit()
    assert said(platform, "Ready").reason == "Conflict"
    del platform.addons[theirs.key]
    platform.roll_out()
    assert said(platform, "Conflict").status == "False"


@pytest.mark.parametrize("theirs", [CERTIFICATES, {"name": "tls", "addon": "cert-manager", "version": "9.0.0"}])
def test_of_two_profiles_the_older_has_it_and_both_say_so(theirs: dict[str, Any]) -> None:
    older, younger = (
        profile("old", addons=(theirs,)),
        profile("new", addons=(CERTIFICATES, AGENT), created="2026-01-02"),
    )
    platform = Platform(younger, cluster("shop"), others=(older,))
    platform.visit()
    assert platform.has == {"shop-agent"}
    (agent,) = platform.addons.values()
    assert [one.name for one in agent.spec.depends_on] == [f"shop-{theirs['name']}"]
    assert "AddonProfile old" in said(platform, "Conflict").message
    other = Platform(older, cluster("shop"), others=(younger,))
    other.roll_out()
    assert other.has == {f"shop-{theirs['name']}"}
    assert (said(other, "Conflict").reason, said(other, "Ready").status) == ("YoungerProfile", "True")
    assert "new" in said(other, "Conflict").message


def test_an_older_profile_that_comes_to_match_takes_over() -> None:
    older = profile("old", clusterSelector={"matchLabels": {"tier": "iron"}})
    platform = Platform(profile("new", created="2026-01-02"), cluster("shop"), others=(older,))
    platform.roll_out()
    wider = profile("old")
    platform.others = (structs.replace(wider, metadata=structs.replace(wider.metadata, generation=2)),)
    platform.visit()
    assert platform.has == set()


def test_profiles_that_share_no_cluster_do_not_mind_each_other() -> None:
    older = profile("old", clusterSelector={"matchLabels": {"tier": "iron"}})
    platform = Platform(profile("new", created="2026-01-02"), cluster("shop"), others=(older,))
    platform.roll_out()
    assert said(platform, "Conflict").status == "False"


def test_two_clusters_whose_addons_would_have_one_name_do_not_fight() -> None:
    addons = ({"name": "c", "addon": "one"}, {"name": "b-c", "addon": "two"})
    platform = Platform(profile(addons=addons, rollout={"waveSize": 2}), cluster("a"), cluster("a-b"))
    platform.roll_out()
    assert platform.has == {"a-c", "a-b-c", "a-b-b-c"}
    assert "a-b-c" in said(platform, "Conflict").message


def test_dependencies_that_go_round_in_a_circle_are_told() -> None:
    addons = [
        {"name": name, "addon": name, "dependsOn": [needs]} for name, needs in (("a", "b"), ("b", "c"), ("c", "b"))
    ]
    platform = Platform(profile(addons=addons), *clusters(1))
    platform.visit()
    assert platform.has == set()
    stopped = said(platform, "Stopped")
    assert (stopped.reason, stopped.message) == ("InvalidSpec", "dependsOn goes round in a circle: b → c → b")


@pytest.mark.parametrize(
    ("spec", "matched"),
    [
        ({"clusterSelector": {}}, {"a", "b", "c"}),
        ({"namespaces": ["elsewhere"]}, {"c"}),
        ({"teams": ["web"]}, {"b"}),
        ({"teams": ["web"], "namespaces": ["elsewhere"]}, set()),
        ({"clusterSelector": {"matchExpressions": [{"key": "old", "operator": "DoesNotExist"}]}}, {"a", "b"}),
        ({"clusterSelector": {"matchExpressions": [{"key": "old", "operator": "In", "values": ["1"]}]}}, {"c"}),
    ],
)
def test_which_clusters_match(spec: dict[str, Any], matched: set[str]) -> None:
    labels = {"tier": "gold", "old": "1"}
    platform = Platform(
        profile(rollout={"waveSize": "100%"}, **spec),
        cluster("a"), cluster("b", team="web"), cluster("c", namespace="elsewhere", labels=labels),
        cluster("d" * 55),
    )  # fmt: skip
    assert {*names(platform)} == matched


def test_a_status_tells_of_so_many_clusters_only() -> None:
    platform = Platform(profile(rollout={"waveSize": "100%"}), *clusters(120))
    platform.visit()
    platform.tell(f"{NAMESPACE}/c0119-certificates", "Failed", "x" * 5000)
    platform.visit()
    told = platform.profile.status.clusters
    assert (len(told), told[0].name, len(told[0].message or "")) == (50, "c0119", 256)


def test_a_visit_makes_so_many_writes_only_and_the_next_goes_on() -> None:
    platform = Platform(profile(rollout={"waveSize": "100%"}), *clusters(MOST_WRITES + 50))
    assert len(platform.visit().writes) == MOST_WRITES
    assert len(platform.visit().writes) == 50
