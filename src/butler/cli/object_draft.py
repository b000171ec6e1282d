"""An object somebody wrote, before any API has seen it: read, checked by field, refused in words that help."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kubekit.errors import Cause, FieldError, FieldProblem, Invalid
from kubekit.model.resource import Address, ObjectMeta, Resource

from .lazy import REFUSED, USAGE, Failure
from .usage import as_typed

Draft = dict[str, Any]
"""An object as it goes over the wire."""
FlagFor = Callable[[str], str]
"""The flag that writes a field; empty when there is none."""
R = TypeVar("R", bound=Resource)

_MOST_PROBLEMS = 20
_TYPES = {
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "object": "a mapping of names to values",
    "array": "a list",
}
_PATTERNS = {
    r"'^https?://'": "a URL that begins with https:// or http://",
    r"'^([0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{1,2}$'": "a range such as 10.0.0.0/16",
    r"'^[a-z0-9-]+/[a-z0-9-]+$'": "namespace/name",
}
"""Forms that have a name."""
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def empty(address: Address) -> Draft:
    return {"apiVersion": address.api_version, "kind": address.kind, "metadata": {}, "spec": {}}


def read(filename: str, address: Address) -> Draft:
    """The one object of a kind in a file, or on stdin for `-`. Raises Failure."""
    shown = "stdin" if filename == "-" else filename
    try:
        text = sys.stdin.read() if filename == "-" else Path(filename).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{shown}: {getattr(error, 'strerror', None) or 'this is not text'}", USAGE) from error
    return parsed(text, shown, address)


def parsed(text: str, shown: str, address: Address) -> Draft:
    """The one object of a kind in a text. Raises Failure."""
    import yaml

    try:
        documents = [one for one in yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if one]
    except yaml.YAMLError as error:
        raise Failure(f"{shown}: this is not YAML: {_yaml_problem(error)}", USAGE) from error
    found = [one for one in documents if isinstance(one, dict) and one.get("kind") == address.kind]
    if len(found) != 1:
        raise Failure(f"{shown}: needs exactly one {address.kind}, and has {len(found) or 'none'}", USAGE)
    draft: Draft = found[0]
    if draft.get("apiVersion") != address.api_version:
        raise Failure(f"{shown}: apiVersion: {draft.get('apiVersion')!r} must be {address.api_version}", USAGE)
    for part in ("metadata", "spec"):
        if not isinstance(draft.setdefault(part, {}), dict):
            raise Failure(f"{shown}: {part}: must be a mapping of names to values", USAGE)
    return _plain(draft)


def _plain(draft: Draft) -> Draft:
    """YAML's dates and other luxuries as JSON has them."""
    made: Draft = msgspec.json.decode(msgspec.json.encode(draft))
    return made


def _yaml_problem(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "unreadable"
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)


def converted(draft: Draft, kind: type[R], found: list[FieldError]) -> R:
    """The object without the fields that cannot be read, each of which is added to what was found."""
    rest = _plain(draft)
    for _ in range(_MOST_PROBLEMS):
        try:
            return msgspec.convert(rest, kind)
        except msgspec.ValidationError as error:
            problem = _wrong_type(rest, str(error))
        if problem.problem is FieldProblem.REQUIRED:
            told = {one.path for one in found}
            found += [one for one in _missing_fields(rest, kind) if one.path not in told] or [problem]
            break
        found.append(problem)
        if not _drop(rest, problem.path):
            break
    return kind(metadata=ObjectMeta(name=str(draft["metadata"].get("name"))))


def invalid(what: str, error: Invalid, flag_for: FlagFor, code: int = USAGE) -> Failure:
    """A refusal of the API, field by field."""
    causes = error.details.causes if error.details else ()
    return refused(what, causes, flag_for, code) if causes else Failure(f"{what}: {error}", code)


def refused(what: str, problems: Iterable[FieldError | Cause], flag_for: FlagFor, code: int = REFUSED) -> Failure:
    """One line for each field that cannot stay: which, what it is, and what would be right."""
    lines = dict.fromkeys(_line(problem, flag_for) for problem in problems)
    return Failure("\n".join([f"{what}:", *lines]), code)


def _line(problem: FieldError | Cause, flag_for: FlagFor) -> str:
    path = problem.path if isinstance(problem, FieldError) else problem.field
    text = problem.body() if isinstance(problem, FieldError) else problem.message
    flag = as_typed(flag_for(path))
    return f"  {path} ({flag}): {text}" if flag else f"  {path}: {text}"


def _wrong_type(draft: Draft, message: str) -> FieldError:
    """What msgspec says, with the value it speaks of."""
    expected, _, path = message.partition(" - at ")
    path = path.strip("`").removeprefix("$").lstrip(".")
    if missing := re.fullmatch(r"Object missing required field `(.+)`", expected):
        return FieldError(FieldProblem.REQUIRED, f"{path}.{missing[1]}".lstrip("."))
    return FieldError(FieldProblem.INVALID, path or "object", _wording(expected), at(draft, path))


def _wording(expected: str) -> str:
    """What msgspec expected, as people would say it."""
    text = expected.partition(", got")[0].replace("`", "").replace("Expected ", "must be ").replace(" | null", "")
    for type_, words in _TYPES.items():
        text = re.sub(rf"\b{type_}\b", words, text)
    _, _, pattern = text.partition(" matching regex ")
    if pattern in _PATTERNS:
        return f"must be {_PATTERNS[pattern]}"
    return text.replace(" >= ", ", at least ").replace(" <= ", ", at most ")


def at(value: Any, path: str) -> Any:
    """What stands at a path; None when there is nothing."""
    for name, index in _STEP.findall(path):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _drop(value: Any, path: str) -> bool:
    """Take a field away; answers whether it was there."""
    above, _, name = path.rpartition(".")
    below = at(value, above)
    return isinstance(below, dict) and below.pop(name, None) is not None


def _missing_fields(draft: Draft, kind: type[Resource]) -> Iterator[FieldError]:
    """Fields of the spec that there have to be."""
    from kubekit.model.crd import schema_of

    yield from _missing(draft["spec"], schema_of(kind)["properties"]["spec"], "spec")


def _missing(value: Any, schema: dict[str, Any], path: str) -> Iterator[FieldError]:
    for place, below, known in _children(value, schema, path):
        yield from _missing(below, known, place)
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                yield FieldError(FieldProblem.REQUIRED, f"{path}.{name}")


def _children(value: Any, schema: dict[str, Any], path: str) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """What is below a value and in its schema."""
    if isinstance(value, list) and "items" in schema:
        yield from ((f"{path}[{index}]", item, schema["items"]) for index, item in enumerate(value))
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from ((f"{path}.{name}", below, known[name]) for name, below in value.items() if name in known)


def unknown_fields(draft: Draft, kind: type[Resource]) -> Iterator[FieldError]:
    """Fields of the spec that the kind does not have: a slip of the pen, most often."""
    from kubekit.model.crd import schema_of

    yield from _unknown(draft["spec"], schema_of(kind)["properties"]["spec"], "spec")


def _unknown(value: Any, schema: dict[str, Any], path: str) -> Iterator[FieldError]:
    for place, below, part in _children(value, schema, path):
        yield from _unknown(below, part, place)
    known = schema.get("properties")
    if not isinstance(value, dict) or known is None:
        return
    for name in (name for name in value if name not in known):
        close = difflib.get_close_matches(str(name), known, 1, 0.5)
        advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}"
        yield FieldError(FieldProblem.FORBIDDEN, f"{path}.{name}", f"there is no such field; {advice}")
