"""Every expression of a table answers as it does in the CEL environment of kube-apiserver 1.36."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubekit.server.objects.cel import CelError, CompileError, Expression
from kubekit.server.objects.cel.language.values import Duration, Optional, Timestamp, TypeValue, UInt
from kubekit.server.objects.cel.library.conversions import double_text
from kubekit.server.objects.cel.library.versions import Version

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cel_answers.json").read_text())


def plain(value: Any) -> Any:
    """A value in the notation of the table."""
    match value:
        case None | bool() | str():
            return value
        case UInt():
            return {"uint": str(int(value))}
        case int():
            return {"int": str(value)}
        case float():
            return {"double": double_text(value)}
        case bytes():
            return {"bytes": value.hex()}
        case Duration() | Timestamp():
            return {type(value).__name__.lower(): str(value.nanoseconds)}
        case Optional():
            return {"some": plain(value.value)} if value.is_present else {"none": True}
        case TypeValue():
            return {"type": value.name}
        case list():
            return [plain(one) for one in value]
        case dict():
            entries = [[plain(key), plain(one)] for key, one in value.items()]
            return {"map": sorted(entries, key=lambda entry: str(entry[0]))}
        case Version():
            return {"opaque": f"{value.major}.{value.minor}.{value.patch}"}
        case _:
            return {"opaque": str(value)}


def answer(text: str) -> dict[str, Any]:
    try:
        expression = Expression(text, ("x",))
    except CompileError as error:
        return {"refused": str(error)}
    try:
        return {"value": plain(expression.evaluate())}
    except CelError as error:
        return {"error": str(error)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["expression"])
def test_an_expression_answers_as_in_kubernetes(case: dict[str, Any]) -> None:
    assert {"expression": case["expression"], **answer(case["expression"])} == case
