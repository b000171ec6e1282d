"""Places and objects that cases speak of."""

from __future__ import annotations

from typing import Any

from tests.real.differential.steps import get, status

Json = dict[str, Any]

CORE = "/api/v1/namespaces/$ns"
MAPS = f"{CORE}/configmaps"
SECRETS = f"{CORE}/secrets"
SERVICES = f"{CORE}/services"
PODS = f"{CORE}/pods"
ACCOUNTS = f"{CORE}/serviceaccounts"
DEPLOYMENTS = "/apis/apps/v1/namespaces/$ns/deployments"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/$ns/leases"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = f"{RBAC}/namespaces/$ns/roles"
BINDINGS = f"{RBAC}/namespaces/$ns/rolebindings"
NAMESPACES = "/api/v1/namespaces"
NODES = "/api/v1/nodes"

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


ACCOUNT_READY = get(f"{ACCOUNTS}/default", until=status(200), is_shown=False)
"""No pod comes before the account of its namespace."""


def made(version: str, kind: str, name: str, meta: Json | None = None, **fields: Any) -> Json:
    """An object; an empty name leaves it out."""
    metadata = {**({"name": name} if name else {}), **(meta or {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def config_map(name: str, meta: Json | None = None, **fields: Any) -> Json:
    return made("v1", "ConfigMap", name, meta, **fields)


def secret(name: str, meta: Json | None = None, **fields: Any) -> Json:
    return made("v1", "Secret", name, meta, **fields)


def lease(name: str, meta: Json | None = None, **spec: Any) -> Json:
    return made("coordination.k8s.io/v1", "Lease", name, meta, spec=spec)


def container(name: str = "main", **fields: Any) -> Json:
    return {"name": name, "image": "nginx:1", **fields}


def pod(name: str, meta: Json | None = None, containers: Any = None, **spec: Any) -> Json:
    return made("v1", "Pod", name, meta, spec={"containers": containers or [container()], **spec})


def template(labels: Json | None = None, **spec: Any) -> Json:
    return {"metadata": {"labels": labels or {"app": "a"}}, "spec": {"containers": [container()], **spec}}


def deployment(name: str, meta: Json | None = None, **spec: Any) -> Json:
    given = {"selector": {"matchLabels": {"app": "a"}}, "template": template(), **spec}
    return made("apps/v1", "Deployment", name, meta, spec=given)


def service(name: str, meta: Json | None = None, **spec: Any) -> Json:
    return made("v1", "Service", name, meta, spec={"ports": [{"port": 80}], **spec})


def role(name: str, *rules: Json, meta: Json | None = None) -> Json:
    return made("rbac.authorization.k8s.io/v1", "Role", name, meta, rules=list(rules))


def rule(verbs: str, resources: str, groups: str = "", **more: Any) -> Json:
    """With words for lists."""
    return {"apiGroups": groups.split() or [""], "resources": resources.split(), "verbs": verbs.split(), **more}


def binding(name: str, role_name: str, user: str, kind: str = "Role") -> Json:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role_name}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
    return made("rbac.authorization.k8s.io/v1", "RoleBinding", name, roleRef=reference, subjects=[subject])
