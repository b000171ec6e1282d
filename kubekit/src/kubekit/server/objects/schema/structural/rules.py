"""What a CustomResourceDefinition may say in a schema; kube-apiserver calls such a schema structural."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubekit.errors import FieldError

from ...go.regex import GoRegexError, check
from . import defaults, keywords
from .keywords import Source, forbidden, invalid, required

_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_MISSING_TYPE = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_NESTED_FORBIDDEN = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_METADATA_DETAIL = "must not specify anything other than name and generateName, but metadata is implicitly specified"


def check_crd_schema(schema: Mapping[str, Any], path: str) -> list[FieldError]:
    """Everything that is wrong with the `openAPIV3Schema` that stands at `path`, CEL rules aside."""
    problems: list[FieldError] = []
    unconvertible = keywords.unconvertible(schema)
    if not unconvertible:
        structure = [*_structure(schema, "root", path), *_completeness(schema, schema, path, path)]
        problems += sorted(structure, key=str) or defaults.check_defaults(schema, path)
    problems += keywords.check_keywords(schema, path)
    if unconvertible and not problems:
        problems.append(invalid(path, "", unconvertible))
    return problems


def _structure(source: Source, level: str, path: str) -> Iterator[FieldError]:
    """Every place has a type, and what only looks at values decides nothing about structure."""
    items, additional, properties = source.get("items"), source.get("additionalProperties"), _properties(source)
    if source.get("type") == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, Mapping):
        yield from _structure(items, "item", f"{path}.items")
    for name, below in properties.items():
        yield from _structure(below, "field", f"{path}.properties[{name}]")
    if additional is not None and level == "root":
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(additional, Mapping):
        yield from _structure(additional, "field", f"{path}.additionalProperties")
    yield from _extensions(source, path)
    yield from _value_rules(source, path, int_or_string=True)
    yield from _types(source, level, path)
    if level == "root" or source.get("x-kubernetes-embedded-resource"):
        yield from _meta_types(properties, path)
    if level == "root" and not _is_plain_metadata(properties.get("metadata")):
        yield forbidden(f"{path}.properties[metadata]", _METADATA_DETAIL)


def _properties(source: Source) -> Mapping[str, Source]:
    return source.get("properties") or {}


def _extensions(source: Source, path: str) -> Iterator[FieldError]:
    if not source.get("x-kubernetes-int-or-string"):
        return
    for key in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if source.get(key):
            yield invalid(f"{path}.{key}", True, "must be false if x-kubernetes-int-or-string is true")


def _types(source: Source, level: str, path: str) -> Iterator[FieldError]:
    kind, embedded = source.get("type", ""), source.get("x-kubernetes-embedded-resource")
    keeps_unknown = source.get("x-kubernetes-preserve-unknown-fields")
    if embedded and kind != "object":
        detail = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    elif not kind and not source.get("x-kubernetes-int-or-string") and not keeps_unknown:
        yield required(f"{path}.type", _MISSING_TYPE[level])
    if embedded and source.get("additionalProperties") is not None:
        detail = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(f"{path}.additionalProperties", detail)
    if level == "root" and kind and kind != "object":
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if embedded and not keeps_unknown and not _properties(source):
        detail = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        yield required(f"{path}.properties", detail)


def _meta_types(properties: Mapping[str, Source], path: str) -> Iterator[FieldError]:
    for name, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if name in properties and properties[name].get("type", "") != kind:
            where = f"{path}.properties[{name}].type"
            yield invalid(where, properties[name].get("type", ""), f"must be {kind}")


def _is_plain_metadata(metadata: Source | None) -> bool:
    """Metadata of a whole object may only restrict its name."""
    if metadata is None:
        return True
    said = {key for key, value in metadata.items() if value not in (None, "", False, [], {})}
    names = set(_properties(metadata))
    return said <= {"type", "default", "properties"} and names <= {"name", "generateName"}


def _value_rules(source: Source, path: str, *, int_or_string: bool = False) -> Iterator[FieldError]:
    """`int_or_string`: the two ways to spell that in alternatives are allowed here."""
    any_of, all_of = source.get("anyOf") or [], source.get("allOf") or []
    if not (int_or_string and any_of == _INT_OR_STRING):
        yield from _each_nested(any_of, f"{path}.anyOf")
    for index, one in enumerate(all_of):
        spelled = int_or_string and index == 0 and one.get("anyOf") == _INT_OR_STRING
        yield from _nested({**one, "anyOf": []} if spelled else one, f"{path}.allOf[{index}]")
    yield from _each_nested(source.get("oneOf") or [], f"{path}.oneOf")
    if source.get("not") is not None:
        yield from _nested(source["not"], f"{path}.not")
    if source.get("pattern"):
        try:
            check(source["pattern"])
        except GoRegexError as error:
            detail = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(f"{path}.pattern", source["pattern"], detail)


def _each_nested(sources: Sequence[Source], path: str) -> Iterator[FieldError]:
    for index, source in enumerate(sources):
        yield from _nested(source, f"{path}[{index}]")


def _nested(source: Source, path: str) -> Iterator[FieldError]:
    """A schema inside an alternative may look at values, nothing else."""
    yield from _value_rules(source, path)
    if isinstance(source.get("items"), Mapping):
        yield from _nested(source["items"], f"{path}.items")
    for name, below in _properties(source).items():
        yield from _nested(below, f"{path}.properties[{name}]")
    for key, detail in _NESTED_FORBIDDEN:
        if source.get(key) not in (None, "", False, [], ()):
            yield forbidden(f"{path}.{key}", detail)
    if "metadata" in _properties(source):
        yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


def _completeness(value_rules: Source, source: Source | None, path: str, rules_path: str) -> Iterator[FieldError]:
    """Whatever an alternative looks at must be specified outside of it."""
    if value_rules.get("not") is not None:
        yield from _nested_completeness(value_rules["not"], source, path, f"{rules_path}.not")
    for key in ("allOf", "anyOf", "oneOf"):
        for index, one in enumerate(value_rules.get(key) or []):
            yield from _nested_completeness(one, source, path, f"{rules_path}.{key}[{index}]")


def _nested_completeness(nested: Source, source: Source | None, path: str, rules_path: str) -> Iterator[FieldError]:
    if source is None:
        yield required(path, f"because it is defined in {rules_path}")
        return
    yield from _completeness(nested, source, path, rules_path)
    if isinstance(nested.get("items"), Mapping):
        items = source.get("items")
        yield from _nested_completeness(nested["items"], items, f"{path}.items", f"{rules_path}.items")
    for name, below in _properties(nested).items():
        inner, where = f"{path}.properties[{name}]", f"{rules_path}.properties[{name}]"
        yield from _nested_completeness(below, _properties(source).get(name), inner, where)
