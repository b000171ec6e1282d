"""Which groups, versions and resources the server offers, as clients discover them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import msgspec
import yaml

from kubekit.model import api_versions
from kubekit.server.objects.resource import Resource

from ..builtin import catalogue
from .document import Document
from .negotiation import Form, Representation, negotiate_discovery, negotiate_document

KUBERNETES_MAJOR, KUBERNETES_MINOR = "1", "36"
_GROUP_ORDER = (
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)
"""As kube-apiserver lists its own; groups of CustomResourceDefinitions follow by name."""
_STORED_AS = {
    ("events.k8s.io", "Event"): ("", "v1"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("apiextensions.k8s.io", "v1beta1"),
}
"""Kinds that kube-apiserver stores under another group or version than any it serves."""
_CHANGE_VERBS = ("get", "patch", "update")


class Offer(Protocol):
    """The resources of a server; `version` grows whenever they change."""

    version: int

    def __iter__(self) -> Iterator[Resource]: ...


class Discovery:
    """Everything below `/api` and `/apis` that is not an object, plus `/`; built when asked for, kept as bytes."""

    def __init__(self, offer: Offer, address: str = "") -> None:
        self._offer, self._address = offer, address
        self._seen = -1
        self._groups: dict[str, dict[str, list[Resource]]] = {}
        self._built: dict[tuple[str, bool], tuple[bytes, str]] = {}

    def document(self, path: str, accept: str | None = None, pretty: bool = False) -> Document | None:
        """What stands at a path; None when nothing does. Raises NotAcceptable."""
        path = path.rstrip("/")
        at_root = path in ("/api", "/apis")
        representation = negotiate_discovery(accept) if at_root else negotiate_document(accept)
        built = self._find(path, representation.form is Form.DISCOVERY)
        if built is None:
            return None
        body, etag = built
        written = _written(body, representation, pretty)
        return Document(written, representation.content_type, etag, "public" if etag else "no-cache, private")

    def _find(self, path: str, aggregated: bool) -> tuple[bytes, str] | None:
        if self._seen != self._offer.version:
            self._seen = self._offer.version
            self._groups = _grouped(self._offer)
            self._built.clear()
        key = (path, aggregated)
        if key not in self._built:
            build = self._builder(path, aggregated)
            if build is None:
                return None
            body = msgspec.json.encode(build())
            self._built[key] = (body, f'"{hashlib.sha512(body).hexdigest().upper()}"' if aggregated else "")
        return self._built[key]

    def _builder(self, path: str, aggregated: bool) -> Callable[[], Any] | None:
        match path.split("/")[1:]:
            case []:
                return self._paths
            case ["api"] if aggregated:
                return lambda: _aggregated(group for group in self._groups.items() if not group[0])
            case ["apis"] if aggregated:
                return lambda: _aggregated(group for group in self._groups.items() if group[0])
            case ["api"]:
                return self._core_versions
            case ["apis"]:
                return self._group_list
            case ["api", version] if version in self._groups.get("", {}):
                return lambda: _resource_list("", version, self._groups[""][version])
            case ["apis", group] if group and group in self._groups:
                return lambda: {"kind": "APIGroup", "apiVersion": "v1", **_group(group, self._groups[group])}
            case ["apis", group, version] if group and version in self._groups.get(group, {}):
                return lambda: _resource_list(group, version, self._groups[group][version])
        return None

    def _paths(self) -> dict[str, list[str]]:
        own = ["/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
        groups = [f"/apis/{group}" for group in self._groups if group]
        group_versions = [
            f"/apis/{group}/{version}" if group else f"/api/{version}"
            for group, offered in self._groups.items()
            for version in offered
        ]
        return {"paths": sorted(own + groups + group_versions)}

    def _core_versions(self) -> dict[str, Any]:
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": self._address}]
        offered = list(self._groups.get("", ()))
        return {"kind": "APIVersions", "versions": offered, "serverAddressByClientCIDRs": addresses}

    def _group_list(self) -> dict[str, Any]:
        groups = [_group(name, offered) for name, offered in self._groups.items() if name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def version_info(product: str, build: str, shown: str = "") -> dict[str, str]:
    """What `/version` answers: the Kubernetes version whose API this is, and which build of which product; or, where a
    cluster is to pass for one of another version (`v1.31.4`), that version and nothing else."""
    own = f"v{KUBERNETES_MAJOR}.{KUBERNETES_MINOR}.4+{product}.{build}"
    major, minor, *_ = (shown or own).removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": shown or own,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    }


def _written(body: bytes, representation: Representation, pretty: bool) -> bytes:
    if representation.is_yaml:
        return yaml.safe_dump(msgspec.json.decode(body), sort_keys=True, encoding="utf-8")
    return msgspec.json.format(body, indent=2) if pretty or representation.pretty else body


def _grouped(resources: Iterable[Resource]) -> dict[str, dict[str, list[Resource]]]:
    """group → version → resources, all in the order clients see them."""
    found: dict[str, dict[str, list[Resource]]] = {}
    for resource in sorted(resources, key=_place):
        found.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
    return found


def _place(resource: Resource) -> tuple[Any, ...]:
    order = _GROUP_ORDER.index(resource.group) if resource.group in _GROUP_ORDER else len(_GROUP_ORDER)
    return (bool(resource.group), order, resource.group, api_versions.rank(resource.version), resource.plural)


def _group(name: str, offered: Iterable[str]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in offered]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resource_list(group: str, version: str, resources: list[Resource]) -> dict[str, Any]:
    listed = [entry for resource in resources for entry in _entries(resource)]
    kind = {"kind": "APIResourceList"} if not group else {"kind": "APIResourceList", "apiVersion": "v1"}
    return {**kind, "groupVersion": f"{group}/{version}" if group else version, "resources": listed}


def _entries(resource: Resource) -> Iterator[dict[str, Any]]:
    """A resource and its subresources, as the list of one version shows them."""
    entry: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
    }
    entry |= _names(resource)
    if "watch" in resource.verbs:
        entry["storageVersionHash"] = _storage_version_hash(resource)
    yield entry
    for sub in subresources_of(resource):
        group, _, version = sub.api_version.rpartition("/")
        foreign = {} if sub.api_version == resource.api_version else {"group": group, "version": version}
        yield {
            "name": f"{resource.plural}/{sub.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **foreign,
            "kind": sub.kind,
            "verbs": sub.verbs,
        }


def _names(resource: Resource) -> dict[str, tuple[str, ...]]:
    names = {"shortNames": resource.short_names, "categories": resource.categories}
    return {key: value for key, value in names.items() if value}


def subresources_of(resource: Resource) -> tuple[catalogue.Subresource, ...]:
    """Every subresource with the kind it speaks."""
    if not resource.is_custom:
        return catalogue.subresources(resource.group, resource.version, resource.plural)
    found = []
    if resource.status:
        found.append(catalogue.Subresource("status", resource.api_version, resource.kind, _CHANGE_VERBS))
    if resource.scale is not None:
        found.append(catalogue.Subresource("scale", "autoscaling/v1", "Scale", _CHANGE_VERBS))
    return tuple(found)


def _storage_version_hash(resource: Resource) -> str:
    stored = (resource.group, resource.storage_version or resource.version)
    group, version = _STORED_AS.get((resource.group, resource.kind), stored)
    digest = hashlib.sha256(f"{group}/{version}/{resource.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _aggregated(groups: Iterable[tuple[str, dict[str, list[Resource]]]]) -> dict[str, Any]:
    """All groups with all versions and all resources in one document."""
    items = [
        {
            "metadata": {"name": name} if name else {},
            "versions": [
                {
                    "version": version,
                    "resources": [_aggregated_resource(resource) for resource in resources],
                    "freshness": "Current",
                }
                for version, resources in offered.items()
            ],
        }
        for name, offered in groups
    ]
    return {"kind": Form.DISCOVERY.value, "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_resource(resource: Resource) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "resource": resource.plural,
        "responseKind": _response_kind(resource, resource.api_version, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    }
    entry |= _names(resource)
    if found := subresources_of(resource):
        entry["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": _response_kind(resource, sub.api_version, sub.kind),
                "verbs": sub.verbs,
            }
            for sub in found
        ]
    return entry


def _response_kind(resource: Resource, api_version: str, kind: str) -> dict[str, str]:
    """kube-apiserver leaves the group and version out where a built-in resource speaks its own."""
    if not resource.is_custom and api_version == resource.api_version:
        return {"group": "", "version": "", "kind": kind}
    group, _, version = api_version.rpartition("/")
    return {"group": group, "version": version, "kind": kind}
