"""Who may do what: roles, reviews, impersonation, tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.real.differential.kinds import WIDGETS
from tests.real.differential.steps import APPLY, Step, case, delete, get, patch, post, put, quietly, status
from tests.real.differential.vocabulary import (
    BINDINGS,
    CORE,
    DEPLOYMENTS,
    MAPS,
    NAMESPACES,
    RBAC,
    ROLES,
    SECRETS,
    binding,
    config_map,
    made,
    role,
    rule,
    secret,
)

_REVIEWS = "/apis/authorization.k8s.io/v1"

_AUTHENTICATION = "/apis/authentication.k8s.io/v1"

_CLUSTER_ROLES = f"{RBAC}/clusterroles"


def granted(*rules: dict[str, Any], user: str = "alice") -> tuple[Step, ...]:
    """Rights in the namespace of the case, in force."""
    reading = quietly(post(ROLES, role("r", rule("get", "pods"), *rules)), post(BINDINGS, binding("b", "r", user)))
    return (*reading, get(f"{CORE}/pods/none", user=user, until=status(404), is_shown=False))


def _may(user: str, **attributes: Any) -> Step:
    kind = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {kind: attributes}}
    return post(f"{_REVIEWS}/selfsubjectaccessreviews", body, user=user)


def _review(kind: str, **spec: Any) -> Step:
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
    return post(f"{_REVIEWS}/{kind.lower()}s", body)


def _bearer(step: Step, token: str = "${token.status.token}") -> Step:
    return Step(
        step.method,
        step.path,
        step.body,
        {**step.headers, "Authorization": f"Bearer {token}"},
        is_anonymous=True,
        save=step.save,
        until=step.until,
        is_shown=step.is_shown,
        ignore=step.ignore,
    )


_SELF = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def _furnished(*paths: str) -> list[Step]:
    """What every API has from the start; when and by whom it was written does not matter."""
    return [
        get(f"{RBAC}/{path}", ignore=("body.metadata.managedFields", "body.metadata.resourceVersion")) for path in paths
    ]


CASES = (
    case(
        "what a stranger may not do",
        *[
            Step(
                method,
                path,
                body,
                {"Impersonate-User": "stranger", **({"Content-Type": "application/json"} if body else {})},
            )
            for method, path, body in (
                ("GET", MAPS, None),
                ("GET", f"{MAPS}/a", None),
                ("POST", MAPS, config_map("a")),
                ("PUT", f"{MAPS}/a", config_map("a")),
                ("DELETE", f"{MAPS}/a", None),
                ("DELETE", MAPS, None),
                ("GET", f"{MAPS}?watch=1", None),
                ("GET", "/api/v1/nodes", None),
                ("GET", "/api/v1/configmaps", None),
                ("GET", f"{NAMESPACES}/$ns", None),
                ("GET", f"{DEPLOYMENTS}/a/scale", None),
                ("GET", WIDGETS, None),
                ("GET", f"{WIDGETS}/a/status", None),
                ("GET", "/apis/none.example.org/v1/things", None),
            )
        ],
    ),
    case(
        "what a stranger may not patch",
        patch(f"{MAPS}/a", {}, user="stranger"),
        patch(f"{MAPS}/a?fieldManager=m", config_map("a"), APPLY, user="stranger"),
        patch(f"{WIDGETS}/a/status", {}, user="stranger"),
    ),
    case(
        "paths that are no resources",
        get("/metrics", user="stranger"),
        get("/nothing", user="stranger"),
        get("/version", user="stranger", is_shown=False),
        get("/apis", user="stranger", is_shown=False),
        get("/healthz", user="stranger"),
        get("/logs", user="stranger"),
    ),
    case(
        "rights in a namespace",
        *granted(rule("get list", "configmaps"), rule("create", "secrets")),
        get(MAPS, user="alice", is_shown=False),
        get(f"{MAPS}/none", user="alice"),
        post(MAPS, config_map("a"), user="alice"),
        post(SECRETS, secret("a"), user="alice"),
        get(f"{SECRETS}/a", user="alice"),
        get("/api/v1/configmaps", user="alice"),
        get(f"{NAMESPACES}/default/configmaps", user="alice"),
    ),
    case(
        "rights by name",
        *granted(rule("get update", "configmaps", resourceNames=["a"])),
        get(f"{MAPS}/a", user="alice"),
        get(f"{MAPS}/b", user="alice"),
        get(MAPS, user="alice"),
        get(f"{MAPS}?fieldSelector=metadata.name%3Da", user="alice"),
        post(MAPS, config_map("a"), user="alice"),
    ),
    case(
        "rights on subresources",
        *granted(rule("get", "deployments/scale", "apps"), rule("patch", "widgets/status", "differential.example.org")),
        get(f"{DEPLOYMENTS}/none/scale", user="alice"),
        get(f"{DEPLOYMENTS}/none", user="alice"),
        patch(f"{WIDGETS}/none/status", {}, user="alice"),
        patch(f"{WIDGETS}/none", {}, user="alice"),
    ),
    case(
        "wildcards",
        *granted(rule("*", "*", "apps"), rule("get", "*/status", "differential.example.org")),
        get(f"{DEPLOYMENTS}/none", user="alice"),
        get(f"{DEPLOYMENTS}/none/scale", user="alice"),
        get(f"{WIDGETS}/none/status", user="alice"),
        get(f"{WIDGETS}/none", user="alice"),
    ),
    case(
        "rights of a group",
        *quietly(
            post(ROLES, role("r", rule("get", "configmaps"))),
            post(
                BINDINGS,
                {
                    **binding("b", "r", "x"),
                    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "$ns-team"}],
                },
            ),
            get(f"{MAPS}/none", user="bob", groups="$ns-team", until=status(404)),
        ),
        get(f"{MAPS}/none", user="bob", groups="$ns-team"),
        get(f"{MAPS}/none", user="bob"),
    ),
    case(
        "a role that is not there",
        *quietly(post(BINDINGS, binding("b", "none", "alice"))),
        get(f"{MAPS}/none", user="alice", until=lambda answer: "not found" in answer.at("message")),
    ),
    case(
        "a role of the whole cluster in a namespace",
        *quietly(
            post(BINDINGS, binding("b", "view", "alice", "ClusterRole")),
            get(f"{MAPS}/none", user="alice", until=status(404)),
        ),
        get(f"{MAPS}/none", user="alice"),
        get(f"{SECRETS}/none", user="alice"),
        get(f"{NAMESPACES}/default/configmaps/none", user="alice"),
    ),
    case(
        "nobody gives what they lack",
        *granted(
            rule("create get update", "roles rolebindings", "rbac.authorization.k8s.io"), rule("get", "configmaps")
        ),
        post(ROLES, role("x", rule("get", "configmaps")), user="alice"),
        post(ROLES, role("y", rule("get list", "secrets configmaps")), user="alice"),
        post(BINDINGS, binding("x", "r", "bob"), user="alice"),
        post(BINDINGS, binding("y", "view", "bob", "ClusterRole"), user="alice", ignore=("body.message",)),
        post(BINDINGS, binding("z", "none", "bob"), user="alice"),
    ),
    case(
        "escalate and bind",
        *granted(
            rule("create escalate", "roles", "rbac.authorization.k8s.io"),
            rule("create bind", "rolebindings roles clusterroles", "rbac.authorization.k8s.io"),
        ),
        post(ROLES, role("y", rule("get list", "secrets")), user="alice"),
        post(BINDINGS, binding("y", "r", "bob"), user="alice"),
    ),
    case(
        "may I?",
        *granted(rule("get", "configmaps"), rule("update", "secrets", resourceNames=["s"])),
        _may("alice", verb="get", resource="configmaps", namespace="$ns"),
        _may("alice", verb="list", resource="configmaps", namespace="$ns"),
        _may("alice", verb="get", resource="configmaps"),
        _may("alice", verb="update", resource="secrets", name="s", namespace="$ns"),
        replace(_may("alice", verb="get", path="/healthz"), ignore=("body.status.reason",)),
        _may("alice", verb="get", path="/secret"),
        _may("alice"),
        _may("alice", verb="get", group="none.example.org", resource="things", namespace="$ns"),
    ),
    case(
        "may they?",
        *granted(rule("get", "configmaps")),
        _review(
            "SubjectAccessReview",
            user="alice",
            resourceAttributes={"verb": "get", "resource": "configmaps", "namespace": "$ns"},
        ),
        _review(
            "SubjectAccessReview",
            user="bob",
            resourceAttributes={"verb": "get", "resource": "configmaps", "namespace": "$ns"},
        ),
        _review(
            "SubjectAccessReview",
            user="bob",
            groups=["system:masters"],
            resourceAttributes={"verb": "*", "resource": "*"},
        ),
        _review("SubjectAccessReview", resourceAttributes={"verb": "get"}),
        _review("SubjectAccessReview", user="bob"),
        _review("SubjectAccessReview", user="bob", extra={"a": None}, groups=[], nonResourceAttributes={"path": "/"}),
        _review("SubjectAccessReview", user="bob", extra={}, nonResourceAttributes={"path": "/"}),
        _review(
            "SubjectAccessReview", user="bob", resourceAttributes={"verb": "get"}, nonResourceAttributes={"path": "/"}
        ),
        post(
            f"{_REVIEWS}/namespaces/$ns/localsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "LocalSubjectAccessReview",
                "metadata": {"namespace": "$ns"},
                "spec": {
                    "user": "alice",
                    "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "$ns"},
                },
            },
        ),
        post(
            f"{_REVIEWS}/namespaces/$ns/localsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "LocalSubjectAccessReview",
                "metadata": {"namespace": "$ns"},
                "spec": {
                    "user": "alice",
                    "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "other"},
                },
            },
        ),
    ),
    case(
        "what may I?",
        *granted(rule("get", "configmaps"), rule("update", "secrets", resourceNames=["s"])),
        post(
            f"{_REVIEWS}/selfsubjectrulesreviews",
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "$ns"}},
            user="alice",
            ignore=("body.status.nonResourceRules",),
        ),
        post(
            f"{_REVIEWS}/selfsubjectrulesreviews",
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {}},
            user="alice",
        ),
    ),
    case(
        "reviews are only made",
        get(f"{_REVIEWS}/selfsubjectaccessreviews"),
        get(f"{_REVIEWS}/selfsubjectaccessreviews/a"),
        delete(f"{_AUTHENTICATION}/tokenreviews"),
        post(
            f"{_REVIEWS}/selfsubjectaccessreviews?dryRun=All",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}},
            },
            user="alice",
        ),
        post(f"{_REVIEWS}/selfsubjectaccessreviews", {}),
        post(f"{_REVIEWS}/selfsubjectaccessreviews", {"kind": "Nonsense", "apiVersion": "v1"}),
    ),
    case(
        "who am I?",
        post(f"{_AUTHENTICATION}/selfsubjectreviews", _SELF, user="alice"),
        post(f"{_AUTHENTICATION}/selfsubjectreviews", _SELF, user="alice", groups="team"),
        post(
            f"{_AUTHENTICATION}/selfsubjectreviews",
            _SELF,
            user="alice",
            headers={"Impersonate-Uid": "u1", "Impersonate-Extra-Scope": "s1"},
        ),
        post(f"{_AUTHENTICATION}/selfsubjectreviews", _SELF, user="system:serviceaccount:$ns:default"),
        post(f"{_AUTHENTICATION}/selfsubjectreviews", _SELF, user="system:anonymous"),
        post(f"{_AUTHENTICATION}/selfsubjectreviews", {**_SELF, "metadata": {"name": "x"}}, user="alice"),
    ),
    case(
        "who may be somebody else",
        *granted(rule("impersonate", "serviceaccounts")),
        get(MAPS, headers={"Impersonate-Group": "team"}),
        get(MAPS, headers={"Impersonate-Uid": "x"}),
        get(MAPS, user="", headers={"Impersonate-Extra-A": "x"}),
    ),
    case(
        "nobody at all",
        Step("GET", MAPS, is_anonymous=True),
        Step("GET", "/version", is_anonymous=True, is_shown=False),
        Step("GET", "/healthz", is_anonymous=True),
        Step("GET", "/apis", is_anonymous=True),
        Step("GET", "/openapi/v3", is_anonymous=True),
        Step(
            "POST",
            f"{_AUTHENTICATION}/selfsubjectreviews",
            _SELF,
            {"Content-Type": "application/json"},
            is_anonymous=True,
        ),
    ),
    case(
        "credentials that are none",
        _bearer(get(MAPS), "nonsense"),
        _bearer(get("/healthz"), "nonsense"),
        _bearer(get(MAPS), "a.b.c"),
        Step("GET", MAPS, headers={"Authorization": "Basic eDp5"}, is_anonymous=True),
    ),
    case(
        "roles that gather",
        *quietly(
            post(
                _CLUSTER_ROLES,
                made(
                    "rbac.authorization.k8s.io/v1",
                    "ClusterRole",
                    "$ns-all",
                    aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"$ns/part": "true"}}]},
                    rules=[],
                ),
            ),
            post(
                _CLUSTER_ROLES,
                made(
                    "rbac.authorization.k8s.io/v1",
                    "ClusterRole",
                    "$ns-part",
                    {"labels": {"$ns/part": "true"}},
                    rules=[rule("get", "configmaps")],
                ),
            ),
        ),
        get(f"{_CLUSTER_ROLES}/$ns-all", until=lambda answer: bool(answer.at("rules"))),
        delete(f"{_CLUSTER_ROLES}/$ns-part", is_shown=False),
        get(f"{_CLUSTER_ROLES}/$ns-all", until=lambda answer: not answer.at("rules")),
    ),
    case(
        "the roles that are always there",
        *_furnished(
            *("clusterroles/cluster-admin", "clusterroles/admin", "clusterroles/edit", "clusterroles/view"),
            *("clusterroles/system:discovery", "clusterroles/system:basic-user"),
            *("clusterroles/system:public-info-viewer", "clusterroles/system:aggregate-to-view"),
            *("clusterrolebindings/cluster-admin", "clusterrolebindings/system:discovery"),
        ),
    ),
    case(
        "the roles of the parts of a cluster",
        *_furnished(
            "clusterroles/system:controller:deployment-controller",
            "clusterroles/system:controller:generic-garbage-collector",
            "clusterroles/system:kube-scheduler",
            "clusterroles/system:node",
            "clusterrolebindings/system:controller:deployment-controller",
            "clusterrolebindings/system:kube-scheduler",
            "clusterrolebindings/system:node",
        ),
    ),
    case(
        "an administrator who is impersonated",
        get(f"{MAPS}/none", user="x", groups="system:masters"),
        put(f"{MAPS}/none", config_map("none"), user="x", groups="system:masters"),
    ),
)
