"""The paths of a group version, with the operations that clients look for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kubekit.server.objects.resource import Resource

from ..documents.discovery import subresources_of
from . import names

Operation = dict[str, Any]
Paths = dict[str, dict[str, Any]]


def _query(name: str, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": True}}


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "uniqueItems": True}}


_DRY_RUN, _MANAGER, _STRICTNESS = _query("dryRun"), _query("fieldManager"), _query("fieldValidation")
_LISTING = [
    _query("allowWatchBookmarks", "boolean"),
    _query("continue"),
    _query("fieldSelector"),
    _query("labelSelector"),
    _query("limit", "integer"),
    _query("resourceVersion"),
    _query("resourceVersionMatch"),
    _query("sendInitialEvents", "boolean"),
    _query("timeoutSeconds", "integer"),
    _query("watch", "boolean"),
]
_DELETING = [
    _DRY_RUN,
    _query("gracePeriodSeconds", "integer"),
    _query("orphanDependents", "boolean"),
    _query("propagationPolicy"),
]
_WRITING = [_DRY_RUN, _MANAGER, _STRICTNESS]
_PRETTY, _NAME, _NAMESPACE = _query("pretty"), _in_path("name"), _in_path("namespace")
_JSON_PATCHES = ("application/json-patch+json", "application/merge-patch+json")
_PATCH = f"{names.META}.Patch"


@dataclass(frozen=True, slots=True)
class _Verb:
    """How a verb looks in HTTP and in OpenAPI."""

    method: str
    action: str
    word: str
    parameters: list[dict[str, Any]]
    statuses: tuple[str, ...] = ("200",)


_VERBS = {
    "list": _Verb("get", "list", "list", _LISTING),
    "create": _Verb("post", "post", "create", _WRITING, ("200", "201", "202")),
    "deletecollection": _Verb("delete", "deletecollection", "delete", _LISTING + _DELETING),
    "get": _Verb("get", "get", "read", []),
    "update": _Verb("put", "put", "replace", _WRITING, ("200", "201")),
    "delete": _Verb("delete", "delete", "delete", _DELETING, ("200", "202")),
    "patch": _Verb("patch", "patch", "patch", [*_WRITING, _query("force", "boolean")], ("200", "201")),
}
_STATUS_TEXT = {"200": "OK", "201": "Created", "202": "Accepted"}
_OF_COLLECTION = ("list", "create", "deletecollection")
_OF_OBJECT = ("get", "update", "delete", "patch")


def paths_of(resources: Iterable[Resource]) -> Paths:
    """All paths of one group version, sorted."""
    paths: Paths = {}
    for resource in resources:
        paths.update(_paths(resource))
    return dict(sorted(paths.items()))


def _paths(resource: Resource) -> Iterator[tuple[str, dict[str, Any]]]:
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    place = f"{root}/namespaces/{{namespace}}" if resource.namespaced else root
    shared = [_NAMESPACE, _PRETTY] if resource.namespaced else [_PRETTY]
    kind = _Speaking(resource, resource.api_version, resource.kind, names.definition_of(resource))
    if resource.namespaced and "list" in resource.verbs:
        everywhere = {"get": kind.operation("list", suffix="ForAllNamespaces", namespaced=False)}
        yield f"{root}/{resource.plural}", {**everywhere, "parameters": [_PRETTY]}
    if collection := kind.operations(verb for verb in _OF_COLLECTION if verb in resource.verbs):
        yield f"{place}/{resource.plural}", {**collection, "parameters": shared}
    if one := kind.operations(verb for verb in _OF_OBJECT if verb in resource.verbs):
        yield f"{place}/{resource.plural}/{{name}}", {**one, "parameters": [_NAME, *shared]}
    for sub in subresources_of(resource):
        definition = names.built_in_definition(sub.api_version, sub.kind)
        if resource.is_custom and sub.name == "status":
            definition = kind.definition
        spoken = _Speaking(resource, sub.api_version, sub.kind, definition, sub.name)
        found = spoken.operations(verb for verb in sub.verbs if verb in _VERBS)
        yield f"{place}/{resource.plural}/{{name}}/{sub.name}", {**found, "parameters": [_NAME, *shared]}


@dataclass(frozen=True, slots=True)
class _Speaking:
    """A resource or subresource and the kind that goes in and out."""

    resource: Resource
    api_version: str
    kind: str
    definition: str
    subresource: str = ""

    def operations(self, verbs: Iterable[str]) -> dict[str, Operation]:
        return {_VERBS[verb].method: self.operation(verb) for verb in verbs}

    def operation(self, verb: str, suffix: str = "", namespaced: bool | None = None) -> Operation:
        resource, how = self.resource, _VERBS[verb]
        scope = "Namespaced" if (resource.namespaced if namespaced is None else namespaced) else ""
        many = "Collection" if verb == "deletecollection" else ""
        sub = self.subresource[:1].upper() + self.subresource[1:]
        title = names.title_of(resource.group, resource.version)
        operation: Operation = {
            "tags": [names.tag_of(resource.group, resource.version)],
            "operationId": f"{how.word}{title}{many}{scope}{resource.kind}{sub}{suffix}",
            **({"parameters": how.parameters} if how.parameters else {}),
            "responses": self._responses(verb, how.statuses),
            "x-kubernetes-action": how.action,
            "x-kubernetes-group-version-kind": self._group_version_kind(),
        }
        if body := self._body(verb):
            operation["requestBody"] = body
        return operation

    def _group_version_kind(self) -> dict[str, str]:
        if self.resource.is_custom:
            resource = self.resource
            return {"group": resource.group, "version": resource.version, "kind": resource.kind}
        group, _, version = self.api_version.rpartition("/")
        return {"group": group, "version": version, "kind": self.kind}

    def _responses(self, verb: str, statuses: tuple[str, ...]) -> dict[str, Any]:
        answer = self.definition
        if verb == "list":
            answer = names.list_definition_of(self.resource)
        if verb in ("delete", "deletecollection"):
            answer = f"{names.META}.Status"
        content = {"application/json": {"schema": _schema(answer)}}
        found = {status: {"description": _STATUS_TEXT[status], "content": content} for status in statuses}
        return {**found, "401": {"description": "Unauthorized"}}

    def _body(self, verb: str) -> dict[str, Any]:
        if verb in ("create", "update"):
            return {"content": {"*/*": {"schema": _schema(self.definition)}}, "required": True}
        if verb in ("delete", "deletecollection"):
            return {"content": {"*/*": {"schema": _schema(f"{names.META}.DeleteOptions")}}}
        if verb != "patch":
            return {}
        strategic = () if self.resource.is_custom else ("application/strategic-merge-patch+json",)
        types = ("application/apply-patch+yaml", *_JSON_PATCHES, *strategic)
        return {"content": {one: {"schema": _schema(_PATCH)} for one in types}, "required": True}


def _schema(definition: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{definition}"} if definition else {"type": "string"}
