"""The built-in kinds as resources, as schemas and as OpenAPI, each made from the data file when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kubekit.server.objects.resource import ALL_VERBS, Resource, Scale
from kubekit.server.objects.schema.model import Definitions, Schema

from . import data, definitions
from .translations import TRANSLATIONS

_SELECTABLE = {
    "resourceslices.resource.k8s.io": ("spec.driver", "spec.nodeName"),
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "events.events.k8s.io": (
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "regarding.apiVersion",
        "regarding.resourceVersion",
        "regarding.fieldPath",
        "reason",
        "reportingController",
        "type",
    ),
    "secrets": ("type",),
    "namespaces": ("status.phase",),
    "nodes": ("spec.unschedulable",),
    "services": ("spec.clusterIP", "spec.type"),
    "replicationcontrollers": ("status.replicas",),
    "jobs.batch": ("status.successful",),
    "certificatesigningrequests.certificates.k8s.io": ("spec.signerName",),
}
_DEPRECATED = {"endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}
_STORAGE_VERSIONS = {"horizontalpodautoscalers.autoscaling": "v2"}
_CHANGED_BY_VERSION = frozenset(
    {
        "apiservices.apiregistration.k8s.io",
        "csidrivers.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "csistoragecapacities.storage.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        "leases.coordination.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "poddisruptionbudgets.policy",
        "runtimeclasses.node.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "volumeattachments.storage.k8s.io",
    }
)
"""Kinds whose updates must say which version they are of."""
_SCALE = Scale(".spec.replicas", ".status.replicas", ".spec.selector")
"""Where every built-in kind that scales keeps its numbers; the selector is an object, not yet a text."""


@dataclass(frozen=True, slots=True)
class Subresource:
    """A subresource of a built-in resource, as discovery shows it."""

    name: str
    api_version: str
    kind: str
    verbs: tuple[str, ...]


def resources() -> tuple[Resource, ...]:
    """Every built-in resource; new objects on each call, so that a server can complete its own."""
    return tuple(_resource(entry) for entry in data.contents()["resources"])


@cache
def subresources(group: str, version: str, plural: str) -> tuple[Subresource, ...]:
    """All subresources of a built-in resource, status and scale among them."""
    api_version = f"{group}/{version}" if group else version
    for entry in data.contents()["resources"]:
        if entry["plural"] == plural and entry["apiVersion"] == api_version:
            listed = entry.get("subresources", {}).items()
            return tuple(Subresource(name, owner, kind, tuple(verbs)) for name, (owner, kind, verbs) in listed)
    return ()


def _resource(entry: Mapping[str, Any]) -> Resource:
    group, _, version = entry["apiVersion"].rpartition("/")
    offered = entry.get("subresources", {})
    stored_at, translation = TRANSLATIONS.get((entry["apiVersion"], entry["kind"]), ("", None))
    resource = Resource(
        group,
        version,
        entry["kind"],
        entry["plural"],
        schema_of(group, version, entry["kind"]),
        namespaced="cluster" not in entry,
        singular=entry["singular"],
        list_kind=f"{entry['kind']}List" if "list" in entry.get("verbs", ALL_VERBS) else "",
        short_names=tuple(entry.get("short", ())),
        categories=tuple(entry.get("categories", ())),
        verbs=tuple(entry.get("verbs", ALL_VERBS)),
        status="status" in offered,
        subresources=tuple(name for name in offered if name not in {"status", "scale"}),
        stored_at=stored_at,
        translation=translation,
        deprecation=_DEPRECATED.get(entry["plural"], ""),
    )
    resource.scale = _SCALE if "scale" in offered else None
    resource.selectable_fields = _SELECTABLE.get(resource.qualified, ())
    resource.unconditional_update = resource.qualified not in _CHANGED_BY_VERSION
    stored = _STORAGE_VERSIONS.get(resource.qualified, version)
    resource.storage_version = "" if stored == version else stored
    return resource


def schema_of(group: str, version: str, kind: str) -> Schema:
    """The schema of a built-in kind. Raises KeyError when there is none."""
    api_version = f"{group}/{version}" if group else version
    return definition(definitions.full_name(data.kinds()[api_version][kind]))


@cache
def definition(name: str) -> Schema:
    """The schema called, say, `io.k8s.api.core.v1.PodSpec`. Raises KeyError when there is none."""
    if name not in openapi_definitions():
        raise KeyError(name)
    return _Deferred(name)


@cache
def openapi_definitions() -> definitions.Published:
    """All definitions in OpenAPI v3 form by their usual names, lists included; each is made when first read."""
    return definitions.Published()


@cache
def _schemas() -> Definitions:
    return Definitions(definitions.Described(openapi_definitions()))


class _Deferred(Schema):
    """A schema that is built when one of its attributes is first read."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute not in Schema.__slots__:
            raise AttributeError(attribute)
        built = _schemas().named(self._name)
        for one in Schema.__slots__:
            setattr(self, one, getattr(built, one))
        return getattr(self, attribute)
