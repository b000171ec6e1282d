"""Google's own description of Compute Engine: which calls there are, and what they take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

Json = dict[str, Any]
Mask = dict[str, Any]
"""Selected fields; an empty one selects everything below."""
_TYPES: dict[str, Any] = {"string": str, "boolean": bool, "number": int | float, "any": object}
_NUMBERS = {"int32", "int64", "uint32", "uint64"}


@cache
def document() -> Json:
    folder = resources.files("googleapiclient.discovery_cache") / "documents"
    found: Json = json.loads((folder / "compute.v1.json").read_text())
    return found


@dataclass(frozen=True)
class Method:
    """A call, with what its path says."""

    id: str
    description: Json
    arguments: Mapping[str, str]


@cache
def _methods() -> dict[tuple[str, int], list[Json]]:
    found: dict[tuple[str, int], list[Json]] = {}
    for resource in document()["resources"].values():
        for method in resource.get("methods", {}).values():
            found.setdefault((method["httpMethod"], method["path"].count("/")), []).append(method)
    return found


def method_of(verb: str, path: str) -> Method | None:
    """The call that a request is, `path` being what follows `/compute/v1/`; literal paths win over patterns."""
    possible = _methods().get((verb, path.count("/")), [])
    found = [(method, values) for method in possible if (values := _arguments(method["path"], path)) is not None]
    if not found:
        return None
    method, values = min(found, key=lambda one: len(one[1]))
    return Method(method["id"], method, values)


def _arguments(template: str, path: str) -> dict[str, str] | None:
    found = {}
    for wanted, given in zip(template.split("/"), path.split("/"), strict=True):
        if wanted.startswith("{"):
            found[wanted.strip("{}+")] = given
        elif wanted != given:
            return None
    return found


def problems(method: Method, query: Mapping[str, str], body: Any) -> Iterator[str]:
    """What is wrong with a request, in Google's words."""
    parameters = {**document()["parameters"], **method.description["parameters"]}
    for name, value in (*method.arguments.items(), *query.items()):
        if name not in parameters:
            yield f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter.'
        elif (pattern := parameters[name].get("pattern")) and not re.fullmatch(pattern, value):
            yield f"Invalid value for field '{name}': '{value}'. Must be a match of regex '{pattern}'"
    if "fields" in query:
        yield from mask_problems({"$ref": method.description["response"]["$ref"]}, mask_of(query["fields"]))
    wanted = method.description.get("request")
    if (wanted is None) != (body is None):
        yield "Required field 'resource' not specified" if wanted else "Request body must be empty"
    elif wanted is not None:
        yield from _mistakes({"$ref": wanted["$ref"]}, body, "resource", method.id)


def answer_problems(method: str, answer: Any) -> Iterator[str]:
    """What is wrong with an answer."""
    described = document()
    for part in method.split(".")[1:-1]:
        described = described["resources"][part]
    yield from _mistakes(described["methods"][method.rpartition(".")[2]]["response"], answer, "answer", "")


def _mistakes(schema: Json, value: Any, path: str, method: str) -> Iterator[str]:
    schema = _resolved(schema)
    match schema.get("type"):
        case "object":
            yield from _mistakes_in_object(schema, value, path, method)
        case "array":
            if not isinstance(value, list):
                yield _mistyped(path, value, "TYPE_MESSAGE")
                return
            for number, item in enumerate(value):
                yield from _mistakes(schema["items"], item, f"{path}[{number}]", method)
        case kind:
            yield from _mistakes_in_scalar(schema, str(kind), value, path)


def _mistakes_in_object(schema: Json, value: Any, path: str, method: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _mistyped(path, value, "TYPE_MESSAGE")
        return
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, inner in value.items():
        if name not in known and others is None:
            yield f"Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Cannot find field."
        else:
            yield from _mistakes(known.get(name, others), inner, f"{path}.{name}", method)
    for name, inner in known.items():
        if method in inner.get("annotations", {}).get("required", ()) and name not in value:
            yield f"Required field '{path}.{name}' not specified"


def _mistakes_in_scalar(schema: Json, kind: str, value: Any, path: str) -> Iterator[str]:
    if schema.get("format") in _NUMBERS:
        if isinstance(value, bool) or not re.fullmatch(r"-?\d+", str(value)):
            yield _mistyped(path, value, f"TYPE_{schema['format'].upper()}")
    elif not isinstance(value, _TYPES[kind]):
        yield _mistyped(path, value, f"TYPE_{kind.upper()}")
    elif (pattern := schema.get("pattern")) and not re.fullmatch(pattern, str(value)):
        yield f"Invalid value for field '{path}': '{value}'. Must be a match of regex '(?:{pattern})'"
    elif (possible := schema.get("enum")) and value not in possible:
        yield _mistyped(path, value, "TYPE_ENUM")


def _mistyped(path: str, value: Any, kind: str) -> str:
    return f"Invalid value at '{path}' ({kind}), {json.dumps(value)}"


def _resolved(schema: Json) -> Json:
    while "$ref" in schema:
        schema = document()["schemas"][schema["$ref"]]
    return schema


@cache
def mask_of(text: str) -> Mask:
    """`a,b(c,d/e)` as nested names; nothing selects everything."""
    mask: Mask = {}
    depth, start = 0, 0
    if not text:
        return mask
    for position, letter in enumerate(f"{text},"):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            _add(mask, text[start:position])
            start = position + 1
    return mask


def _add(mask: Mask, part: str) -> None:
    head, separator, rest = part.partition("(") if "/" not in part.partition("(")[0] else part.partition("/")
    inner = mask_of(rest.removesuffix(")")) if separator == "(" else mask_of(rest) if separator else {}
    _join(mask.setdefault(head, {}), inner)


def _join(mask: Mask, further: Mask) -> None:
    for name, inner in further.items():
        _join(mask.setdefault(name, {}), inner)


def mask_problems(schema: Json, mask: Mask) -> Iterator[str]:
    schema = _resolved(schema)
    if schema.get("type") == "array":
        schema = _resolved(schema["items"])
    for name, inner in mask.items():
        found = schema.get("additionalProperties") if name == "*" else schema.get("properties", {}).get(name)
        if found is None and schema.get("additionalProperties") is None:
            yield f"Invalid field selection {name}"
        else:
            yield from mask_problems(found or {}, inner)


def masked(value: Any, mask: Mask) -> Any:
    """What of an answer is selected."""
    if not mask:
        return value
    if isinstance(value, list):
        return [masked(one, mask) for one in value]
    if not isinstance(value, dict):
        return value
    if "*" in mask:
        return {name: masked(inner, mask["*"]) for name, inner in value.items()}
    return {name: masked(value[name], inner) for name, inner in mask.items() if name in value}
