"""A TenantCluster somebody wrote, before any API has seen it: read, checked, refused in words that help."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from butler.api.cluster import TenantCluster
from butler.api.model import ObjectMeta
from butler.errors import Cause, FieldError, FieldProblem, Forbidden, Invalid, InvalidConfiguration

from ..lazy import Failure
from ..output import say
from .flags import flag_for
from .rows import CLUSTERS

if TYPE_CHECKING:
    from butler.controllers.cluster.acceptance import Accepted
    from butler.kube.client import Client

Draft = dict[str, Any]
"""A TenantCluster as it goes over the wire."""

_MOST_PROBLEMS = 20
_TYPES = {
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "object": "a mapping of names to values",
    "array": "a list",
}
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def empty() -> Draft:
    return {"apiVersion": CLUSTERS.api_version, "kind": CLUSTERS.kind, "metadata": {}, "spec": {}}


def read(filename: str) -> Draft:
    """The one TenantCluster in a file, or on stdin for `-`. Raises Failure."""
    shown = "stdin" if filename == "-" else filename
    try:
        text = sys.stdin.read() if filename == "-" else Path(filename).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{shown}: {getattr(error, 'strerror', None) or 'this is not text'}") from error
    return parsed(text, shown)


def parsed(text: str, shown: str) -> Draft:
    """The one TenantCluster in a text. Raises Failure."""
    import yaml

    try:
        documents = [one for one in yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if one]
    except yaml.YAMLError as error:
        raise Failure(f"{shown}: this is not YAML: {_yaml_problem(error)}") from error
    found = [one for one in documents if isinstance(one, dict) and one.get("kind") == CLUSTERS.kind]
    if len(found) != 1:
        raise Failure(f"{shown}: needs exactly one {CLUSTERS.kind}, and has {len(found) or 'none'}")
    draft: Draft = found[0]
    if draft.get("apiVersion") != CLUSTERS.api_version:
        raise Failure(f"{shown}: apiVersion: {draft.get('apiVersion')!r} must be {CLUSTERS.api_version}")
    for part in ("metadata", "spec"):
        if not isinstance(draft.setdefault(part, {}), dict):
            raise Failure(f"{shown}: {part}: must be a mapping of names to values")
    return _plain(draft)


def _plain(draft: Draft) -> Draft:
    """YAML's dates and other luxuries as JSON has them."""
    made: Draft = msgspec.json.decode(msgspec.json.encode(draft))
    return made


def _yaml_problem(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "unreadable"
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)


def typed(draft: Draft, what: str) -> TenantCluster:
    """The cluster a draft stands for, normalised, with nothing in it that can never work. Raises Failure."""
    from butler.api.normalise import normalise
    from butler.controllers.cluster import validation

    found = [*unknown_fields(draft)]
    cluster = None
    try:
        cluster = normalise(_converted(draft, found))
        found += validation.problems(cluster)
    except InvalidConfiguration as error:
        found.append(FieldError(FieldProblem.FORBIDDEN, error.path, str(error).rpartition(f"{error.path}: ")[2]))
    if found or cluster is None:
        raise refused(what, found)
    return cluster


def _converted(draft: Draft, found: list[FieldError]) -> TenantCluster:
    """The cluster without the fields that cannot be read, each of which is added to what was found."""
    rest: Draft = msgspec.json.decode(msgspec.json.encode(draft))
    for _ in range(_MOST_PROBLEMS):
        try:
            return msgspec.convert(rest, TenantCluster)
        except msgspec.ValidationError as error:
            problem = _wrong_type(rest, str(error))
        found.append(problem)
        if not _drop(rest, problem.path):
            break
    return TenantCluster(metadata=ObjectMeta(name=str(draft["metadata"].get("name"))))


async def resolved(client: Client, draft: Draft, what: str) -> Accepted | None:
    """Check a draft against what there is on the platform; None when we may not look. Raises Failure."""
    from butler.controllers.cluster.acceptance import resolve

    cluster = typed(draft, what)
    try:
        return await resolve(client, cluster)
    except Invalid as error:
        raise invalid(what, error) from error
    except Forbidden as error:
        say(f"not everything can be checked beforehand: {error}")
        return None


def invalid(what: str, error: Invalid) -> Failure:
    """A refusal of the API, field by field."""
    causes = error.details.causes if error.details else ()
    return refused(what, causes) if causes else Failure(f"{what}: {error}")


def refused(what: str, problems: Iterable[FieldError | Cause]) -> Failure:
    """One line for each field that cannot stay: which, what it is, and what would be right."""
    lines = dict.fromkeys(_line(problem) for problem in problems)
    return Failure("\n".join([f"{what}:", *lines]))


def _line(problem: FieldError | Cause) -> str:
    path = problem.path if isinstance(problem, FieldError) else problem.field
    text = problem.body() if isinstance(problem, FieldError) else problem.message
    flag = flag_for(path)
    return f"  {path} ({flag}): {text}" if flag else f"  {path}: {text}"


def _wrong_type(draft: Draft, message: str) -> FieldError:
    """What msgspec says, with the value it speaks of."""
    expected, _, path = message.partition(" - at ")
    path = path.strip("`").removeprefix("$").lstrip(".")
    value, detail = _at(draft, path), _wording(expected)
    if path == "spec.kubernetesVersion" and isinstance(value, str):
        from butler.controllers.cluster import versions

        detail = versions.unsupported(value) or detail
    return FieldError(FieldProblem.INVALID, path or "object", detail, value)


def _wording(expected: str) -> str:
    """What msgspec expected, as people would say it."""
    text = expected.partition(", got")[0].replace("`", "").replace("Expected ", "must be ").replace(" | null", "")
    for type_, words in _TYPES.items():
        text = re.sub(rf"\b{type_}\b", words, text)
    return text.replace(" >= ", ", at least ").replace(" <= ", ", at most ")


def _at(value: Any, path: str) -> Any:
    for name, index in _STEP.findall(path):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _drop(value: Any, path: str) -> bool:
    """Take a field away; answers whether it was there."""
    above, _, name = path.rpartition(".")
    below = _at(value, above)
    return isinstance(below, dict) and below.pop(name, None) is not None


def unknown_fields(draft: Draft) -> Iterator[FieldError]:
    """Fields of the spec that the kind does not have: a slip of the pen, most often."""
    from butler.api.crd import schema_of

    yield from _unknown(draft["spec"], schema_of(TenantCluster)["properties"]["spec"], "spec")


def _unknown(value: Any, schema: dict[str, Any], path: str) -> Iterator[FieldError]:
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _unknown(item, schema["items"], f"{path}[{index}]")
    known = schema.get("properties")
    if not isinstance(value, dict) or known is None:
        return
    for name, below in value.items():
        if name in known:
            yield from _unknown(below, known[name], f"{path}.{name}")
            continue
        close = difflib.get_close_matches(str(name), known, 1, 0.5)
        advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}"
        yield FieldError(FieldProblem.FORBIDDEN, f"{path}.{name}", f"there is no such field; {advice}")
