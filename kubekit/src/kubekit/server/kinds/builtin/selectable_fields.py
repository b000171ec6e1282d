"""What field selectors compare, where a built-in kind does not simply have the text at that path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubekit.model.selectors import text_at

_IF_ABSENT = {
    ("nodes", "spec.unschedulable"): "false",
    ("pods", "spec.hostNetwork"): "false",
    ("replicationcontrollers", "status.replicas"): "0",
    ("jobs.batch", "status.successful"): "0",
}
_KEPT_AT = {
    ("jobs.batch", "status.successful"): ("status.succeeded",),
    ("events", "source"): ("source.component", "reportingComponent"),
}
_REFUSALS = {
    "jobs.batch": 'field label "{}" not supported for Job',
    "resourceslices.resource.k8s.io": "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
}


def not_selectable(qualified: str, path: str) -> str:
    """What a client is told that selects by another field; a few kinds have words of their own for it."""
    return _REFUSALS.get(qualified, "field label not supported: {}").format(path)


def selected_text(qualified: str, obj: Mapping[str, Any], path: str) -> str:
    """The value of a selectable field; `qualified` is the resource with its group, as `jobs.batch`."""
    places = _KEPT_AT.get((qualified, path), (path,))
    found = (text for place in places if (text := text_at(obj, place)))
    return next(found, _IF_ABSENT.get((qualified, path), ""))
