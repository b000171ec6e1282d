"""Requests in tables: what goes out, and what must come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.http_api import Answered, Api

JSON, YAML = "application/json", "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
MAPS = "/api/v1/namespaces/default/configmaps"


@dataclass(frozen=True)
class Row:
    """A request, and the status and message it is answered with; the message of a success does not matter."""

    request: str
    """Method and path."""
    status: int
    message: str = ""
    body: Any = None
    content_type: str = JSON
    reason: str | None = None


async def check(api: Api, *rows: Row) -> list[Answered]:
    """Send one request after the other; fails with all that were answered otherwise."""
    answers, wrong = [], []
    for row in rows:
        method, _, path = row.request.partition(" ")
        body = row.body.encode() if isinstance(row.body, str) else row.body
        answer = await api(method, path, body, row.content_type)
        answers.append(answer)
        said = answer.body if isinstance(answer.body, dict) else {"message": answer.body.decode()}
        expected = (row.status, row.message if row.status >= 400 else "")
        got = (answer.status, said.get("message", "") if answer.status >= 400 else "")
        if got != expected or (row.reason is not None and said.get("reason") != row.reason):
            wrong.append(f"{row.request} {row.body!r}\n  expected {expected}\n  answered {got} {said.get('reason')}")
    assert not wrong, "\n".join(wrong)
    return answers


def config_map(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **more.pop("meta", {})}, **more}


def warnings(answer: Answered) -> list[str]:
    """The texts of the Warning headers."""
    return [value.removeprefix('299 - "')[:-1].replace('\\"', '"') for value in answer.headers.getall("Warning", [])]
