"""Objects as the rows that `kubectl get` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from kubekit.errors import BadRequest, FieldError, FieldProblem
from kubekit.model import jsonpath
from kubekit.model.ages import age
from kubekit.model.resource import Object
from kubekit.server.kinds.columns import columns as built_in
from kubekit.server.objects.resource import Column, Resource

from .partial import list_metadata, partial

_END_OF_INITIAL_EVENTS = "k8s.io/initial-events-end"
_NAME = Column("Name", "string", ".metadata.name", "name", "The name of the object, unique in its namespace.")
_AGE = Column("Age", "date", ".metadata.creationTimestamp", "", "How long ago the object was created.")


class Include(Enum):
    """What a row carries beside its cells."""

    METADATA = "Metadata"
    OBJECT = "Object"
    NONE = "None"


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a client wants its Table; a watch sends the headers only once."""

    version: str = "v1"
    include: Include = Include.METADATA
    headers: bool = True


def included(value: str | None) -> Include:
    """The query parameter `includeObject`. Raises BadRequest."""
    try:
        return Include(value) if value else Include.METADATA
    except ValueError as error:
        problem = FieldError(
            FieldProblem.INVALID, "includeObject", "must be 'Metadata', 'Object', 'None', or empty", value
        )
        raise BadRequest(f"Unable to convert to Table as requested: {problem}") from error


def table_of_object(resource: Resource, obj: Object, now: datetime, options: TableOptions) -> Object:
    """The Table with one row, as an answer or inside a watch event."""
    metadata = {"resourceVersion": obj.get("metadata", {}).get("resourceVersion")}
    return table_of_list(resource, (obj,), metadata, now, options)


def table_of_list(
    resource: Resource, items: Iterable[Object], metadata: dict[str, Any], now: datetime, options: TableOptions
) -> Object:
    """The Table of a list, given its items and its own metadata."""
    printer = _printer(resource)
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{options.version}",
        "metadata": list_metadata(metadata),
        "columnDefinitions": [_definition(column) for column in printer.columns] if options.headers else None,
        "rows": [{"cells": printer.cells(item, now), "object": _beside(item, options)} for item in items],
    }


def _beside(obj: Object, options: TableOptions) -> Object | None:
    if options.include is Include.OBJECT:
        return obj
    if options.include is Include.NONE and _END_OF_INITIAL_EVENTS not in obj["metadata"].get("annotations", {}):
        return None
    return partial(obj, options.version)


def _definition(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }


class _Printer(Protocol):
    columns: tuple[Column, ...]

    def cells(self, obj: Object, now: datetime) -> list[Any]: ...


def _printer(resource: Resource) -> _Printer:
    return _CustomPrinter(resource) if resource.is_custom else _BuiltInPrinter(resource)


class _BuiltInPrinter:
    """Columns that only code can fill, such as the READY of a Pod."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self.columns = tuple(built_in.columns_of(resource))

    def cells(self, obj: Object, now: datetime) -> list[Any]:
        return built_in.cells(self._resource, obj, now)


class _CustomPrinter:
    """The columns a CRD declares, each a JSONPath; a path that cannot be read ends the row."""

    def __init__(self, resource: Resource) -> None:
        shown = [_NAME]
        self._fields: list[tuple[jsonpath.Path, str]] = []
        for column in resource.columns or (_AGE,):
            try:
                self._fields.append((jsonpath.parse(column.path), column.type))
            except jsonpath.JsonPathError:
                break
            shown.append(_described(column))
        self.columns = tuple(shown)

    def cells(self, obj: Object, now: datetime) -> list[Any]:
        name = obj.get("metadata", {}).get("name", "")
        return [name, *(_cell(path, kind, obj, now) for path, kind in self._fields)]


def _described(column: Column) -> Column:
    described = column.description or f"Custom resource definition column (in JSONPath format): {column.path}"
    return Column(column.name, column.type, column.path, column.format, described, column.priority)


def _cell(path: jsonpath.Path, kind: str, obj: Object, now: datetime) -> Any:
    try:
        found = path.find(obj)
    except jsonpath.JsonPathError:
        return None
    if not found:
        return None
    return _CONVERSIONS[kind](found[0], now)


def _text(value: Any, _: datetime) -> str:
    return jsonpath.text_of(value)


def _integer(value: Any, _: datetime) -> int | None:
    if not _is_number(value):
        return None
    whole = int(value)
    return whole if -(2**63) <= whole < 2**63 else -(2**63)


def _number(value: Any, _: datetime) -> int | float | None:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**63 else value
    return int(value) if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _boolean(value: Any, _: datetime) -> bool | None:
    return value if isinstance(value, bool) else None


def _date(value: Any, now: datetime) -> str | None:
    return age(value, now) if isinstance(value, str) else None


_CONVERSIONS: dict[str, Callable[[Any, datetime], Any]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
