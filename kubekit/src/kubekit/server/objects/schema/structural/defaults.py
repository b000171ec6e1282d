"""Defaults in a CRD schema must themselves fit the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubekit.errors import FieldError

from .. import embedded
from ..explanation import Walker
from ..model import Schema, from_openapi
from ..pruning import prune_fields
from ..shape import META_FIELDS
from ..values import copy_json, json_equal
from .keywords import Source, invalid

Surrounding = Callable[[Any], dict[str, Any]]
"""Puts a default into the smallest object it could occur in."""


def check_defaults(schema: Source, path: str) -> list[FieldError]:
    """What is wrong with the defaults of a structural schema."""
    root = {**schema, "x-kubernetes-embedded-resource": True}
    return list(_node(root, path, root, _whole, in_meta=False))


def _whole(value: Any) -> dict[str, Any]:
    return {"kind": "Validation", "apiVersion": "validation/v1", **(value if isinstance(value, dict) else {})}


def _node(source: Source, path: str, root: Source, around: Surrounding, *, in_meta: bool) -> Iterator[FieldError]:
    is_object = bool(source.get("x-kubernetes-embedded-resource"))
    if is_object:
        in_meta, around, root = False, _whole, source
    default = source.get("default")
    if default is not None:
        where = f"{path}.default"
        yield from _in_metadata(default, source, where, root, around) if in_meta else _plain(default, source, where)
    if isinstance(source.get("items"), Mapping):
        yield from _node(source["items"], f"{path}.items", root, _item(around), in_meta=in_meta)
    for name, below in (source.get("properties") or {}).items():
        below_meta = in_meta or (is_object and name in META_FIELDS)
        yield from _node(below, f"{path}.properties[{name}]", root, _member(around, name), in_meta=below_meta)


def _item(around: Surrounding) -> Surrounding:
    return lambda value: around([value])


def _member(around: Surrounding, name: str) -> Surrounding:
    return lambda value: around({name: value})


def _plain(default: Any, source: Source, path: str) -> Iterator[FieldError]:
    schema = from_openapi(source)
    pruned = copy_json(default)
    prune_fields(pruned, schema)
    if not json_equal(pruned, default):
        yield invalid(path, default, "must not have unknown fields")
    yield from _object_problems(default, schema, path) or Walker(path).problems(source, default)


def _in_metadata(default: Any, source: Source, path: str, root: Source, around: Surrounding) -> Iterator[FieldError]:
    problems = _object_problems(around(default), from_openapi(root), "")
    if problems:
        shown = [str(problem) for problem in problems]
        listed = shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
        yield invalid(path, default, f"must result in valid metadata: {listed}")
        return
    yield from Walker(path).problems(source, default)


def _object_problems(value: Any, schema: Schema, path: str) -> list[FieldError]:
    """What is wrong with objects in a value that are objects of Kubernetes by themselves."""
    inner = embedded.objects(schema)
    if not inner:
        return []
    decoded = copy_json(value)
    try:
        embedded.decode(decoded, inner, path)
    except embedded.MalformedObject as error:
        return [error.problem]
    return embedded.problems(decoded, inner, path)
