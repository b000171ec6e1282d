"""A kind → its CustomResourceDefinition."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Any, cast

import msgspec
from msgspec import inspect as types

from .resource import Address, Column, Model, Resource, Rule

Schema = dict[str, Any]

DEFINITION = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)

_ROOT = {
    "apiVersion": {"type": "string", "description": "Group and version of this object's schema."},
    "kind": {"type": "string", "description": "What this object is."},
    "metadata": {"type": "object"},
}


def definition(kind: type[Resource]) -> Schema:
    """The whole CustomResourceDefinition; the same class always gives the same answer."""
    address = kind.address
    names: Schema = {
        "kind": address.kind,
        "listKind": f"{address.kind}List",
        "plural": address.plural,
        "singular": address.kind.lower(),
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": address.name, **_labelled(kind)},
        "spec": {
            "group": address.group,
            "names": names,
            "scope": "Namespaced" if address.namespaced else "Cluster",
            "versions": [_version(kind)],
        },
    }


def _labelled(kind: type[Resource]) -> Schema:
    return {"labels": dict(kind.definition_labels)} if kind.definition_labels else {}


def _version(kind: type[Resource]) -> Schema:
    version: Schema = {
        "name": kind.address.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [_column(column) for column in kind.columns],
        "schema": {"openAPIV3Schema": schema_of(kind)},
    }
    if subresources := _subresources(kind):
        version["subresources"] = subresources
    return version


def _column(column: Column) -> Schema:
    shown: Schema = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return {**shown, "priority": column.priority} if column.priority else shown


def _subresources(kind: type[Resource]) -> Schema:
    found: Schema = {"status": {}} if "status" in kind.__struct_fields__ else {}
    if kind.scale:
        found["scale"] = {
            "specReplicasPath": kind.scale.spec_replicas,
            "statusReplicasPath": kind.scale.status_replicas,
        }
    return found


def schema_of(kind: type[Resource]) -> Schema:
    """The structural schema of a kind. `spec` is never required, and status has no defaults."""
    info = cast(types.StructType, types.type_info(kind))
    parts = {field.name: field for field in info.fields if field.name in {"spec", "status"}}
    properties = dict(_ROOT)
    for name, field in parts.items():
        part, _ = _schema(field.type, defaults=name == "spec")
        properties[name] = _described(part, field.type, _field_texts(kind).get(name, ""))
    said = _remark(parts["spec"].type) if "spec" in parts else ""
    root: Schema = {"type": "object", "description": _joined(_summary(kind), said), "properties": properties}
    return {**root, **_validations(kind)}


def _schema(info: types.Type, *, defaults: bool) -> tuple[Schema, bool]:
    """The schema of a type, and whether its place is required although the class has a default for it."""
    if isinstance(info, types.Metadata):
        inner, required = _schema(info.type, defaults=defaults)
        replaced = info.extra_json_schema or {}
        if "x-kubernetes-int-or-string" in replaced:
            inner = {}
        return {**inner, **replaced}, required or bool((info.extra or {}).get("required"))
    if isinstance(info, types.UnionType):
        present = [one for one in info.types if not isinstance(one, types.NoneType)]
        return _schema(present[0], defaults=defaults) if len(present) == 1 else ({}, False)
    return _plain(info, defaults=defaults), False


def _plain(info: types.Type, *, defaults: bool) -> Schema:
    match info:
        case types.BoolType():
            return {"type": "boolean"}
        case types.IntType():
            return {"type": "integer", "format": "int32", **_present(minimum=info.ge, maximum=info.le)}
        case types.StrType():
            limits = _present(minLength=info.min_length, maxLength=info.max_length, pattern=info.pattern)
            return {"type": "string", **limits}
        case types.DateTimeType():
            return {"type": "string", "format": "date-time"}
        case types.EnumType():
            return {"type": "string", "enum": [one.value for one in info.cls]}
        case types.LiteralType():
            return {"type": "string", "enum": list(info.values)}
        case types.VarTupleType():
            items, _ = _schema(info.item_type, defaults=defaults)
            return {"type": "array", "items": items, **_present(minItems=info.min_length, maxItems=info.max_length)}
        case types.DictType(value_type=types.AnyType()):
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        case types.DictType():
            values, _ = _schema(info.value_type, defaults=defaults)
            return {"type": "object", "additionalProperties": values}
        case types.StructType():
            return _object(info, defaults=defaults)
    raise TypeError(f"a CRD has no schema for {info}")


def _object(info: types.StructType, *, defaults: bool) -> Schema:
    texts = _field_texts(info.cls)
    properties: Schema = {}
    required = []
    for field in info.fields:
        part, demanded = _schema(field.type, defaults=defaults)
        if defaults and (default := _default(field)) is not None:
            part["default"] = default
        properties[field.encode_name] = _described(part, field.type, texts.get(field.name, ""))
        if field.required or demanded:
            required.append(field.encode_name)
    schema: Schema = {"type": "object", "description": _summary(info.cls), "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, **_validations(info.cls)}


def _validations(cls: type) -> Schema:
    rules: tuple[Rule, ...] = getattr(cls, "rules", ())
    return {"x-kubernetes-validations": [_rule(rule) for rule in rules]} if rules else {}


def _rule(rule: Rule) -> Schema:
    written = {"rule": rule.expression, "message": rule.message}
    if rule.missing:
        return {**written, "reason": "FieldValueRequired", "fieldPath": rule.missing}
    return {**written, "reason": "FieldValueForbidden", "fieldPath": rule.forbidden} if rule.forbidden else written


def _default(field: types.Field) -> Any:
    """The default users see; None when there is none. A Model keeps these, and only these, as factories of scalars."""
    made = None if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return msgspec.to_builtins(made) if isinstance(made, str | int | Enum) and made != "" else None


def _present(**values: Any) -> Schema:
    return {name: value for name, value in values.items() if value is not None}


def _described(schema: Schema, info: types.Type, text: str) -> Schema:
    """Puts the description first; a field without text of its own keeps that of its type."""
    text = text or schema.get("description", "")
    rest = {name: value for name, value in schema.items() if name != "description"}
    described = {"description": text, **rest} if text else rest
    said = _remark(info)
    return _remarked(described, said) if said else described


def _remark(info: types.Type) -> str:
    """What `remark` says of a field."""
    found: str = (info.extra or {}).get("remark", "") if isinstance(info, types.Metadata) else ""
    return found


def _remarked(schema: Schema, said: str) -> Schema:
    """The schema of a field that has a remark: everything in it has the same."""
    made = dict(schema)
    for part in ("items", "additionalProperties"):
        if part in made:
            made[part] = _remarked(made[part], said) if "properties" in made[part] else made[part]
    if "properties" in made:
        made["properties"] = {name: _remarked(one, said) for name, one in made["properties"].items()}
    return {**made, "description": _joined(made.get("description", ""), said)}


def _joined(text: str, said: str) -> str:
    return text if not said or text.endswith(said) else f"{text} {said}".lstrip()


def _summary(cls: type) -> str:
    """The first paragraph of the docstring is for users, the others are for readers of the code."""
    return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())


def _field_texts(cls: type) -> dict[str, str]:
    """What stands below each field of a class, the nearest class first."""
    texts: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if issubclass(owner, Model):
            texts |= _texts_of_module(owner.__module__).get(owner.__qualname__, {})
    return texts


@functools.cache
def _texts_of_module(module: str) -> dict[str, dict[str, str]]:
    """Class → field → the string literal below it. Python keeps these only in the source."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {name: dict(_texts_of_class(body)) for name, body in _classes(tree, "")}


def _classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.ClassDef():
                yield prefix + child.name, child
                yield from _classes(child, f"{prefix}{child.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _classes(child, f"{prefix}{child.name}.<locals>.")


def _texts_of_class(body: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(body.body, body.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                yield name, " ".join(words.split())
