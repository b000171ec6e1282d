"""Kubernetes objects inside a custom resource (`x-kubernetes-embedded-resource`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from kubekit.errors import FieldError, FieldProblem

from .. import name_rules, object_metadata
from .decoding import Malformed
from .model import Schema
from .trails import Trail, trail
from .values import in_key_order


@lru_cache(maxsize=4096)
def objects(schema: Schema) -> Trail | None:
    """Where objects are embedded; None when there are none."""
    return trail(schema, lambda node: node.embedded)


class MalformedObject(ValueError):
    """apiVersion, kind or metadata of an embedded object do not decode."""

    def __init__(self, problem: FieldError) -> None:
        super().__init__(str(problem))
        self.problem = problem


def decode(value: Any, inner: Trail, path: str = "") -> list[str]:
    """Decode the metadata of all embedded objects in place; answers the paths of its unknown fields.

    Raises MalformedObject."""
    unknown: list[str] = []
    for obj, where in _embedded(value, inner, path):
        for name in ("apiVersion", "kind"):
            if name in obj and not isinstance(obj[name], str):
                raise MalformedObject(_invalid(member(where, name), obj[name], "must be a string"))
        try:
            unknown += [member(where, f"metadata.{name}") for name in object_metadata.decode_metadata(obj)]
        except Malformed as error:
            raise MalformedObject(_invalid(member(where, "metadata"), obj["metadata"], str(error))) from error
    return sorted(unknown)


def member(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, in_key_order(value))


def problems(value: Any, inner: Trail, path: str = "") -> list[FieldError]:
    """What is wrong with apiVersion, kind and metadata of all embedded objects."""
    return [problem for obj, where in _embedded(value, inner, path) for problem in _object_problems(obj, where)]


def _embedded(value: Any, inner: Trail, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(value, dict):
        if inner.found:
            yield value, path
        for name, below in inner.members:
            if name in value:
                yield from _embedded(value[name], below, member(path, name))
        if inner.additional:
            for name, entry in value.items():
                yield from _embedded(entry, inner.additional, f"{path}[{name}]")
    elif isinstance(value, list) and inner.items:
        for index, item in enumerate(value):
            yield from _embedded(item, inner.items, f"{path}[{index}]")


def _object_problems(obj: dict[str, Any], path: str) -> Iterator[FieldError]:
    for name, check in (("apiVersion", _api_version), ("kind", _kind)):
        if name not in obj:
            yield FieldError(FieldProblem.REQUIRED, member(path, name))
        elif detail := check(obj[name]):
            yield _invalid(member(path, name), obj[name], detail)
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        named = {"name": "fakename", **metadata}
        yield from object_metadata.validate_metadata(
            named, bool(metadata.get("namespace")), "path-segment", member(path, "metadata")
        )


def _api_version(value: Any) -> str:
    if not isinstance(value, str):
        return "must be a string"
    if not value:
        return "must not be empty"
    return f"unexpected GroupVersion string: {value}" if value.count("/") > 1 else ""


def _kind(value: Any) -> str:
    if not isinstance(value, str):
        return "must be a string"
    if not value:
        return "must not be empty"
    broken = name_rules.label_1035(value.lower())
    return f"may have mixed case, but should otherwise match: {','.join(broken)}" if broken else ""
