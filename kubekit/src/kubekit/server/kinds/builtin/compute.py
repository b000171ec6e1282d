"""Compute resources: which names there are, and that requests stay within limits."""

from __future__ import annotations

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, refuse_each, required

from . import quantities

_CONTAINER = {"cpu", "memory", "ephemeral-storage", "pods", "storage"}
_STANDARD_CONTAINER = {"cpu", "memory", "ephemeral-storage"}
_OBJECT_COUNTS = {
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
}
_QUOTA = (
    _OBJECT_COUNTS
    | _STANDARD_CONTAINER
    | {"requests.storage"}
    | {f"{part}.{name}" for part in ("requests", "limits") for name in _STANDARD_CONTAINER}
)
_STANDARD = _CONTAINER | _QUOTA
_NATIVE_DOMAIN = "kubernetes.io/"


def check_resources(found: Problems, resources: Object, path: str) -> None:
    """The limits and requests of a container."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in limits.items():
        place = f"{path}.limits[{name}]"
        check_container_name(found, name, place)
        found.extend(value_problems(name, value, place))
    for name, value in requests.items():
        place = f"{path}.requests[{name}]"
        check_container_name(found, name, place)
        found.extend(value_problems(name, value, place))
        _check_against_limit(found, name, value, limits.get(name), path)


def _check_against_limit(found: Problems, name: str, value: str, limit: str | None, path: str) -> None:
    if limit is None:
        if not may_overcommit(name):
            found.append(required(f"{path}.limits", "Limit must be set for non overcommitable resources"))
    elif not may_overcommit(name):
        if quantities.amount(value) != quantities.amount(limit):
            found.append(bad(f"{path}.requests", value, f"must be equal to {name} limit of {limit}"))
    elif quantities.amount(value) > quantities.amount(limit):
        found.append(bad(f"{path}.requests", value, f"must be less than or equal to {name} limit of {limit}"))


def is_native(name: str) -> bool:
    return "/" not in name or _NATIVE_DOMAIN in name


def is_huge_page(name: str) -> bool:
    return name.startswith("hugepages-")


def may_overcommit(name: str) -> bool:
    return is_native(name) and not is_huge_page(name)


def check_container_name(found: Problems, name: str, path: str) -> None:
    if name in _STANDARD_CONTAINER:
        return
    check_name(found, name, path)
    if "/" not in name and not is_huge_page(name):
        found.append(bad(path, name, "must be a standard resource for containers"))
    elif "/" in name and not is_native(name) and name.startswith("requests."):
        found.append(bad(path, name, "doesn't follow extended resource name standard"))


def check_name(found: Problems, name: str, path: str) -> None:
    """A resource name is a standard one or carries its owner's domain."""
    if broken := name_rules.qualified_name(name):
        refuse_each(found, path, name, broken)
    elif "/" not in name and name not in _STANDARD and not is_huge_page(name.rpartition(".")[2]):
        found.append(bad(path, name, "must be a standard resource type or fully qualified"))


def is_quota_name(name: str) -> bool:
    """Whether a quota of its own knows the resource."""
    return name in _QUOTA or is_huge_page(name.removeprefix("requests."))


def check_quota_name(found: Problems, name: str, path: str) -> None:
    check_name(found, name, path)
    if "/" not in name and not is_quota_name(name):
        found.append(bad(path, name, "must be a standard resource for quota"))


def value_problems(name: str, value: str, path: str) -> list[FieldError]:
    """A resource's amount is not negative, and whole where halves make no sense."""
    negative = quantities.amount(value) < quantities.ZERO
    found = [bad(path, value, "must be greater than or equal to 0")] if negative else []
    countable = name in _OBJECT_COUNTS or not is_native(name)
    if countable and not quantities.is_whole(value):
        found.append(bad(path, value, "must be an integer"))
    return found
