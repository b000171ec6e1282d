"""Who may act as whom: every header, for roles with and without names. Only the codes are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.real.differential.steps import Step, case, get, post, quietly, status
from tests.real.differential.vocabulary import ACCOUNT_READY, ACCOUNTS, MAPS, RBAC, made, rule

_GROUP = "rbac.authorization.k8s.io"
_IDENTITY = "authentication.k8s.io"
_SELF = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def _named(resources: str, *names: str, groups: str = "", verbs: str = "impersonate") -> dict[str, Any]:
    return rule(verbs, resources, groups, resourceNames=list(names))


_HEADERS: tuple[dict[str, str], ...] = (
    {"Impersonate-User": "a"},
    {"Impersonate-User": "b"},
    {"Impersonate-User": ""},
    {"Impersonate-User": "system:anonymous"},
    {"Impersonate-User": "system:serviceaccount:$ns:default"},
    {"Impersonate-User": "system:serviceaccount:$ns:none"},
    {"Impersonate-User": "system:serviceaccount:other:default"},
    {"Impersonate-User": "system:serviceaccount:a"},
    {"Impersonate-User": "system:node:n"},
    {"Impersonate-User": "system:node:"},
    {"Impersonate-User": "a", "Impersonate-Group": "g"},
    {"Impersonate-User": "a", "Impersonate-Group": "system:masters"},
    {"Impersonate-User": "a", "Impersonate-Group": ""},
    {"Impersonate-User": "b", "Impersonate-Group": "g"},
    {"Impersonate-Group": "g"},
    {"Impersonate-Uid": "u"},
    {"Impersonate-Extra-Scope": "x"},
    {"Impersonate-User": "a", "Impersonate-Uid": "u"},
    {"Impersonate-User": "a", "Impersonate-Uid": "v"},
    {"Impersonate-User": "a", "Impersonate-Extra-Scope": "x"},
    {"Impersonate-User": "a", "Impersonate-Extra-Scope": "y"},
    {"Impersonate-User": "a", "Impersonate-Extra-Scope": ""},
    {"Impersonate-User": "a", "Impersonate-Extra-": "x"},
    {"Impersonate-User": "a", "Impersonate-Extra-acme.com%2fscope": "x"},
    {"Impersonate-User": "a", "Impersonate-Extra-%": "x"},
    {"Impersonate-User": "a", "Impersonate-Extra-%2": "x"},
    {"Impersonate-User": "a", "Impersonate-Extra-SCOPE": "x"},
    {"Impersonate-User": "a", "Impersonate-Unknown": "x"},
    {"Impersonate-User": "system:serviceaccount:$ns:default", "Impersonate-Group": "g"},
)
_ROLES: dict[str, tuple[dict[str, Any], ...]] = {
    "nobody": (),
    "any user": (rule("impersonate", "users"),),
    "one user": (_named("users", "a", "system:anonymous"),),
    "any account": (rule("impersonate", "serviceaccounts"),),
    "one account": (_named("serviceaccounts", "default"),),
    "one user and one group": (_named("users", "a"), _named("groups", "g")),
    "one user and any group": (_named("users", "a"), rule("impersonate", "groups")),
    "one user and one uid": (_named("users", "a"), _named("uids", "u", groups=_IDENTITY)),
    "one user and any extra": (_named("users", "a"), rule("impersonate", "userextras/scope", _IDENTITY)),
    "one user and one extra": (_named("users", "a"), _named("userextras/scope", "x", groups=_IDENTITY)),
    "one user and all extras": (_named("users", "a"), rule("impersonate", "userextras userextras/*", _IDENTITY)),
    "in the wrong group": (rule("impersonate", "users groups serviceaccounts", _IDENTITY), rule("*", "uids")),
    "by another verb": (rule("get create update", "users groups serviceaccounts"),),
    "everybody": (rule("impersonate", "*", "*"),),
}


def _rights(rules: tuple[dict[str, Any], ...]) -> tuple[Step, ...]:
    """Of an account, in force."""
    reference = {"apiGroup": _GROUP, "kind": "ClusterRole", "name": "$ns-role"}
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": "$ns"}
    probe = {"nonResourceURLs": ["/probe"], "verbs": ["get"]}
    bound = made(f"{_GROUP}/v1", "ClusterRoleBinding", "$ns-role", roleRef=reference, subjects=[subject])
    token = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return (
        ACCOUNT_READY,
        *quietly(
            post(f"{RBAC}/clusterroles", made(f"{_GROUP}/v1", "ClusterRole", "$ns-role", rules=[probe, *rules])),
            post(f"{RBAC}/clusterrolebindings", bound),
            post(f"{ACCOUNTS}/default/token", token, save="token"),
        ),
        _as_account(get("/probe", until=status(404), is_shown=False)),
    )


def _as_account(step: Step, **headers: str) -> Step:
    sent = {**step.headers, **headers, "Authorization": "Bearer ${token.status.token}"}
    return replace(step, headers=sent, is_anonymous=True)


CASES = tuple(
    case(
        name,
        _rights(rules),
        *quietly(
            *(_as_account(post(_REVIEWS, _SELF), **headers) for headers in _HEADERS),
            *(_as_account(get(MAPS), **headers) for headers in _HEADERS),
        ),
    )
    for name, rules in _ROLES.items()
)
