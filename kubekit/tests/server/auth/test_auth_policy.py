"""The roles and bindings every API starts with."""

from __future__ import annotations

import copy

import pytest

from kubekit.server.access.coverage import uncovered
from kubekit.server.access.default_roles import AUTO_UPDATE, bootstrap_objects, reconciled
from kubekit.server.access.rbac import Attributes, Rbac
from kubekit.server.access.rules import Rule
from kubekit.server.objects.user import NOBODY, UserInfo
from tests.server.auth.world import binding, rbac_of, rule, user

BOB = UserInfo("bob", groups=("system:authenticated",))
DEFAULTS = {(one["kind"], one["metadata"]["name"]): one for one in bootstrap_objects()}


@pytest.fixture(scope="module")
def fresh() -> Rbac:
    return rbac_of(*bootstrap_objects())


def test_everybody_may_see_that_the_server_lives(fresh: Rbac) -> None:
    assert fresh.authorize(Attributes(NOBODY, "get", path="/healthz")).allowed
    assert fresh.authorize(Attributes(NOBODY, "get", path="/version")).allowed
    assert not fresh.authorize(Attributes(NOBODY, "get", path="/apis")).allowed
    assert fresh.authorize(Attributes(BOB, "get", path="/apis/apps")).allowed


def test_view_edit_and_admin_grow(fresh: Rbac) -> None:
    for who in ("view", "edit", "admin"):
        fresh.upsert("RoleBinding", binding(who, who, user(who), namespace="apps"))

    def may(verb: str, resource: str, api: str = "") -> list[str]:
        wanted = [
            Attributes(UserInfo(who), verb, api, resource=resource, namespace="apps")
            for who in ("view", "edit", "admin")
        ]
        return [one.user.name for one in wanted if fresh.authorize(one).allowed]

    assert may("list", "pods") == ["view", "edit", "admin"]
    assert may("list", "secrets") == ["edit", "admin"]
    assert may("create", "rolebindings", "rbac.authorization.k8s.io") == ["admin"]
    assert may("create", "resourcequotas") == []


def test_each_controller_of_a_cluster_may_do_its_own_work_and_no_other(fresh: Rbac) -> None:
    def may(account: str, verb: str, resource: str, group: str = "") -> bool:
        user = UserInfo(f"system:serviceaccount:kube-system:{account}")
        wanted = Attributes(user, verb, group, resource=resource, namespace="apps", name="x")
        return fresh.authorize(wanted).allowed

    assert may("deployment-controller", "create", "replicasets", "apps")
    assert may("replicaset-controller", "create", "pods")
    assert may("generic-garbage-collector", "delete", "widgets", "example.com")
    assert not may("deployment-controller", "create", "pods")
    assert not may("replicaset-controller", "get", "secrets")


def test_a_controller_manager_and_a_scheduler_that_are_not_administrators_can_lead(fresh: Rbac) -> None:
    for component in ("kube-controller-manager", "kube-scheduler"):
        user = UserInfo(f"system:{component}")
        lease = Attributes(
            user, "update", "coordination.k8s.io", resource="leases", namespace="kube-system", name=component
        )
        assert fresh.authorize(lease).allowed
    assert not fresh.authorize(Attributes(user, "get", resource="secrets", namespace="apps", name="x")).allowed


def test_nodes_have_a_role_that_nobody_is_bound_to() -> None:
    assert DEFAULTS["ClusterRole", "system:node"]["rules"]
    assert "subjects" not in DEFAULTS["ClusterRoleBinding", "system:node"]


def test_the_number_of_rules_is_that_of_kubernetes() -> None:
    counts = {name: len(DEFAULTS["ClusterRole", name]["rules"]) for name in ("admin", "edit", "view")}
    assert counts == {"admin": 29, "edit": 27, "view": 12}


def test_every_default_is_marked(fresh: Rbac) -> None:
    for one in DEFAULTS.values():
        assert one["metadata"]["labels"]["kubernetes.io/bootstrapping"] == "rbac-defaults"
        assert one["metadata"]["annotations"] == {AUTO_UPDATE: "true"}


def test_a_default_as_it_should_be_stays() -> None:
    assert [reconciled(copy.deepcopy(one), one) for one in DEFAULTS.values() if reconciled(one, one)] == []


def test_what_a_default_lacks_is_added_and_what_it_has_more_stays() -> None:
    default = DEFAULTS["ClusterRole", "system:basic-user"]
    stored = {**copy.deepcopy(default), "rules": [rule("get", "extra")]}
    wanted = reconciled(stored, default)
    assert wanted is not None
    assert rule("get", "extra") in wanted["rules"]
    assert not uncovered([Rule.of(one) for one in wanted["rules"]], [Rule.of(one) for one in default["rules"]])
    bound = DEFAULTS["ClusterRoleBinding", "system:discovery"]
    emptied = {**copy.deepcopy(bound), "subjects": []}
    assert (reconciled(emptied, bound) or {})["subjects"] == bound["subjects"]


def test_a_default_binding_without_subjects_keeps_those_it_was_given() -> None:
    default = DEFAULTS["ClusterRoleBinding", "system:node"]
    given = {**copy.deepcopy(default), "subjects": [user("node-1")]}
    assert reconciled(given, default) is None


def test_a_default_its_owner_took_over_stays() -> None:
    default = DEFAULTS["ClusterRole", "view"]
    stored = copy.deepcopy(default)
    stored["metadata"]["annotations"] = {AUTO_UPDATE: "false"}
    stored["metadata"]["labels"] = {}
    assert reconciled(stored, default) is None
