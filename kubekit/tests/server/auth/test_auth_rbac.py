"""Who may do what, and who may say so."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kubekit.errors import BadRequest, Forbidden, NotFound
from kubekit.model.resource import Object
from kubekit.server.access.coverage import uncovered
from kubekit.server.access.escalation import confirm_no_escalation
from kubekit.server.access.rbac import Attributes, Decision, Rbac, Stored, forbidden
from kubekit.server.access.rules import Rule, aggregated_rules
from kubekit.server.objects.user import NOBODY, UserInfo
from tests.server.auth.world import binding, group, rbac_of, role, rule, user

BOB = UserInfo("bob", groups=("dev", "system:authenticated"))
ACCOUNT = UserInfo("system:serviceaccount:apps:runner")


def allows(rules: list[Object], verb: str, resource: str, **rest: Any) -> bool:
    rbac = rbac_of(role("r", *rules), binding("b", "r", user("bob")))
    resource, _, subresource = resource.partition("/")
    return rbac.authorize(Attributes(BOB, verb, resource=resource, subresource=subresource, **rest)).allowed


def test_what_is_not_granted_is_refused() -> None:
    assert Rbac().authorize(Attributes(BOB, "get", resource="pods")) == Decision(allowed=False)


def test_a_rule_grants_its_verbs_groups_and_resources() -> None:
    rules = [rule("get list", "pods deployments", "core apps")]
    assert allows(rules, "get", "pods")
    assert allows(rules, "list", "deployments", group="apps")
    assert not allows(rules, "create", "pods")
    assert not allows(rules, "get", "pods", group="batch")
    assert not allows(rules, "get", "secrets")


def test_a_star_grants_all() -> None:
    assert allows([rule("*", "*", "*")], "frobnicate", "things/part", group="example.com")


def test_a_resource_does_not_grant_its_subresources() -> None:
    assert not allows([rule("get", "pods")], "get", "pods/log")
    assert allows([rule("get", "pods/log")], "get", "pods/log")
    assert not allows([rule("get", "pods/log")], "get", "pods")


def test_a_subresource_can_be_granted_for_all_resources() -> None:
    assert allows([rule("get", "*/scale", "apps")], "get", "deployments/scale", group="apps")
    assert not allows([rule("get", "*/scale", "apps")], "get", "deployments", group="apps")


def test_names_limit_a_rule() -> None:
    rules = [rule("get", "secrets", names="a b")]
    assert allows(rules, "get", "secrets", name="b")
    assert not allows(rules, "get", "secrets", name="c")
    assert not allows(rules, "get", "secrets")


def test_a_later_rule_may_grant_the_other_names() -> None:
    rules = [rule("get", "secrets", names="a"), rule("get", "secrets", names="b")]
    assert allows(rules, "get", "secrets", name="b")


@pytest.mark.parametrize(
    ("url", "path", "allowed"),
    [
        ("/foo", "/foo", True),
        ("/foo", "/foo/bar", False),
        ("/foo/*", "/foo/bar", True),
        ("/foo/*", "/foo", False),
        ("*", "/anything", True),
    ],
)
def test_paths_are_granted_by_prefix(url: str, path: str, allowed: bool) -> None:
    rbac = rbac_of(role("r", rule("get", urls=url)), binding("b", "r", group("dev")))
    assert rbac.authorize(Attributes(BOB, "get", path=path)).allowed is allowed
    assert not rbac.authorize(Attributes(BOB, "post", path=path)).allowed


def test_masters_need_no_rule_and_no_reason() -> None:
    anyone = UserInfo("x", groups=("system:masters",))
    assert Rbac().authorize(Attributes(anyone, "get", resource="pods")) == Decision(allowed=True)


def test_a_role_binding_holds_in_its_namespace_only() -> None:
    rbac = rbac_of(role("r", rule("get", "pods")), binding("b", "r", user("bob"), namespace="apps"))
    assert rbac.authorize(Attributes(BOB, "get", resource="pods", namespace="apps")).allowed
    assert not rbac.authorize(Attributes(BOB, "get", resource="pods", namespace="other")).allowed
    assert not rbac.authorize(Attributes(BOB, "get", resource="pods")).allowed


REASONS = [
    (
        [binding("x", "y", user("bob"))],
        BOB,
        'ClusterRoleBinding "x" of ClusterRole "y" to User "bob"',
    ),
    (
        [binding("x", "y", user("alice"), group("dev"), user("bob"))],
        BOB,
        'ClusterRoleBinding "x" of ClusterRole "y" to Group "dev"',
    ),
    (
        [binding("x", "y", {"kind": "ServiceAccount", "name": "runner"}, namespace="apps")],
        ACCOUNT,
        'RoleBinding "x/apps" of ClusterRole "y" to ServiceAccount "runner/apps"',
    ),
    (
        [
            binding(
                "x",
                "z",
                {"kind": "ServiceAccount", "name": "runner", "namespace": "apps"},
                namespace="apps",
                kind="Role",
            )
        ],
        ACCOUNT,
        'RoleBinding "x/apps" of Role "z" to ServiceAccount "runner/apps"',
    ),
]


@pytest.mark.parametrize(("bindings", "who", "reason"), REASONS)
def test_the_reason_names_the_binding(bindings: list[Object], who: UserInfo, reason: str) -> None:
    roles = role("y", rule("get", "pods")), role("z", rule("get", "pods"), namespace="apps")
    decision = rbac_of(*roles, *bindings).authorize(Attributes(who, "get", resource="pods", namespace="apps"))
    assert decision == Decision(allowed=True, reason=f"RBAC: allowed by {reason}")


def test_a_service_account_without_a_namespace_is_nobody() -> None:
    rbac = rbac_of(role("r", rule("get", "pods")), binding("b", "r", {"kind": "ServiceAccount", "name": "runner"}))
    for name in ("system:serviceaccount::runner", "runner"):
        assert not rbac.authorize(Attributes(UserInfo(name), "get", resource="pods")).allowed


def test_missing_roles_are_named_in_the_refusal() -> None:
    rbac = rbac_of(binding("b", "gone", user("bob")), binding("b", "gone2", user("bob"), namespace="apps", kind="Role"))
    one = rbac.authorize(Attributes(BOB, "get", resource="pods"))
    two = rbac.authorize(Attributes(BOB, "get", resource="pods", namespace="apps"))
    assert one.reason == 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'
    assert two.reason == (
        'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, '
        'role.rbac.authorization.k8s.io "gone2" not found]'
    )


def test_every_change_counts_at_once() -> None:
    rbac, wanted = Rbac(), Attributes(BOB, "get", resource="pods")
    rbac.upsert("ClusterRoleBinding", binding("b", "r", user("bob")))
    assert not rbac.authorize(wanted).allowed
    rbac.upsert("ClusterRole", role("r", rule("get", "pods")))
    assert rbac.authorize(wanted).allowed
    rbac.upsert("ClusterRoleBinding", binding("b", "r", user("alice")))
    assert not rbac.authorize(wanted).allowed
    rbac.upsert("ClusterRoleBinding", binding("b", "r", user("bob"), user("bob")))
    assert rbac.authorize(wanted).allowed
    rbac.remove("ClusterRoleBinding", "", "b")
    rbac.remove("ClusterRoleBinding", "", "b")
    assert not rbac.authorize(wanted).allowed


def test_bindings_of_the_same_name_in_two_namespaces_are_two() -> None:
    rbac = rbac_of(role("r", rule("get", "pods")), *(binding("b", "r", user("bob"), namespace=n) for n in ("a", "c")))
    rbac.remove("RoleBinding", "a", "b")
    assert not rbac.authorize(Attributes(BOB, "get", resource="pods", namespace="a")).allowed
    assert rbac.authorize(Attributes(BOB, "get", resource="pods", namespace="c")).allowed


REFUSALS = [
    (
        Attributes(NOBODY, "list", resource="pods", namespace="default"),
        (
            'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" '
            'in the namespace "default"'
        ),
        {"kind": "pods"},
    ),
    (
        Attributes(BOB, "get", "apps", "v1", "deployments", "scale", "default", "d"),
        (
            'deployments.apps "d" is forbidden: User "bob" cannot get resource "deployments/scale" in API group "apps" '
            'in the namespace "default"'
        ),
        {"name": "d", "group": "apps", "kind": "deployments"},
    ),
    (
        Attributes(BOB, "list", resource="nodes"),
        'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope',
        {"kind": "nodes"},
    ),
    (Attributes(BOB, "get", path="/foo"), 'forbidden: User "bob" cannot get path "/foo"', {}),
    (
        Attributes(UserInfo("a<b>&"), "get", path="/"),
        'forbidden: User "a&lt;b&gt;&amp;" cannot get path "/"',
        {},
    ),
]


@pytest.mark.parametrize(("wanted", "message", "details"), REFUSALS)
def test_a_refusal_speaks_like_kubernetes(wanted: Attributes, message: str, details: Object) -> None:
    refused = forbidden(wanted)
    assert (refused.message, refused.status().get("details", {})) == (message, details)


def test_a_refusal_says_why() -> None:
    assert forbidden(Attributes(BOB, "get", path="/foo"), "RBAC: x").message.endswith('path "/foo": RBAC: x')


WRITER = rule("create update", "clusterroles roles clusterrolebindings rolebindings", "rbac.authorization.k8s.io")
HELD = (WRITER, rule("get list", "configmaps"), rule("get", "secrets", names="a"))


def grant(obj: Object, *more: Object, old: Object | None = None, held: tuple[Object, ...] = HELD) -> None:
    rbac = rbac_of(role("held", *held), binding("b", "held", user("bob")), *more)
    confirm_no_escalation(rbac, BOB, obj["kind"], obj, old)


def refusal(obj: Object, *more: Object, old: Object | None = None) -> str:
    with pytest.raises(Forbidden) as refused:
        grant(obj, *more, old=old)
    return refused.value.message


def test_a_user_may_grant_what_it_holds() -> None:
    grant(role("n", rule("get", "configmaps"), rule("get", "secrets", names="a")))


def test_a_user_may_not_grant_what_it_does_not_hold() -> None:
    wanted = role(
        "n",
        rule("get list watch", "pods configmaps"),
        rule("get post", urls="/foo /bar*"),
        rule("get list", "secrets", "core apps", names="a b"),
    )
    assert refusal(wanted) == (
        'clusterroles.rbac.authorization.k8s.io "n" is forbidden: user "bob" (groups=["dev" "system:authenticated"]) '
        "is attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}\n'
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "watch"]}\n'
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["list"]}\n'
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get" "list"]}\n'
        '{APIGroups:["apps"], Resources:["secrets"], ResourceNames:["a"], Verbs:["get" "list"]}\n'
        '{APIGroups:["apps"], Resources:["secrets"], ResourceNames:["b"], Verbs:["get" "list"]}\n'
        '{NonResourceURLs:["/bar*"], Verbs:["get"]}\n'
        '{NonResourceURLs:["/bar*"], Verbs:["post"]}\n'
        '{NonResourceURLs:["/foo"], Verbs:["get"]}\n'
        '{NonResourceURLs:["/foo"], Verbs:["post"]}'
    )


def test_a_name_does_not_cover_all_names() -> None:
    assert "secrets" in refusal(role("n", rule("get", "secrets")))


def test_the_verb_escalate_lifts_the_rule() -> None:
    right = rule("escalate", "clusterroles", "rbac.authorization.k8s.io")
    grant(role("n", rule("*", "*", "*")), held=(WRITER, right))


def test_masters_may_grant_anything() -> None:
    confirm_no_escalation(
        Rbac(), UserInfo("x", groups=("system:masters",)), "ClusterRole", role("n", rule("*", "*", "*"))
    )


def test_aggregation_takes_the_right_to_everything() -> None:
    aggregation = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    expected = (
        'clusterroles.rbac.authorization.k8s.io "n" is forbidden: '
        "must have cluster-admin privileges to use the aggregationRule"
    )
    aggregated = role("n", rule("get", "configmaps"), aggregationRule=aggregation)
    assert refusal(aggregated) == expected
    assert refusal(role("n", rule("get", "configmaps")), old=aggregated) == expected


def test_the_garbage_collector_may_finish_its_work() -> None:
    strong = role("n", rule("*", "*", "*"))
    released = copy.deepcopy(strong)
    released["metadata"]["finalizers"] = ["x/y"]
    grant(released, old=strong)
    released["metadata"]["labels"] = {"a": "b"}
    assert "not currently held" in refusal(released, old=strong)


def test_a_binding_needs_the_rights_of_its_role_or_the_verb_bind() -> None:
    strong, bound = role("strong", rule("get", "pods")), binding("n", "strong", user("eve"))
    assert refusal(bound, strong).startswith(
        'clusterrolebindings.rbac.authorization.k8s.io "n" is forbidden: user "bob"'
    )
    right = rule("bind", "clusterroles", "rbac.authorization.k8s.io", names="strong")
    grant(bound, strong, held=(WRITER, right))


def test_a_role_in_another_namespace_does_not_help() -> None:
    elsewhere = role("r", rule("get", "pods")), binding("b", "r", user("bob"), namespace="other")
    assert "not currently held" in refusal(role("n", rule("get", "pods"), namespace="apps"), *elsewhere)


def test_a_binding_to_a_missing_role_is_not_found() -> None:
    with pytest.raises(NotFound) as missing:
        grant(binding("n", "nope", user("eve")))
    assert missing.value.message == 'clusterrolebindings.rbac.authorization.k8s.io "nope" not found'
    with pytest.raises(BadRequest, match="Namespace parameter required"):
        grant(binding("n", "nope", user("eve"), kind="Role"))


def test_missing_roles_of_the_writer_are_mentioned() -> None:
    message = refusal(role("n", rule("get", "pods")), binding("d", "gone", user("bob")))
    assert message.endswith('; resolution errors: [clusterroles.rbac.authorization.k8s.io "gone" not found]')


def test_other_kinds_pass() -> None:
    confirm_no_escalation(Rbac(), BOB, "Pod", {"metadata": {"name": "p"}})


def test_an_aggregated_role_is_the_sum_of_the_selected_ones_without_repetition() -> None:
    pods, nodes = rule("get", "pods"), rule("get", "nodes")
    labelled = [role("b", nodes, pods), role("a", pods), role("c", rule("get", "x"))]
    for one in labelled[:2]:
        one["metadata"]["labels"] = {"part": "yes"}
    whole = role("whole", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]})
    whole["metadata"]["labels"] = {"part": "yes"}
    assert [Rule.of(one) for one in aggregated_rules(whole, [*labelled, whole])] == [Rule.of(pods), Rule.of(nodes)]


def test_a_role_without_aggregation_keeps_its_rules() -> None:
    assert aggregated_rules(role("a", rule("get", "pods")), []) == [rule("get", "pods")]


words = some.lists(some.sampled_from(["a", "b", "*", "a/x", "*/x"]), min_size=1, max_size=2).map(tuple)
rules = some.builds(
    Rule, words, words, words, some.one_of(some.just(()), some.lists(some.sampled_from("mn"), max_size=2).map(tuple))
)


@given(
    some.lists(rules, max_size=3),
    rules,
    some.sampled_from("abmn"),
    some.sampled_from(["", "x"]),
    some.sampled_from("mnz"),
)
def test_what_covered_rules_allow_was_allowed_before(
    owned: list[Rule], wanted: Rule, word: str, subresource: str, name: str
) -> None:
    if uncovered(owned, [wanted]):
        return

    def granted(one: Rule) -> bool:
        return one.matches_resource(word, word, word, subresource) and (not one.names or name in one.names)

    assert not granted(wanted) or any(granted(one) for one in owned)


async def test_what_changes_while_roles_are_read_is_so() -> None:
    """Whatever was read of an object before it changed, and whoever asks before all is read."""
    old = [role(name, rule("get", name)) for name in ("a", "b", "c")]
    objects = [*old, *(binding(name, name, user("bob")) for name in ("a", "b", "c"))]

    def stored() -> Iterator[Stored]:
        for number, obj in enumerate(objects):
            yield Stored(obj["kind"], "", obj["metadata"]["name"], partial(dict, obj))
            if number == 0:
                rbac.upsert("ClusterRole", role("a", rule("get", "more")))
                rbac.upsert("ClusterRole", role("c", rule("get", "more")))
                rbac.remove("ClusterRoleBinding", "", "b")
            if number == 4:
                assert rbac.wants_changes

    rbac = Rbac(stored=stored)
    assert not rbac.wants_changes
    await asyncio.gather(rbac.load(), rbac.load())
    allowed = [
        word for word in ("a", "b", "c", "more") if rbac.authorize(Attributes(BOB, "get", resource=word)).allowed
    ]
    assert (rbac.is_loaded, allowed) == (True, ["more"])


async def test_roles_are_read_to_the_end_for_who_cannot_wait() -> None:
    objects = [role("a", rule("get", "a")), binding("a", "a", user("bob"))]
    rbac = Rbac(stored=lambda: [Stored(obj["kind"], "", "a", partial(dict, obj)) for obj in objects])
    loading = asyncio.ensure_future(rbac.load())
    await asyncio.sleep(0)
    assert not rbac.is_loaded
    assert rbac.authorize(Attributes(BOB, "get", resource="a")).allowed
    await loading


async def test_a_failure_while_roles_are_read_is_not_the_end_of_them() -> None:
    objects, failures = [role("a", rule("get", "a")), binding("a", "a", user("bob"))], [OSError("disk")]

    def stored() -> Iterator[Stored]:
        for obj in objects:
            yield Stored(obj["kind"], "", "a", partial(dict, obj))
            if failures:
                raise failures.pop()

    rbac = Rbac(stored=stored)
    with pytest.raises(OSError, match="disk"):
        await rbac.load()
    assert rbac.authorize(Attributes(BOB, "get", resource="a")).allowed
