"""create, update and patch: an object on its way into the store.

Every write goes the same way: decode, default, record who owns which field, admit, prepare, validate, store. Nothing
is awaited between reading the newest version and staging the new one, so no lock is needed; where a webhook has to be
asked in between, the version is compared afterwards and the way is gone again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from butler.errors import BadRequest, Conflict, FieldError, FieldProblem, go_text, invalid

from . import deleting, refusals
from .apply import Writer, apply, record_create, record_update
from .auth.users import UserInfo
from .builtins.behaviours import changes_generation, has_generation
from .requests import Answer, Target, WriteOptions
from .resources import Object, Resource
from .space import Space
from .storage.changes import Change
from .storage.store import Row
from .storing import encode, stage

Build = Callable[[Object], Object]
"""Makes the wanted object out of a private copy of the stored one."""

_ATTEMPTS = 5
_SYSTEM_FIELDS = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "selfLink",
)


async def create(space: Space, target: Target, obj: Object, options: WriteOptions) -> Answer:
    """Store a new object. Raises AlreadyExists, Invalid, BadRequest, NotFound (its namespace), Forbidden."""
    resource = target.resource
    obj = accept(space, target, obj, options)
    if obj["metadata"].get("resourceVersion"):
        raise BadRequest("resourceVersion should not be set on objects to be created")
    target = _named(space, target, obj)
    _check_namespace(space, target)
    _start_life(space, resource, obj)
    record_create(obj, resource.schema, _writer(space, target, options))
    if space.admission.concerns(resource, "CREATE", target.subresource):
        await space.admission.mutate("CREATE", target, obj, None, options)
    return await insert(space, target, obj, options)


async def insert(space: Space, target: Target, obj: Object, options: WriteOptions) -> Answer:
    """The second half of a creation, when the object is complete."""
    resource = target.resource
    if resource.behaviour is not None:
        resource.behaviour.prepare_create(obj)
    problems = space.checks(resource).validate(obj)
    if problems:
        raise invalid(resource.kind, resource.group, target.name, problems)
    space.admission.check("CREATE", target, obj, None, options)
    if space.admission.concerns(resource, "CREATE", target.subresource):
        await space.admission.validate("CREATE", target, obj, None, options)
    if space.latest(target) is not None:
        raise refusals.already_exists(target)
    if options.dry_run:
        return Answer(resource, encode(obj), created=True)
    event = await stage(space, target, Change.ADDED, obj)
    return Answer(resource, event, created=True)


async def update(space: Space, target: Target, obj: Object, options: WriteOptions) -> Answer:
    """Replace an object (or its status, by a subresource). Raises Conflict when it has changed meanwhile."""
    resource = target.resource
    obj = accept(space, target, obj, options)
    meta = obj["metadata"]
    if not meta.get("name") and not resource.is_custom:
        meta["name"] = target.name
    if meta.get("name") != target.name:
        raise refusals.wrong_name(meta.get("name", ""), target.name)
    if space.latest(target) is None:
        if resource.plural not in _CREATED_BY_UPDATE or target.subresource:
            raise refusals.not_found(resource, target.name)
        return await create(space, target, obj, options)
    if resource.is_custom and not meta.get("resourceVersion"):
        missing = FieldError(FieldProblem.INVALID, "metadata.resourceVersion", "must be specified for an update", 0)
        raise invalid(resource.kind, resource.group, target.name, [missing])
    return await rebuild(space, target, lambda _: obj, options)


_CREATED_BY_UPDATE = frozenset(
    {"endpoints", "endpointslices", "events", "leases", "roles", "rolebindings", "clusterroles", "clusterrolebindings"}
)
"""Kinds that a PUT may also create, as in Kubernetes."""


async def rebuild(
    space: Space,
    target: Target,
    build: Build,
    options: WriteOptions,
    *,
    applying: bool = False,
    subresource: str = "",
) -> Answer:
    """Make a new version out of the stored one; once more when another write came in between.

    `subresource` names the endpoint a change of the whole object came through, for the record of who owns what."""
    for _ in range(_ATTEMPTS):
        row = space.existing(target)
        old = row.decode()
        obj = build(row.decode())
        _check_precondition(target, obj, old)
        obj = _carried_over(target, obj, old)
        if not applying:
            record_update(obj, old, target.resource.schema, _writer(space, target, options, subresource))
        answer = await _replace(space, target, row, old, obj, options)
        if answer is not None:
            return answer
    raise refusals.modified(target)


async def _replace(
    space: Space, target: Target, row: Row, old: Object, obj: Object, options: WriteOptions
) -> Answer | None:
    """Admit, validate and store; None when the stored object changed while a webhook was asked."""
    resource = target.resource
    asked = space.admission.concerns(resource, "UPDATE", target.subresource)
    if asked:
        await space.admission.mutate("UPDATE", target, obj, old, options)
    if resource.behaviour is not None and not target.subresource:
        resource.behaviour.prepare_update(obj, old)
    obj["metadata"]["resourceVersion"] = str(row.revision)
    if _spec_changed(resource, obj, old):
        obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    if obj == old:
        return Answer(resource, row.value)
    problems = space.checks(resource).validate_update(obj, old)
    if problems:
        raise invalid(resource.kind, resource.group, target.name, problems)
    space.admission.check("UPDATE", target, obj, old, options)
    if asked:
        await space.admission.validate("UPDATE", target, obj, old, options)
        now = space.latest(target)
        if now is None or now.revision != row.revision:
            return None
    if options.dry_run:
        return Answer(resource, encode(obj))
    if deleting.is_finished(resource, obj):
        return Answer(resource, await stage(space, target, Change.DELETED, obj, row), deleted=True)
    return Answer(resource, await stage(space, target, Change.MODIFIED, obj, row))


async def apply_patch(space: Space, target: Target, config: Object, options: WriteOptions) -> Answer:
    """Server-side apply: merge what this manager wants, create the object if there is none."""
    resource = target.resource
    config = accept(space, target, config, options, default=False)
    meta = config["metadata"]
    if meta.setdefault("name", target.name) != target.name:
        raise refusals.wrong_name(meta["name"], target.name)
    if space.latest(target) is not None:
        return await rebuild(
            space, target, lambda live: _applied(space, target, live, config, options), options, applying=True
        )
    if target.subresource:
        raise refusals.not_found(resource, target.name)
    if meta.get("uid"):
        raise Conflict(
            f"uid mismatch: the provided object specified uid {meta['uid']}, and no existing object was found",
            refusals.about(target),
        )
    _check_namespace(space, target)
    obj = _applied(space, target, None, config, options)
    _start_life(space, resource, obj)
    if space.admission.concerns(resource, "CREATE", target.subresource):
        await space.admission.mutate("CREATE", target, obj, None, options)
    return await insert(space, target, obj, options)


def _applied(space: Space, target: Target, live: Object | None, config: Object, options: WriteOptions) -> Object:
    obj = apply(live, config, target.resource.schema, _writer(space, target, options), force=options.force)
    space.checks(target.resource).default(obj)
    return obj


# -- steps ------------------------------------------------------------------------------------------------------


def accept(space: Space, target: Target, body: Any, options: WriteOptions, *, default: bool = True) -> Object:
    """A client's body as an object of the right kind in the right namespace; unknown fields reported as asked."""
    resource = target.resource
    if not isinstance(body, dict):
        raise BadRequest(f"the object provided is not a {resource.kind}: it is not a JSON object")
    obj = _typed(resource, body)
    checks = space.checks(resource)
    report_unknown(checks.decode(obj), options)
    del obj["apiVersion"], obj["kind"]
    obj.setdefault("metadata", {})
    _check_object_namespace(target, obj["metadata"])
    if default:
        checks.default(obj)
    return obj


def report_unknown(unknown: list[str], options: WriteOptions) -> None:
    if not unknown or options.field_validation == "Ignore":
        return
    if options.field_validation == "Strict":
        listed = ", ".join(f'unknown field "{path}"' for path in unknown)
        raise BadRequest(f"strict decoding error: {listed}")
    for path in unknown:
        options.warn(f'unknown field "{path}"')


def _typed(resource: Resource, obj: Object) -> Object:
    """A copy that says what it is, as clients of built-in kinds need not."""
    kind, api_version = obj.get("kind"), obj.get("apiVersion")
    if resource.is_custom and not kind:
        raise BadRequest(f"Object 'Kind' is missing in '{go_text(obj)}'")
    if api_version and api_version != resource.api_version:
        raise BadRequest(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    if kind and kind != resource.kind:
        raise BadRequest(
            f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"the kind in the data ({kind}) does not match the expected kind ({resource.kind})"
        )
    return {**obj, "apiVersion": resource.api_version, "kind": resource.kind}


def _check_object_namespace(target: Target, meta: Object) -> None:
    if not target.resource.namespaced:
        if meta.pop("namespace", None):
            raise refusals.wrong_namespace()
        return
    if meta.setdefault("namespace", target.namespace) != target.namespace:
        raise refusals.wrong_namespace()


def _named(space: Space, target: Target, obj: Object) -> Target:
    meta = obj["metadata"]
    if target.name and meta.setdefault("name", target.name) != target.name:
        raise refusals.wrong_name(meta["name"], target.name)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = space.generated_name(meta["generateName"])
    return Target(target.resource, target.namespace, meta.get("name", ""), target.subresource)


def _check_namespace(space: Space, target: Target) -> None:
    """Objects go only into namespaces that exist and are not on their way out."""
    if not target.resource.namespaced:
        return
    terminating = space.namespaces.get(target.namespace)
    if terminating is None:
        raise refusals.namespace_not_found(target.namespace)
    if terminating:
        raise refusals.namespace_terminating(target)


def _start_life(space: Space, resource: Resource, obj: Object) -> None:
    """What a client may not choose about a new object."""
    meta = obj["metadata"]
    for name in _SYSTEM_FIELDS:
        meta.pop(name, None)
    meta["uid"] = space.new_uid()
    meta["creationTimestamp"] = space.timestamp()
    if resource.is_custom or has_generation(resource.group, resource.kind):
        meta["generation"] = 1
    if resource.status and resource.is_custom:
        obj.pop("status", None)


def _carried_over(target: Target, obj: Object, old: Object) -> Object:
    """What an update may not change: identity, and the part that belongs to the other endpoint."""
    if target.subresource:
        part = "status" if target.subresource == "status" else ""
        meta = {**old["metadata"]}
        if "managedFields" in obj["metadata"]:
            meta["managedFields"] = obj["metadata"]["managedFields"]
        obj = {**old, "metadata": meta, **({part: obj[part]} if part and part in obj else {})}
    elif target.resource.status:
        obj.pop("status", None)
        if "status" in old:
            obj["status"] = old["status"]
    meta, before = obj["metadata"], old["metadata"]
    for name in _SYSTEM_FIELDS:
        if name in before:
            meta[name] = before[name]
        else:
            meta.pop(name, None)
    return obj


def _check_precondition(target: Target, obj: Object, old: Object) -> None:
    meta, before = obj["metadata"], old["metadata"]
    version = meta.get("resourceVersion")
    if version and version != "0" and version != before["resourceVersion"]:
        raise refusals.modified(target)
    if meta.get("uid") and meta["uid"] != before["uid"]:
        raise refusals.wrong_uid(target, meta["uid"], before["uid"])


def _spec_changed(resource: Resource, obj: Object, old: Object) -> bool:
    """Whether the change counts as a new generation."""
    if not resource.is_custom:
        return changes_generation(resource.group, resource.kind, obj, old)
    ignored = {"metadata", "status"} if resource.status else {"metadata"}
    keys = (obj.keys() | old.keys()) - ignored
    return any(obj.get(key) != old.get(key) for key in keys)


def record(space: Space, target: Target, obj: Object, old: Object, manager: str) -> None:
    """Record the server's own change of an object."""
    options = WriteOptions(UserInfo("system:apiserver"), manager)
    record_update(obj, old, target.resource.schema, _writer(space, target, options))


def _writer(space: Space, target: Target, options: WriteOptions, subresource: str = "") -> Writer:
    return Writer(options.manager, target.resource.api_version, space.timestamp(), subresource or target.subresource)
