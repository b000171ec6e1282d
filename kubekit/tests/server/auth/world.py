"""A tiny world for the tests of authentication and authorization: a clock one can turn, and objects to look up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from kubekit.model.resource import Object
from kubekit.server.access.rbac import Rbac


class TurnedClock:
    """Stands still until told otherwise."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, 12, tzinfo=UTC)
        self.elapsed = 0.0

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        self.turn(seconds=seconds)

    def turn(self, **by: float) -> None:
        step = timedelta(**by)
        self.time += step
        self.elapsed += step.total_seconds()


class Shelf:
    """Objects by plural, namespace and name."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}

    def __call__(self, plural: str, namespace: str, name: str) -> Object | None:
        return self.objects.get((plural, namespace, name))

    def put(self, plural: str, namespace: str, name: str, **rest: Any) -> Object:
        made = {"metadata": {"namespace": namespace, "name": name, "uid": f"{plural}-{name}"}, **rest}
        self.objects[plural, namespace, name] = made
        return made

    def drop(self, plural: str, namespace: str, name: str) -> None:
        del self.objects[plural, namespace, name]


GROUP = "rbac.authorization.k8s.io"


def rule(verbs: str, resources: str = "", groups: str = "core", names: str = "", urls: str = "") -> Object:
    """Words separated by spaces; `core` is the group without a name."""
    if urls:
        return {"verbs": verbs.split(), "nonResourceURLs": urls.split()}
    named = ["" if group == "core" else group for group in groups.split()]
    made = {"verbs": verbs.split(), "apiGroups": named, "resources": resources.split()}
    return {**made, "resourceNames": names.split()} if names else made


def role(name: str, *rules: Object, namespace: str = "", **rest: Any) -> Object:
    return {
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": _metadata(name, namespace),
        "rules": rules,
        **rest,
    }


def binding(name: str, to: str, *subjects: Object, namespace: str = "", kind: str = "ClusterRole") -> Object:
    return {
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": to},
        "subjects": list(subjects),
    }


def user(name: str) -> Object:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def group(name: str) -> Object:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}


def rbac_of(*objects: Object) -> Rbac:
    rbac = Rbac()
    for obj in objects:
        rbac.upsert(obj["kind"], obj)
    return rbac


def _metadata(name: str, namespace: str) -> Object:
    return {"name": name, "namespace": namespace} if namespace else {"name": name}
