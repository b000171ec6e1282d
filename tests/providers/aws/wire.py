"""Requests as they go over the wire to AWS, checked against the published models of its services."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from botocore.model import ListShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.session import Session

SERVICES = {"ec2": "ec2", "elasticloadbalancing": "elbv2", "sts": "sts", "ssm": "ssm"}
"""What a service is called in a signature, and in its model."""
_INSTEAD_OF_PARAMETERS = ("Action", "Version")


@dataclass(frozen=True)
class Recorded:
    """A request that came."""

    service: str
    """As in a signature."""
    action: str
    form: dict[str, str]


@cache
def model(service: str) -> ServiceModel:
    return Session().get_service_model(SERVICES[service])


def problems(request: Recorded) -> list[str]:
    """Whatever the model of the service does not know or does not take; empty when all is well."""
    service = model(request.service)
    if request.action not in service.operation_names:
        return [f"InvalidAction: there is no {request.action}"]
    operation = service.operation_model(request.action)
    given = {key: value for key, value in request.form.items() if key not in _INSTEAD_OF_PARAMETERS}
    if request.form.get("Version") != service.api_version:
        return [f"NoSuchVersion: {request.form.get('Version')}"]
    return list(_of_operation(operation, given))


class _Given:
    """The parameters of a request, and which of them the model knows."""

    def __init__(self, form: dict[str, str]) -> None:
        self.form = form
        self.taken: set[str] = set()
        self.places = {".".join(key.split(".")[:depth]) for key in form for depth in range(1, key.count(".") + 2)}


def _of_operation(operation: OperationModel, form: dict[str, str]) -> Iterator[str]:
    given = _Given(form)
    if operation.input_shape is not None:
        yield from _of_shape(operation.input_shape, "", given, operation.service_model.protocol)
    yield from (f"UnknownParameter: {key}" for key in form if key not in given.taken)


def _of_shape(shape: Shape, place: str, given: _Given, protocol: str) -> Iterator[str]:
    if isinstance(shape, StructureShape):
        yield from _of_structure(shape, place, given, protocol)
    elif isinstance(shape, ListShape):
        yield from _of_list(shape, place, given, protocol)
    elif place in given.form:
        given.taken.add(place)
        if not _is_right(shape, given.form[place]):
            yield f"InvalidParameterValue: Invalid value '{given.form[place]}' for {place}"


def _of_structure(shape: StructureShape, place: str, given: _Given, protocol: str) -> Iterator[str]:
    for name, member in shape.members.items():
        path = f"{place}.{_name(name, member, protocol)}" if place else _name(name, member, protocol)
        if path in given.places:
            yield from _of_shape(member, path, given, protocol)
        elif name in shape.required_members:
            yield f"MissingParameter: {path}"


def _of_list(shape: ListShape, place: str, given: _Given, protocol: str) -> Iterator[str]:
    is_flat = protocol == "ec2" or shape.serialization.get("flattened")
    start, number = (place if is_flat else f"{place}.member"), 1
    while f"{start}.{number}" in given.places:
        yield from _of_shape(shape.member, f"{start}.{number}", given, protocol)
        number += 1


def _name(name: str, member: Shape, protocol: str) -> str:
    serialization = member.serialization
    if protocol != "ec2":
        return str(serialization.get("name", name))
    found = str(serialization.get("queryName") or serialization.get("name") or name)
    return found[:1].upper() + found[1:]


def _is_right(shape: Any, value: str) -> bool:
    match shape.type_name:
        case "integer" | "long":
            return value.lstrip("-").isdigit()
        case "boolean":
            return value in ("true", "false")
        case "blob":
            try:
                base64.b64decode(value, validate=True)
            except binascii.Error:
                return False
    # Enumerations grow faster than models, so what they list is not the whole truth, but ours is among it.
    return not shape.enum or value in shape.enum if hasattr(shape, "enum") else True


for _service in SERVICES:
    # Reading them takes longer than a provider has patience.
    model(_service)
