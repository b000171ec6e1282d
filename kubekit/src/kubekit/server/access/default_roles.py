"""The roles and bindings every API starts with.

Those for people are spelled out here; component_roles.json holds those for the parts of a cluster."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from kubekit.model.resource import Object
from kubekit.server.objects.user import ANONYMOUS, AUTHENTICATED, MASTERS, MONITORING, SERVICE_ACCOUNTS, UNAUTHENTICATED

from .coverage import uncovered
from .rbac import GROUP
from .rules import EVERYTHING, Rule, aggregated_rules, rules_of

READ = ("get", "list", "watch")
WRITE = ("create", "delete", "deletecollection", "patch", "update")
READ_WRITE = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")

AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}

_HEALTH = ("/healthz", "/livez", "/readyz")


def _rule(verbs: Sequence[str], groups: str, resources: str, names: str = "") -> Rule:
    """Words separated by spaces; `core` stands for the group without a name."""
    named = sorted("" if group == "core" else group for group in groups.split())
    return Rule(tuple(verbs), tuple(named), tuple(sorted(resources.split())), tuple(names.split()))


def _paths(*urls: str) -> Rule:
    return Rule(("get",), urls=tuple(sorted(urls)))


_VIEW = (
    _rule(
        READ,
        "core",
        "pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status endpoints"
        " persistentvolumeclaims persistentvolumeclaims/status configmaps",
    ),
    _rule(
        READ,
        "core",
        "limitranges resourcequotas bindings pods/status resourcequotas/status namespaces/status"
        " replicationcontrollers/status pods/log",
    ),
    _rule(READ, "core", "namespaces"),
    _rule(READ, "core events.k8s.io", "events"),
    _rule(READ, "discovery.k8s.io", "endpointslices"),
    _rule(
        READ,
        "apps",
        "controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets daemonsets/status"
        " deployments deployments/status deployments/scale replicasets replicasets/status replicasets/scale",
    ),
    _rule(READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
    _rule(READ, "batch", "jobs cronjobs cronjobs/status jobs/status"),
    _rule(
        READ,
        "extensions",
        "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status"
        " replicasets replicasets/scale replicasets/status replicationcontrollers/scale networkpolicies",
    ),
    _rule(READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
    _rule(READ, "networking.k8s.io", "networkpolicies ingresses ingresses/status"),
    _rule(READ, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"),
)
_EDIT = (
    _rule(READ, "core", "pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy"),
    _rule(["impersonate"], "core", "serviceaccounts"),
    _rule(WRITE, "core", "pods pods/attach pods/proxy pods/exec pods/portforward"),
    _rule(["create"], "core", "pods/eviction"),
    _rule(
        WRITE,
        "core",
        "replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy"
        " persistentvolumeclaims configmaps secrets",
    ),
    _rule(["create"], "core", "serviceaccounts/token"),
    _rule(WRITE, "core events.k8s.io", "events"),
    _rule(
        WRITE,
        "apps",
        "statefulsets statefulsets/scale daemonsets deployments deployments/scale deployments/rollback replicasets"
        " replicasets/scale",
    ),
    _rule(WRITE, "autoscaling", "horizontalpodautoscalers"),
    _rule(WRITE, "batch", "jobs cronjobs"),
    _rule(
        WRITE,
        "extensions",
        "daemonsets deployments deployments/scale deployments/rollback ingresses replicasets replicasets/scale"
        " replicationcontrollers/scale networkpolicies",
    ),
    _rule(WRITE, "policy", "poddisruptionbudgets"),
    _rule(WRITE, "networking.k8s.io", "networkpolicies ingresses"),
    _rule(READ_WRITE, "coordination.k8s.io", "leases"),
    _rule(WRITE, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
)
_ADMIN = (
    _rule(["create"], "authorization.k8s.io", "localsubjectaccessreviews"),
    _rule(READ_WRITE, GROUP, "roles rolebindings"),
)
_PLAIN_ROLES: dict[str, Sequence[Rule]] = {
    "cluster-admin": EVERYTHING,
    "system:discovery": [
        _paths(*_HEALTH, "/version", "/version/", "/openapi", "/openapi/*", "/api", "/api/*", "/apis", "/apis/*")
    ],
    "system:monitoring": [
        _paths(*_HEALTH, *(f"{path}/*" for path in _HEALTH), "/metrics", "/metrics/slis", "/flagz", "/statusz"),
        _rule(["get"], "core", "nodes/metrics"),
    ],
    "system:basic-user": [
        _rule(["create"], "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
        _rule(["create"], "authentication.k8s.io", "selfsubjectreviews"),
    ],
    "system:public-info-viewer": [_paths(*_HEALTH, "/version", "/version/")],
    "system:auth-delegator": [
        _rule(["create"], "authentication.k8s.io", "tokenreviews"),
        _rule(["create"], "authorization.k8s.io", "subjectaccessreviews"),
    ],
    "system:service-account-issuer-discovery": [
        _paths(
            "/.well-known/openid-configuration",
            "/.well-known/openid-configuration/",
            "/openid/v1/jwks",
            "/openid/v1/jwks/",
        )
    ],
}
_PARTS: dict[str, Sequence[Rule]] = {"admin": _ADMIN, "edit": _EDIT, "view": _VIEW}
_PART_OF = {"edit": "admin", "view": "edit"}
_BOUND_GROUPS = {
    "cluster-admin": [MASTERS],
    "system:monitoring": [MONITORING],
    "system:discovery": [AUTHENTICATED],
    "system:basic-user": [AUTHENTICATED],
    "system:public-info-viewer": [AUTHENTICATED, UNAUTHENTICATED],
    "system:service-account-issuer-discovery": [SERVICE_ACCOUNTS],
}
_READER = "extension-apiserver-authentication-reader"
_READER_USERS = ("system:kube-controller-manager", "system:kube-scheduler")


def bootstrap_objects() -> list[Object]:
    """All of them, roles before the bindings that name them, aggregated roles already added up."""
    everything = [*for_people(), *for_components()]
    return sorted(everything, key=lambda one: "roleRef" in one)


def for_people() -> list[Object]:
    """What is made for users, and for programs of any kind."""
    roles = [_cluster_role(name, rules) for name, rules in _PLAIN_ROLES.items()]
    roles += [_part(name, rules) for name, rules in _PARTS.items()]
    aggregated = [_aggregated(name) for name in ("view", "edit", "admin")]
    for role in aggregated:
        role["rules"] = aggregated_rules(role, [*roles, *aggregated])
    reader = _object("Role", _READER, "kube-system")
    reader["rules"] = [_rule(READ, "core", "configmaps", "extension-apiserver-authentication").wire()]
    bindings = [
        _binding("ClusterRoleBinding", name, "ClusterRole", name, [_subject("Group", group) for group in groups])
        for name, groups in _BOUND_GROUPS.items()
    ]
    users = [_subject("User", user) for user in _READER_USERS]
    bindings.append(_binding("RoleBinding", f"system::{_READER}", "Role", _READER, users, "kube-system"))
    return [*roles, *aggregated, reader, *bindings]


def for_components() -> list[Object]:
    """What the controllers, the scheduler and the nodes of a cluster may do, were they to run here."""
    return [_component(key.split(), lines) for key, lines in component_roles().items()]


@cache
def component_roles() -> Mapping[str, Sequence[str]]:
    """The data file: kind, namespace and name of each, and its rules or subjects."""
    found = resources.files(__package__).joinpath("component_roles.json").read_bytes()
    return msgspec.json.decode(found, type=dict[str, list[str]])


def _component(key: list[str], lines: Sequence[str]) -> Object:
    kind, namespace, name = key[0], "".join(key[1:-1]), key[-1]
    if not kind.endswith("Binding"):
        return {**_object(kind, name, namespace), "rules": [_spelled(line).wire() for line in lines]}
    subjects = [_account(one) if who == "ServiceAccount" else _subject(who, one) for who, one in map(str.split, lines)]
    return _binding(kind, name, kind.removesuffix("Binding"), name, subjects, namespace)


def _spelled(line: str) -> Rule:
    """A line of the data file: verbs, groups, resources and perhaps names, each with commas in between."""
    return Rule(*(tuple(words.split(",")) for words in line.split(" ")))


def reconciled(existing: Object, default: Object) -> Object | None:
    """A stored default as it should be after an upgrade; None when it may stay, or its owner asked for that.

    Only what is missing is added; the role that a binding names cannot be changed, and stays.
    """
    metadata = existing["metadata"]
    if (metadata.get("annotations") or {}).get(AUTO_UPDATE) == "false":
        return None
    wanted = copy.deepcopy(existing)
    for key in ("labels", "annotations"):
        wanted["metadata"][key] = {**default["metadata"].get(key, {}), **(metadata.get(key) or {})}
    if "roleRef" in default:
        present = existing.get("subjects") or []
        missing_subjects = [one for one in default.get("subjects", ()) if one not in present]
        if missing_subjects:
            wanted["subjects"] = [*present, *missing_subjects]
    elif "aggregationRule" in default:
        wanted.setdefault("aggregationRule", default["aggregationRule"])
    else:
        missing = uncovered(rules_of(existing), rules_of(default))
        wanted["rules"] = [*(existing.get("rules") or []), *(rule.wire() for rule in missing)]
    return None if wanted == existing else wanted


_FOR_STRANGERS = "system:public-info-viewer"
_STRANGERS = (ANONYMOUS, UNAUTHENTICATED)


def may_concern_strangers(encoded: bytes) -> bool:
    """Whether an object that is not decoded yet may matter to `grant_to_strangers`."""
    return any(name.encode() in encoded for name in (*_STRANGERS, _FOR_STRANGERS))


def grant_to_strangers(policy: Iterable[Object]) -> bool:
    """Whether roles and bindings give those who prove nothing more than, or other than, every API does.

    They may, as long as nobody knows what one that was damaged says."""
    try:
        return _grant_to_strangers(policy)
    except (AttributeError, LookupError, TypeError, ValueError):
        return True


def _grant_to_strangers(policy: Iterable[Object]) -> bool:
    role = [rule.wire() for rule in _PLAIN_ROLES[_FOR_STRANGERS]]
    names = set()
    for one in policy:
        is_usual = one["metadata"]["name"] == _FOR_STRANGERS and "namespace" not in one["metadata"]
        if is_usual and "roleRef" not in one:
            names.add("role")
            if one.get("rules") != role:
                return True
        elif any(subject.get("name") in _STRANGERS for subject in one.get("subjects") or ()):
            names.add("binding")
            if not is_usual:
                return True
    return names != {"role", "binding"}


def _object(kind: str, name: str, namespace: str = "", labels: dict[str, str] | None = None) -> Object:
    metadata: dict[str, Any] = {
        "name": name,
        "labels": {**_LABELS, **(labels or {})},
        "annotations": {AUTO_UPDATE: "true"},
    }
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata}


def _cluster_role(name: str, rules: Sequence[Rule], labels: dict[str, str] | None = None) -> Object:
    return {**_object("ClusterRole", name, labels=labels), "rules": [rule.wire() for rule in rules]}


def _part(name: str, rules: Sequence[Rule]) -> Object:
    return _cluster_role(f"system:aggregate-to-{name}", rules, _joins(name))


def _aggregated(name: str) -> Object:
    role = _object("ClusterRole", name, labels=_joins(_PART_OF[name]) if name in _PART_OF else None)
    role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": _joins(name)}]}
    return role


def _joins(name: str) -> dict[str, str]:
    return {f"{GROUP}/aggregate-to-{name}": "true"}


def _subject(kind: str, name: str) -> Object:
    return {"kind": kind, "apiGroup": GROUP, "name": name}


def _account(name: str) -> Object:
    return {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}


def _binding(kind: str, name: str, role_kind: str, role: str, subjects: list[Object], namespace: str = "") -> Object:
    bound = {**_object(kind, name, namespace), "roleRef": {"apiGroup": GROUP, "kind": role_kind, "name": role}}
    return {**bound, "subjects": subjects} if subjects else bound
