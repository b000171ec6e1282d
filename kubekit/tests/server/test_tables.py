"""Tables of custom and built-in resources."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kubekit.errors import BadRequest
from kubekit.server.kinds.builtin import catalogue
from kubekit.server.objects.resource import Column, Resource
from kubekit.server.objects.schema.model import ANYTHING
from kubekit.server.serve import partial, tables
from kubekit.server.serve.tables import Include, TableOptions

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


def widgets(*columns: Column) -> Resource:
    return Resource("disc.example.com", "v1", "Widget", "widgets", ANYTHING, columns=columns, is_custom=True)


def widget(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "disc.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w1", "resourceVersion": "7", "creationTimestamp": "2026-11-15T11:20:00Z"},
        "spec": spec,
        "status": {"conditions": [{"type": "Ready", "status": "True", "count": 1}, {"type": "Up", "count": 2.5}]},
    }


def cell(kind: str, path: str, obj: dict[str, Any]) -> Any:
    table = tables.table_of_object(widgets(Column("C", kind, path)), obj, NOW, TableOptions())
    return table["rows"][0]["cells"][1]


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("string", "red", "red"),
        ("string", 2, "2"),
        ("string", True, "true"),
        ("string", 1000000.5, "1.0000005e+06"),
        ("string", ["x", "y"], '["x","y"]'),
        ("string", None, "<no value>"),
        ("integer", 2, 2),
        ("integer", 2.9, 2),
        ("integer", 1.5e22, -(2**63)),
        ("integer", "2", None),
        ("integer", True, None),
        ("number", 2.5, 2.5),
        ("number", 2, 2),
        ("number", "2", None),
        ("boolean", True, True),
        ("boolean", "true", None),
        ("date", "2026-11-15T11:20:00Z", "40m"),
        ("date", "nonsense", "<invalid>"),
        ("date", "", "<unknown>"),
        ("date", 5, None),
    ],
)
def test_a_cell_is_converted_to_the_type_of_its_column(kind: str, value: Any, shown: Any) -> None:
    found = cell(kind, ".spec.value", widget(value=value))
    assert found == shown
    assert type(found) is type(shown)


def test_a_missing_value_is_an_empty_cell() -> None:
    assert cell("string", ".spec.absent", widget()) is None


def test_a_condition_is_found_by_its_type() -> None:
    assert cell("string", '.status.conditions[?(@.type=="Ready")].status', widget()) == "True"


@pytest.mark.parametrize("path", [".spec.list[9]", ".status.conditions[?(@.count>1)].type"])
def test_a_path_that_does_not_fit_is_an_empty_cell(path: str) -> None:
    assert cell("string", path, widget(list=["x"])) is None


def test_only_the_first_of_several_values_is_shown() -> None:
    assert cell("string", ".spec.list[*]", widget(list=["x", "y"])) == "x"


def test_a_definition_without_columns_shows_the_age() -> None:
    table = tables.table_of_object(widgets(), widget(), NOW, TableOptions())
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Age"]
    assert table["rows"][0]["cells"] == ["w1", "40m"]


def test_an_unreadable_column_ends_the_row() -> None:
    resource = widgets(Column("A", "string", ".spec.a"), Column("B", "string", ".x[?("), Column("C", "string", ".c"))
    table = tables.table_of_object(resource, widget(a="1"), NOW, TableOptions())
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "A"]
    assert table["rows"][0]["cells"] == ["w1", "1"]


def test_columns_keep_their_priority_and_get_a_description() -> None:
    resource = widgets(Column("Phase", "string", ".status.phase", priority=1))
    table = tables.table_of_object(resource, widget(), NOW, TableOptions())
    assert table["columnDefinitions"][1] == {
        "name": "Phase",
        "type": "string",
        "format": "",
        "description": "Custom resource definition column (in JSONPath format): .status.phase",
        "priority": 1,
    }


def test_a_table_of_a_list_keeps_where_the_list_goes_on() -> None:
    metadata = {"resourceVersion": "9", "continue": "abc", "remainingItemCount": 4, "selfLink": ""}
    table = tables.table_of_list(widgets(), [widget(), widget()], metadata, NOW, TableOptions("v1beta1"))
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1beta1")
    assert table["metadata"] == {"resourceVersion": "9", "continue": "abc", "remainingItemCount": 4}
    assert len(table["rows"]) == 2


def test_a_row_carries_metadata_unless_asked_otherwise() -> None:
    obj = widget(a="1")
    rows = {
        include: tables.table_of_object(widgets(), obj, NOW, TableOptions(include=include))["rows"][0]["object"]
        for include in Include
    }
    assert rows[Include.METADATA] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }
    assert rows[Include.OBJECT] == obj
    assert rows[Include.NONE] is None


def test_a_watch_sends_the_columns_only_once() -> None:
    later = tables.table_of_object(widgets(), widget(), NOW, TableOptions(headers=False))
    assert later["columnDefinitions"] is None
    assert later["metadata"] == {"resourceVersion": "7"}


def test_the_end_of_the_initial_events_is_visible_even_without_objects() -> None:
    bookmark = {"metadata": {"resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"}}}
    table = tables.table_of_object(widgets(), bookmark, NOW, TableOptions(include=Include.NONE, headers=False))
    (row,) = table["rows"]
    assert row["cells"] == ["", None]
    assert row["object"]["metadata"] == bookmark["metadata"]


def test_an_unknown_include_is_refused() -> None:
    assert tables.included(None) is Include.METADATA
    assert tables.included("None") is Include.NONE
    with pytest.raises(BadRequest) as caught:
        tables.included("Foo")
    assert caught.value.message == (
        "Unable to convert to Table as requested: includeObject: "
        "Invalid value: \"Foo\": must be 'Metadata', 'Object', 'None', or empty"
    )


def test_a_built_in_kind_has_as_many_cells_as_columns() -> None:
    namespaces = next(one for one in catalogue.resources() if one.plural == "namespaces")
    namespace = {"metadata": {"name": "default"}, "spec": {}, "status": {"phase": "Active"}}
    table = tables.table_of_object(namespaces, namespace, NOW, TableOptions())
    assert table["rows"][0]["cells"][0] == "default"
    assert len(table["rows"][0]["cells"]) == len(table["columnDefinitions"])


def test_a_list_is_reduced_to_metadata() -> None:
    obj = widget()
    found = partial.partial_list([obj], {"resourceVersion": "9"}, "v1")
    assert found == {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "9"},
        "items": [
            {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]},
        ],
    }


def test_a_list_cannot_be_shown_as_one_object() -> None:
    namespaces = next(one for one in catalogue.resources() if one.plural == "namespaces")
    assert partial.object_asked_of_list(namespaces).message == (
        "you requested PartialObjectMetadata, but the requested object is a list (*core.NamespaceList)"
    )
    assert partial.list_asked_of_object(namespaces).message == (
        "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Namespace)"
    )
    assert "(*unstructured.UnstructuredList)" in partial.object_asked_of_list(widgets()).message
