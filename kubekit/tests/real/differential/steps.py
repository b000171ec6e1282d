"""What a case is made of: requests as data, and what of their answers is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.real.differential.answers import Answer
from tests.real.differential.differences import CLIENTS_FAULT, Difference, Unfinished

JSON, YAML = "application/json", "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"

Holds = Callable[[Answer], bool]
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, repr=False)
class Step:
    """One request. In path, headers and body `$ns` stands for the namespace of the case, and `${made.metadata.uid}`
    for a value in the answer to the step that was saved as `made`."""

    method: str
    path: str
    body: Any = None
    """Sent as JSON, or as it is when it is text or bytes."""
    headers: Mapping[str, str] = field(default_factory=dict)
    save: str = ""
    until: Holds | None = None
    """The request is repeated until this holds; only the last answer counts."""
    is_shown: bool = True
    """Whether more than the status code of the answer is compared."""
    compared_headers: tuple[str, ...] = ("Content-Type", "Warning")
    is_anonymous: bool = False
    """Whether it goes out without the administrator's credentials."""
    events: int | None = None
    """A watch: how many events are read, 0 for all until the server ends it."""
    during: tuple[Step, ...] = ()
    """What happens once the watch is open."""
    look: Callable[[Any], Any] | None = None
    """The part of the body that is compared, when it is not all of it."""
    ignore: tuple[str, ...] = ()
    """Places in the answer that are the server's own choice, with `*` for any key or index."""
    differs: Mapping[str, Difference | Unfinished] = field(default_factory=dict)
    """Places in the answer (`body.…`, `headers.…`, or `answer` for the code and all) that differ on purpose."""

    def __repr__(self) -> str:
        return f"{self.method} {self.path} {'' if self.body is None else self.body}"


@dataclass(frozen=True)
class Case:
    """A conversation that must go the same way with both servers."""

    name: str
    steps: tuple[Step, ...]
    subject: str = ""
    is_generated: bool = False
    """Nobody could mark where it differs on purpose; what always does is recognised."""

    @property
    def title(self) -> str:
        return f"{self.subject}: {self.name}"


def case(name: str, *steps: Step | tuple[Step, ...]) -> Case:
    flat = [one for step in steps for one in (step if isinstance(step, tuple) else (step,))]
    return Case(name, tuple(flat))


def get(path: str, **more: Any) -> Step:
    return _step("GET", path, **more)


def post(path: str, body: Any, **more: Any) -> Step:
    return _step("POST", path, body=body, **more)


def put(path: str, body: Any, **more: Any) -> Step:
    return _step("PUT", path, body=body, **more)


def delete(path: str, body: Any = None, **more: Any) -> Step:
    return _step("DELETE", path, body=body, **more)


def patch(path: str, body: Any, kind: str = MERGE_PATCH, **more: Any) -> Step:
    return _step("PATCH", path, body=body, content_type=kind, **more)


def apply(path: str, body: Any, manager: str = "one", options: str = "", **more: Any) -> Step:
    """Server-side apply; `options` are further query parameters."""
    query = f"?fieldManager={manager}" + (f"&{options}" if options else "")
    return _step("PATCH", path + query, body=body, content_type=APPLY, **more)


def watch(path: str, events: int = 0, during: tuple[Step, ...] = (), **more: Any) -> Step:
    """Reads `events` events, or all until the server ends the watch. The path brings its own `timeoutSeconds`."""
    joint = "&" if "?" in path else "?"
    return _step("GET", f"{path}{joint}watch=1", events=events, during=during, **more)


def quietly(*steps: Step) -> tuple[Step, ...]:
    """The same steps as a preparation: their answers need only have the same code."""
    return tuple(replace(step, is_shown=False) for step in steps)


def blamed(*steps: Step) -> tuple[Step, ...]:
    """Steps for which Kubernetes blames itself, and we the client, in the same words."""
    return tuple(replace(step, differs={"answer": CLIENTS_FAULT}) for step in steps)


def _step(
    method: str,
    path: str,
    content_type: str = "",
    accept: str = "",
    user: str = "",
    groups: str = "",
    headers: Mapping[str, str] = NOTHING,
    **more: Any,
) -> Step:
    sent = dict(headers)
    if more.get("body") is not None:
        sent["Content-Type"] = content_type or JSON
    if accept:
        sent["Accept"] = accept
    if user:
        sent["Impersonate-User"] = user
    if groups:
        sent["Impersonate-Group"] = groups
    return Step(method, path, headers=sent, **more)


def status(*codes: int) -> Holds:
    return lambda answer: answer.status in codes


def gone(answer: Answer) -> bool:
    return answer.status == 404


def has(path: str, value: Any) -> Holds:
    """The answer is there and has this value at a place in its body."""
    return lambda answer: answer.status == 200 and answer.at(path) == value


def condition(kind: str, value: str) -> Holds:
    """The object has this condition."""

    def holds(answer: Answer) -> bool:
        found = answer.at("status.conditions") or []
        return any(one["type"] == kind and one["status"] == value for one in found)

    return holds
