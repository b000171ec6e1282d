"""Objects reduced to their metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubekit.errors import NotAcceptable
from kubekit.model.resource import Object
from kubekit.server.objects.resource import Resource


def partial(obj: Object, version: str) -> Object:
    """The PartialObjectMetadata of an object, in a version of meta.k8s.io."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": obj.get("metadata", {}),
    }


def partial_list(items: Iterable[Object], metadata: dict[str, Any], version: str) -> Object:
    """The PartialObjectMetadataList of a list, given its items and its own metadata."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": list_metadata(metadata),
        # Where Kubernetes has nothing to put in, it leaves what Go calls a nil slice.
        "items": [partial(item, version) for item in items] or None,
    }


def list_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """What a transformed list keeps of the metadata of the original."""
    return {key: metadata[key] for key in ("resourceVersion", "continue", "remainingItemCount") if metadata.get(key)}


def object_asked_of_list(resource: Resource) -> NotAcceptable:
    """The refusal to show a list as one PartialObjectMetadata."""
    name = _go_type(resource, "List")
    return NotAcceptable(f"you requested PartialObjectMetadata, but the requested object is a list ({name})")


def list_asked_of_object(resource: Resource) -> NotAcceptable:
    """The refusal to show one object as a PartialObjectMetadataList."""
    name = _go_type(resource, "")
    return NotAcceptable(f"you requested PartialObjectMetadataList, but the requested object is not a list ({name})")


def _go_type(resource: Resource, suffix: str) -> str:
    if resource.is_custom:
        return f"*unstructured.Unstructured{suffix}"
    package = resource.group.partition(".")[0] or "core"
    return f"*{package}.{resource.kind}{suffix}"
