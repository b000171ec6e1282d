"""The parameters a binding gives to a policy."""

from __future__ import annotations

from kubekit.model.resource import Object
from kubekit.model.selectors import from_label_selector
from kubekit.server.objects.request import Target, with_type
from kubekit.server.objects.resource import Resource
from kubekit.server.store import json_values

from ..host import Host


class Misconfigured(Exception):
    """A policy or a binding cannot be used as it is."""


def param_resource(host: Host, kind: Object | None) -> Resource | None:
    """The resource a policy takes its parameters from; None when it has none. Raises Misconfigured."""
    if kind is None:
        return None
    found = host.kinds.of_api_version(kind["apiVersion"], kind["kind"])
    if found is None:
        group, _, version = kind["apiVersion"].rpartition("/")
        named = f"{f'{group}/' if group else ''}{version}, Kind={kind['kind']}"
        raise Misconfigured(f"failed to find resource referenced by paramKind: '{named}'")
    return found


async def collect(
    host: Host, resource: Resource | None, reference: Object | None, namespace: str
) -> list[Object | None]:
    """The objects a binding refers to; one None when the policy goes without. Raises Misconfigured."""
    if resource is None or reference is None:
        return [None]
    if resource.namespaced:
        namespace = reference.get("namespace") or namespace
        if not namespace:
            raise Misconfigured(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
            )
    elif reference.get("namespace"):
        raise Misconfigured("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    found = await _found(host, resource, reference, namespace if resource.namespaced else "")
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise Misconfigured("no params found for policy binding with `Deny` parameterNotFoundAction")
    return [*found]


async def _found(host: Host, resource: Resource, reference: Object, namespace: str) -> list[Object]:
    if name := reference.get("name"):
        row = host.latest(Target(resource, namespace, name))
        rows = [] if row is None else [row]
    else:
        rows = [row for row in host.store.rows(host.name, resource.storage_key) if _is_in(row.key, namespace)]
    shown = [json_values.decode(await host.shown(resource, row)) for row in rows]
    if not name:
        selector = from_label_selector(reference.get("selector"))
        shown = [one for one in shown if selector.matches(one["metadata"].get("labels"))]
    return [with_type(resource, one) for one in shown]


def _is_in(key: str, namespace: str) -> bool:
    return not namespace or key.startswith(f"{namespace}/")
