"""What OpenAPI calls groups, kinds and operations."""

from __future__ import annotations

from kubekit.server.objects.resource import Resource

from ..builtin import data
from ..builtin.definitions import full_name

META = "io.k8s.apimachinery.pkg.apis.meta.v1"


def definition_of(resource: Resource) -> str:
    """The definition of a resource's kind: `io.k8s.api.core.v1.Pod`, `com.example.v1.Widget`."""
    if resource.is_custom:
        return custom_definition(resource.group, resource.version, resource.kind)
    return built_in_definition(resource.api_version, resource.kind)


def list_definition_of(resource: Resource) -> str:
    """The definition of the list of a resource's kind."""
    if resource.is_custom:
        return custom_definition(resource.group, resource.version, resource.list_kind)
    return f"{definition_of(resource)}List"


def custom_definition(group: str, version: str, kind: str) -> str:
    return ".".join([*reversed(group.split(".")), version, kind])


def built_in_definition(api_version: str, kind: str) -> str:
    """The definition of a built-in kind, empty when it has none (the options of a stream, say)."""
    found = data.kinds().get(api_version, {}).get(kind)
    return full_name(found) if found else ""


def title_of(group: str, version: str) -> str:
    """`apps`, `v1` → `AppsV1`, as in operation ids."""
    shown = group.removesuffix(".k8s.io") or "core"
    return "".join(part[:1].upper() + part[1:] for part in shown.split(".")) + version[:1].upper() + version[1:]


def tag_of(group: str, version: str) -> str:
    title = title_of(group, "")
    return f"{title[:1].lower()}{title[1:]}_{version}"
