"""The JSONPath subset of kubectl."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.model import jsonpath

CONDITIONS = [
    {"type": "Ready", "status": "True", "reason": "Up", "age": 1},
    {"type": "Healthy", "status": "False", "age": 3},
]
WIDGET = {
    "metadata": {"name": "w", "annotations": {"example.com/colour": "red"}},
    "spec": {"list": ["x", "y", "z"], "nothing": None, "size": 3},
    "status": {"conditions": CONDITIONS},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".metadata.name", ["w"]),
        ("$.metadata.name", ["w"]),
        (".metadata['name']", ["w"]),
        (r".metadata.annotations.example\.com/colour", ["red"]),
        (r".metadata.annotations['example\.com/colour']", ["red"]),
        (".spec.nothing", [None]),
        (".spec.nothing.more", []),
        (".spec.absent", []),
        (".spec.size.deeper", []),
        (".spec.list[0]", ["x"]),
        (".spec.list[-1]", ["z"]),
        (".spec.list[*]", ["x", "y", "z"]),
        (".spec.list[1:3]", ["y", "z"]),
        (".spec.list[::2]", ["x", "z"]),
        (".spec.list[0,2]", ["x", "z"]),
        (".metadata.*", ["w", {"example.com/colour": "red"}]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type != 'Ready')].status", ["False"]),
        (".status.conditions[?(@.age>1)].type", ["Healthy"]),
        (".status.conditions[?(@.reason)].type", ["Ready"]),
        (".status.conditions[?(@.reason==@.reason)].type", ["Ready"]),
        ("..reason", ["Up"]),
    ],
)
def test_a_path_finds_what_kubectl_finds(path: str, found: list[Any]) -> None:
    assert jsonpath.parse(path).find(WIDGET) == found


@pytest.mark.parametrize("path", [".a[", ".a[x]", "a", "{.a}", ".a[?(@.b===1)]", '.a["b"]'])
def test_a_path_that_makes_no_sense_is_refused(path: str) -> None:
    with pytest.raises(jsonpath.JsonPathError):
        jsonpath.parse(path)


@pytest.mark.parametrize(
    "path", [".spec.list[9]", ".spec.size[0]", ".spec.list[0:9]", '.status.conditions[?(@.age>"1")]']
)
def test_a_path_that_does_not_fit_the_value_is_an_error(path: str) -> None:
    with pytest.raises(jsonpath.JsonPathError):
        jsonpath.parse(path).find(WIDGET)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a<b", "a<b"),
        (True, "true"),
        (12, "12"),
        (1234567.0, "1234567"),
        (1000000.5, "1.0000005e+06"),
        (123456.789, "123456.789"),
        (0.00001234, "1.234e-05"),
        (1.5e22, "1.5e+22"),
        (None, "<no value>"),
        ({"b": "<1>", "a": [1]}, '{"a":[1],"b":"\\u003c1\\u003e"}'),
    ],
)
def test_a_value_is_printed_as_kubectl_prints_it(value: Any, text: str) -> None:
    assert jsonpath.text_of(value) == text
