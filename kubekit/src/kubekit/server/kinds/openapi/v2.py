"""OpenAPI v2 (Swagger) of everything on offer, for clients that know no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kubekit.server.objects.resource import Resource

from ..documents.discovery import KUBERNETES_MAJOR, KUBERNETES_MINOR
from .components import schemas_for
from .paths import paths_of

_V3, _V2 = "#/components/schemas/", "#/definitions/"
_UNKNOWN_TO_V2 = {"anyOf", "oneOf", "not", "nullable", "x-kubernetes-validations", "x-kubernetes-selectable-fields"}


def swagger(resources: Iterable[Resource]) -> dict[str, Any]:
    """One document with the paths and definitions of all resources."""
    listed = list(resources)
    paths = paths_of(listed)
    definitions = {name: _definition(schema) for name, schema in schemas_for([paths], listed).items()}
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": f"v{KUBERNETES_MAJOR}.{KUBERNETES_MINOR}"},
        "paths": {path: _path(item) for path, item in paths.items()},
        "definitions": definitions,
    }


def _definition(schema: Mapping[str, Any]) -> dict[str, Any]:
    if not schema.get("x-kubernetes-preserve-unknown-fields"):
        return _schema(schema)
    # kubectl takes a definition with any properties to forbid all others.
    kept = ("description", "type", "x-kubernetes-group-version-kind")
    return {key: schema[key] for key in kept if key in schema}


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    if schema.get("nullable"):
        # v2 cannot say that null is allowed, so it says nothing about the type.
        return {key: schema[key] for key in ("description",) if key in schema}
    shown = {key: value for key, value in schema.items() if key not in _UNKNOWN_TO_V2}
    parts = shown.pop("allOf", [])
    reference = schema.get("$ref") or (parts[0].get("$ref") if len(parts) == 1 else None)
    if reference:
        shown["$ref"] = reference.replace(_V3, _V2)
    if "type" not in shown and not reference and not shown.get("x-kubernetes-int-or-string"):
        shown |= _text_for_choice(schema)
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        shown.pop("properties", None)
        shown.pop("items", None)
    if "properties" in shown:
        shown["properties"] = {name: _schema(one) for name, one in shown["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(shown.get(key), Mapping):
            shown[key] = _schema(shown[key])
    return shown


def _text_for_choice(schema: Mapping[str, Any]) -> dict[str, str]:
    """A value that is text or something else (a quantity, an int-or-string) is text to v2."""
    choices = [one.get("type") for one in schema.get("oneOf", ())]
    return {"type": "string"} if "string" in choices else {}


def _path(item: Mapping[str, Any]) -> dict[str, Any]:
    methods = {method: _operation(operation) for method, operation in item.items() if method != "parameters"}
    return {**methods, "parameters": [_parameter(one) for one in item["parameters"]]}


def _operation(operation: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: value for key, value in operation.items() if key not in ("requestBody", "parameters", "responses")}
    parameters = [_parameter(one) for one in operation.get("parameters", ())]
    body = operation.get("requestBody")
    if body:
        content = next(iter(body["content"].values()))
        parameters.insert(0, {"name": "body", "in": "body", "schema": _schema(content["schema"])})
        parameters[0] |= {"required": True} if body.get("required") else {}
    return {
        **shown,
        "consumes": list(body["content"]) if body else ["*/*"],
        "produces": ["application/json", "application/yaml"],
        "schemes": ["https"],
        "parameters": parameters,
        "responses": {status: _response(one) for status, one in operation["responses"].items()},
    }


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: value for key, value in parameter.items() if key != "schema"}
    return {**shown, **parameter["schema"]}


def _response(response: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {"description": response["description"]}
    if "content" in response:
        shown["schema"] = _schema(response["content"]["application/json"]["schema"])
    return shown
