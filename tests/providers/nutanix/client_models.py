"""Reads requests as JSON, and says which of them the models of Nutanix's own clients do not take, and why.

Each line of the input is `[MODEL, BODY]`. Every field has to be one that the model has, and its value of the type that
the model names and within the bounds that the model sets.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import ntnx_vmm_py_client as vmm

TYPES = {"str": str, "int": int, "bool": bool}
FREE = {"$objectType", "$reserved", "$unknownFields"}


def problems(body: Any, kind: str, path: str = "") -> list[str]:
    """What of a JSON value a type does not take."""
    if kind.startswith("list["):
        return [one for index, item in enumerate(body) for one in problems(item, kind[5:-1], f"{path}[{index}]")]
    if kind.startswith("OneOf"):
        kind = body["$objectType"] if isinstance(body, dict) else type(body).__name__
    if kind in TYPES:
        return [] if type(body) is TYPES[kind] else [f"{path}: not {kind}"]
    model = getattr(vmm.models, vmm.ApiClient.DUPLICATE_SCHEMA_MAPPING.get(kind, kind.rpartition(".")[2]))
    if hasattr(model, "swagger_types"):
        return in_fields(body, model, path) if isinstance(body, dict) else [f"{path}: not an object"]
    allowed = [value for name, value in vars(model).items() if re.fullmatch("[A-Z_0-9]+", name)]
    return [] if body in allowed else [f"{path}: {body} is none of {allowed}"]


def in_fields(body: dict[str, Any], model: Any, path: str) -> list[str]:
    names = {model.attribute_map[name]: name for name in model.swagger_types}
    wrong = []
    for field, value in body.items():
        if field in FREE:
            continue
        if field not in names:
            wrong.append(f"{path}.{field}: {model.__name__} does not have it")
            continue
        wrong += problems(value, model.swagger_types[names[field]], f"{path}.{field}")
        wrong += out_of_bounds(model, names[field], value, f"{path}.{field}")
    return wrong


def out_of_bounds(model: Any, name: str, value: Any, path: str) -> list[str]:
    """The models check bounds when a field is set, though not when they are made."""
    try:
        setattr(model(), name, value)
    except (TypeError, ValueError) as error:
        return [f"{path}: {error}"]
    return []


requests = [json.loads(line) for line in sys.stdin if line.strip()]
json.dump([problems(body, kind) for kind, body in requests], sys.stdout)
