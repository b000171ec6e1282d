"""Which objects are refused, and in which words, compared with a real kube-apiserver."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.errors import FieldError
from kubekit.server.kinds.builtin import label_selectors
from kubekit.server.kinds.workloads import schedules
from kubekit.server.objects import name_rules
from tests.server.builtin_golden import Kind, kind_of, label, recorded, untyped

_REFUSED_UPDATES = [entry for entry in recorded("updated") if "causes" in entry]


def _texts(problems: list[FieldError]) -> list[list[str]]:
    """Sorted, because Kubernetes goes through maps in no order."""
    return sorted([one.path, one.body().partition("\n")[0]] for one in problems)


@pytest.mark.parametrize("entry", recorded("refused"), ids=label)
def test_an_invalid_object_is_refused_in_the_words_of_kubernetes(entry: Any) -> None:
    kind = kind_of(entry["given"])
    problems = kind.behaviour.validate(kind.created(entry["given"]))
    assert _texts(problems) == sorted(entry["causes"])


@pytest.mark.parametrize("entry", _REFUSED_UPDATES, ids=label)
def test_a_forbidden_change_is_refused_in_the_words_of_kubernetes(entry: Any) -> None:
    kind, old = kind_of(entry["old"]), untyped(entry["old"])
    problems = kind.behaviour.validate_update(kind.updated(old, entry["patch"]), old)
    assert _texts(problems) == sorted(entry["causes"])


@pytest.mark.parametrize("entry", recorded("stored"), ids=label)
def test_what_kubernetes_accepts_is_accepted(entry: Any) -> None:
    kind, stored = kind_of(entry["given"]), entry["stored"]
    obj = kind.created(entry["given"], stored["metadata"]["name"], stored["metadata"]["uid"])
    assert kind.behaviour.validate(obj) == []
    assert kind.behaviour.validate_update(obj, obj) == []


def test_a_config_map_of_more_than_a_mebibyte_is_refused() -> None:
    kind = Kind("v1", "ConfigMap")
    problems = kind.behaviour.validate(kind.created({"metadata": {}, "data": {"a": "x" * (1024 * 1024 + 1)}}))
    assert [str(one) for one in problems] == ["[]: Too long: may not be more than 1048576 bytes"]


def test_a_secret_is_measured_by_what_it_holds_and_not_by_how_it_is_written() -> None:
    kind = Kind("v1", "Secret")
    fits = "eHh4" * (1024 * 1024 // 3)
    assert kind.behaviour.validate(kind.created({"metadata": {}, "data": {"a": fits}})) == []
    assert kind.behaviour.validate(kind.created({"metadata": {}, "data": {"a": fits, "b": "eHh4eHh4"}}))


def test_a_pod_update_shows_what_it_may_not_change() -> None:
    kind = Kind("v1", "Pod")
    old = kind.created({"metadata": {}, "spec": {"containers": [{"name": "a", "image": "x"}]}})
    new = kind.updated(old, {"spec": {"hostname": "other"}})
    (problem,) = kind.behaviour.validate_update(new, old)
    assert problem.detail.startswith("pod updates may not change fields other than `spec.containers[*].image`")
    assert '+ "hostname": "other",' in problem.detail


def test_a_negative_grace_period_may_be_mended() -> None:
    kind = Kind("v1", "Pod")
    given = {"metadata": {}, "spec": {"terminationGracePeriodSeconds": -1, "containers": [{"name": "a", "image": "x"}]}}
    old = kind.created(given)
    new = kind.updated(old, {"spec": {"terminationGracePeriodSeconds": 1}})
    assert kind.behaviour.validate_update(new, old) == []


def _affinity(*rules: Any) -> Any:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(rules)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_a_gated_pod_may_come_to_want_fewer_nodes() -> None:
    kind = Kind("v1", "Pod")
    zone, disk = {"key": "zone", "operator": "Exists"}, {"key": "disk", "operator": "Exists"}
    gates, containers = [{"name": "a.b/c"}], [{"name": "a", "image": "x"}]
    spec = {"schedulingGates": gates, "nodeSelector": {"a": "b"}, "affinity": _affinity(zone), "containers": containers}
    old = kind.created({"metadata": {}, "spec": spec})
    fewer = kind.updated(old, {"spec": {"nodeSelector": {"c": "d"}, "affinity": _affinity(zone, disk)}})
    other = kind.updated(old, {"spec": {"nodeSelector": {"a": "c"}, "affinity": _affinity(disk)}})
    assert kind.behaviour.validate_update(fewer, old) == []
    assert [one.path for one in kind.behaviour.validate_update(other, old)] == [
        "spec.nodeSelector",
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]",
    ]


def test_pods_of_a_suspended_job_may_ask_for_other_resources_but_not_for_another_image() -> None:
    kind = Kind("batch/v1", "Job")
    pods = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "x"}]}
    old = kind.created({"metadata": {}, "spec": {"suspend": True, "template": {"spec": pods}}})

    def changed(**container: Any) -> Any:
        pods = {"containers": [{**old["spec"]["template"]["spec"]["containers"][0], **container}]}
        return kind.behaviour.validate_update(kind.updated(old, {"spec": {"template": {"spec": pods}}}), old)

    assert changed(resources={"requests": {"cpu": "1"}}) == []
    assert [one.path for one in changed(image="y")] == ["spec.template.spec"]


def test_a_changed_pod_gives_no_cause_for_remarks() -> None:
    kind = Kind("v1", "Pod")
    volumes = [{"name": "v", "rbd": {"monitors": ["m"], "image": "i"}}]
    old = kind.created({"metadata": {}, "spec": {"volumes": volumes, "containers": [{"name": "a", "image": "x"}]}})
    new = kind.updated(old, {"spec": {"activeDeadlineSeconds": 5}})
    assert kind.behaviour.warnings(old, None)
    assert kind.behaviour.warnings(new, old) == []


def test_a_bound_claim_may_grow() -> None:
    kind = Kind("v1", "PersistentVolumeClaim")
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    old = kind.created({"metadata": {}, "spec": spec})
    old["status"] = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    bigger = kind.updated(old, {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    smaller = kind.updated(old, {"spec": {"resources": {"requests": {"storage": "1Mi"}}}})
    assert kind.behaviour.validate_update(bigger, old) == []
    assert [one.path for one in kind.behaviour.validate_update(smaller, old)] == ["spec.resources.requests.storage"]


@pytest.mark.parametrize(
    "schedule", ["* * * * *", "*/5 0-6 1,15 jan-dec mon", "@hourly", "@every 1h30m", "0 0 ? * 5/2"]
)
def test_a_schedule_is_understood(schedule: str) -> None:
    assert schedules.problem(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("@never", "unrecognized descriptor: @never"),
    ],
)
def test_a_wrong_schedule_is_explained(schedule: str, problem: str) -> None:
    assert schedules.problem(schedule) == problem


@pytest.mark.parametrize(
    ("check", "good", "wrong"),
    [
        (name_rules.label, "a-1", "A"),
        (name_rules.subdomain, "a.b-c", "a..b"),
        (name_rules.label_1035, "a1", "1a"),
        (name_rules.path_segment, "system:a", "a/b"),
        (name_rules.qualified_name, "example.com/Name", "a/b/c"),
        (name_rules.label_value, "", "-a"),
        (name_rules.config_key, ".a_B-1", ".."),
        (name_rules.port_name, "http-1", "a--b"),
        (name_rules.host, "*.a.b", "*a"),
        (name_rules.percent, "5%", "5"),
        (name_rules.ip, "::1", "10.0.0.256"),
        (name_rules.ip, "FE80:0::1", "fe80::1%eth0"),
        (name_rules.usual_ip, "fd00::1", "fd00:0::1"),
        (name_rules.cidr, "10.0.0.0/8", "10.0.0.0"),
        (name_rules.cidr, "fd00::/64", "fd00::/255"),
    ],
)
def test_a_format_tells_good_from_wrong(check: name_rules.Format, good: str, wrong: str) -> None:
    assert check(good) == ()
    assert check(wrong)


@pytest.mark.parametrize(
    ("check", "value", "problem"),
    [
        (name_rules.ip, "10.0.0.08", "must not have leading 0s"),
        (name_rules.ip, "::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"),
        (name_rules.usual_ip, "FD00::1", 'must be in canonical form ("fd00::1")'),
        (name_rules.cidr, "10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
        (name_rules.cidr, "::ffff:1.2.3.4/128", "must not have an IPv4-mapped IPv6 address"),
        (name_rules.cidr, "10.1.2.3/8", "must not have bits set beyond the prefix length"),
    ],
)
def test_an_address_with_two_meanings_is_refused(check: name_rules.Format, value: str, problem: str) -> None:
    assert check(value) == (problem,)


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({}, True),
        (None, False),
        ({"matchLabels": {"a": "b"}}, True),
        ({"matchLabels": {"a": "c"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}, False),
        ({"matchExpressions": [{"key": "z", "operator": "NotIn", "values": ["b"]}]}, True),
        ({"matchExpressions": [{"key": "z", "operator": "DoesNotExist"}, {"key": "a", "operator": "Exists"}]}, True),
    ],
)
def test_a_selector_matches_labels(selector: Any, matches: bool) -> None:
    assert label_selectors.matches(selector, {"a": "b"}) is matches
