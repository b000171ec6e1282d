"""A client's body as an object of the kind, and in the namespace, that its request speaks of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kubekit.errors import ApiError, BadRequest, FieldError, FieldProblem, invalid
from kubekit.model.resource import Object
from kubekit.server.objects import refusals
from kubekit.server.objects.apply import key_and_kind, kind_of
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import Malformed, go_kind

from .space import Space

_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
    "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
_SCHEME = "pkg/runtime/scheme.go:111"
_COMMON_KINDS = frozenset({"List", "Status", "DeleteOptions", "WatchEvent", "APIGroup", "APIResourceList"})
_PACKAGES = {"": "core", "events.k8s.io": "core"}


_MOST_REMARKS = 100
"""Kubernetes' decoder remembers no more mistakes of a body."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How a refusal shows what a patch has made, and in whose words it says what is wrong with it."""

    value: Callable[[], str]
    problem: Callable[[str], str] = str


def accept(space: Space, target: Target, body: Any, options: WriteOptions) -> Object:
    """The object, decoded, with defaults; unknown fields are reported as asked. Raises BadRequest or Invalid."""
    obj = understood(space, target.resource, body, options)
    check_namespace(target, obj["metadata"])
    _drop_repeated_owners(obj["metadata"], options)
    space.checks(target.resource).default(obj)
    return obj


def understood(space: Space, resource: Resource, body: Any, options: WriteOptions) -> Object:
    """The object, decoded, and nothing more. Raises BadRequest."""
    try:
        return decoded(space, resource, body, options)
    except Malformed as error:
        given = body if isinstance(body, dict) else {}
        version = str(given.get("apiVersion") or resource.api_version).rpartition("/")[2]
        named = f'{given.get("kind") or resource.kind} in version "{version}"'
        raise BadRequest(f"{named} cannot be handled as a {resource.kind}: {error}") from error


def accept_patched(space: Space, target: Target, body: Any, shown: Shown, options: WriteOptions) -> Object:
    """The same for what a patch has made of an object; `shown` tells how a refusal shows it."""
    try:
        obj = decoded(space, target.resource, body, options, in_order=True)
    except Malformed as error:
        problem = FieldError(FieldProblem.INVALID, "patch", shown.problem(str(error)), shown.value())
        raise invalid("", "", "", [problem]) from error
    check_name(target, obj["metadata"])
    check_namespace(target, obj["metadata"])
    _drop_repeated_owners(obj["metadata"], options)
    space.checks(target.resource).default(obj)
    return obj


def accept_applied(space: Space, target: Target, merged: Object, config: Object) -> Object:
    """What applying a configuration has made, in the shape of its kind. Raises BadRequest."""
    checks, resource = space.checks(target.resource), target.resource
    obj = {**merged, "apiVersion": resource.api_version, "kind": resource.kind}
    try:
        checks.decode(obj, is_applied=True)
    except Malformed as error:
        raise _not_converted(resource, config, error) from error
    del obj["apiVersion"], obj["kind"]
    check_name(target, obj["metadata"])
    check_namespace(target, obj["metadata"])
    checks.default(obj)
    return obj


def _not_converted(resource: Resource, config: Object, error: Malformed) -> BadRequest:
    if resource.is_custom:
        return BadRequest(f"failed to convert merged object at last version: {error}")
    which, kind = key_and_kind(config, resource.api_version), kind_of(config, resource.api_version)
    why = f"unable to convert unstructured object to {kind}: {error.converting}"
    return BadRequest(f"failed to convert new object ({which}) to proper version: {why}")


def check_applied_type(resource: Resource, config: Any) -> Object:
    """A copy of an applied configuration, which must say what it is. Raises BadRequest."""
    body = {} if config is None else config
    if not isinstance(body, dict):
        what = f"cannot unmarshal {go_kind(body)} into Go value of type map[string]interface {{}}"
        raise BadRequest(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: json: {what}")
    named = {name: value if isinstance(value := body.get(name), str) else "" for name in ("apiVersion", "kind")}
    if (named["apiVersion"], named["kind"]) != (resource.api_version, resource.kind):
        version = named["apiVersion"]
        shown = version if "/" in version else f"/{version}"
        raise BadRequest(f"invalid object type: {shown}, Kind={named['kind']}")
    return dict(body)


def _drop_repeated_owners(meta: Object, options: WriteOptions) -> None:
    owners = meta.get("ownerReferences")
    if not owners or len(owners) < 2:
        return
    counts = Counter(frozenset(owner.items()) for owner in owners)
    if len(counts) < len(owners):
        kept = {frozenset(owner.items()): owner for owner in owners}
        repeated = sorted({owner.get("uid", "") for mark, owner in kept.items() if counts[mark] > 1})
        options.warn(_REPEATED_OWNERS + ", ".join(repeated))
        meta["ownerReferences"] = list(kept.values())


def check_name(target: Target, meta: Object) -> None:
    if not meta.get("name"):
        raise refusals.no_name(target.name)
    if meta["name"] != target.name:
        raise refusals.wrong_name(meta["name"], target.name)


def check_namespace(target: Target, meta: Object) -> None:
    if not target.resource.namespaced:
        meta.pop("namespace", None)
    elif meta.setdefault("namespace", target.namespace) != target.namespace:
        raise refusals.wrong_namespace()


def decoded(space: Space, resource: Resource, body: Any, options: WriteOptions, *, in_order: bool = False) -> Object:
    """A copy of the body in the shape of its kind, without its type. Raises Malformed.

    Unknown fields are reported as they stand in the body, or `in_order` of their names."""
    if not isinstance(body, dict):
        raise Malformed("it is not a JSON object")
    _check_type(space, resource, body, is_patched=in_order)
    obj = {**body, "apiVersion": resource.api_version, "kind": resource.kind}
    if isinstance(metadata := obj.get("metadata"), dict):
        # What the server adds there is nothing that the caller wants in the body it gave.
        obj["metadata"] = metadata.copy()
    unknown = space.checks(resource).decode(obj)
    _report(sorted(unknown) if in_order else unknown, options)
    del obj["apiVersion"], obj["kind"]
    return obj


def _report(unknown: list[str], options: WriteOptions) -> None:
    """Refuse or warn of what a strict reader would not take."""
    if options.field_validation == "Ignore" or (not unknown and options.remarks is None):
        return
    remarks = options.remarks or unknown_fields
    found = _first(remarks(unknown))
    if found and options.field_validation == "Strict":
        raise Malformed(f"strict decoding error: {', '.join(found)}")
    for text in found:
        options.warn(text.removeprefix("yaml: unmarshal errors:\n  "))


def unknown_fields(paths: list[str]) -> Iterator[str]:
    return (f'unknown field "{path}"' for path in paths)


def _first(texts: Iterable[str]) -> list[str]:
    """As many different ones as are shown."""
    found: dict[str, None] = {}
    for text in texts:
        found[text] = None
        if len(found) == _MOST_REMARKS:
            break
    return list(found)


def _check_type(space: Space, resource: Resource, body: Object, *, is_patched: bool) -> None:
    """What the body says it is must be what is expected; built-in kinds need not say it. Raises Malformed, ApiError."""
    kind, api_version = body.get("kind"), body.get("apiVersion")
    if kind == resource.kind and api_version == resource.api_version:
        return
    for name, given in (("kind", kind), ("apiVersion", api_version)):
        if given is not None and not isinstance(given, str):
            what = f"json: cannot unmarshal {go_kind(given)} into Go struct field .{name} of type string"
            raise Malformed(f"couldn't get version/kind; json parse error: {what}")
    if resource.is_custom:
        _check_custom_type(resource, kind, api_version, body, is_patched=is_patched)
        return
    kind, api_version = kind or resource.kind, api_version or resource.api_version
    if (kind, api_version) == (resource.kind, resource.api_version):
        return
    found = _known_kind(space, api_version, kind)
    if not found:
        raise Malformed(not_registered(kind, api_version))
    if kind == resource.kind and api_version.rpartition("/")[0] == resource.group:
        raise _wrong_version(api_version, resource)
    package = _PACKAGES.get(resource.group, resource.group.partition(".")[0])
    raise Malformed(f"converting ({found}) to ({package}.{resource.kind}): unknown conversion")


def not_registered(kind: str, api_version: str) -> str:
    return f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'


def _check_custom_type(resource: Resource, kind: Any, api_version: Any, body: Object, *, is_patched: bool) -> None:
    if api_version != resource.api_version and not is_patched:
        raise _wrong_version(api_version or "", resource)
    problems = [
        FieldError(FieldProblem.INVALID, name, f"must be {expected}", given)
        for name, given, expected in (
            ("kind", kind, resource.kind),
            ("apiVersion", api_version, resource.api_version),
        )
        if given != expected
    ]
    if problems:
        meta = body.get("metadata")
        name = meta.get("name", "") if isinstance(meta, dict) else ""
        raise invalid(str(kind), resource.group, str(name), problems)


def _known_kind(space: Space, api_version: str, kind: str) -> str:
    """The Go type of a kind of any group, or nothing when there is no such kind."""
    known = space.kinds.of_api_version(api_version, kind.removesuffix("List"))
    is_known = (known is not None and not known.is_custom) or kind in _COMMON_KINDS
    return f"{api_version.rpartition('/')[2]}.{kind}" if is_known else ""


def _wrong_version(given: str, resource: Resource) -> ApiError:
    return BadRequest(
        f"the API version in the data ({given}) does not match the expected API version ({resource.api_version})"
    )
