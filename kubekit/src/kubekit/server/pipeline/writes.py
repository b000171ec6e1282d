"""create, update and patch: an object on its way into the store.

Every write goes the same way: decode, default, record who owns which field, admit, prepare, validate, store. Nothing
is awaited between reading the newest version and staging the new one, so no lock is needed; where a webhook has to be
asked in between, to admit or to convert, or where an object is so large that it is looked at beside the event loop, the
version is compared afterwards and the way is gone again.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from kubekit.errors import ApiError, FieldError, FieldProblem, Unclassified, invalid
from kubekit.model.resource import Object
from kubekit.server.kinds.builtin.behaviours import has_generation
from kubekit.server.objects import refusals
from kubekit.server.objects.apply import Writer, keep_times, record_create, record_update
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.object_metadata import finalizer_warnings
from kubekit.server.objects.request import Answer, Target, WriteOptions
from kubekit.server.objects.resource import Behaviour, Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.store import json_values
from kubekit.server.store.changes import Change
from kubekit.server.store.rows import Row

from . import conversion, deletion, effort
from .body_decoding import accept
from .checks import Checks
from .commit import durably, encode, fitting, stage
from .completion import complete, complete_part, stamp
from .ignored_fields import carried_over, ownerless
from .space import Space

Build = Callable[[Object], Object]
"""Makes the wanted object out of a private copy of the stored one."""

_ATTEMPTS = 5
_CHOSEN_FIELDS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
"""What the server alone chooses for a new object."""


@durably
async def create(space: Space, target: Target, obj: Object, options: WriteOptions) -> Answer:
    """Store a new object. Raises AlreadyExists, Invalid, BadRequest, NotFound (its namespace), Forbidden."""
    target, obj = await space.bench.do(options.size, _begun, space, target, obj, options)
    complete(space, target, obj, options.user)
    return await insert(space, await with_webhooks(space, target, obj, options), obj, options)


def _begun(space: Space, target: Target, obj: Object, options: WriteOptions) -> tuple[Target, Object]:
    """The new object as its client wants it, and what it is called."""
    obj = _accepted(space, target, obj, options)
    _check_unversioned(obj, options)
    target, resource = _named(space, target, obj), target.resource
    if "create" not in resource.verbs:
        raise refusals.forbidden(target, "create not allowed while custom resource definition is terminating")
    check_namespace(space, target)
    start_life(space, resource, obj)
    by = Writer(options.manager, resource.api_version, obj["metadata"]["creationTimestamp"], target.subresource)
    record_create(obj, resource.schema, by, reset=ownerless(target))
    return target, obj


def _accepted(space: Space, target: Target, obj: Object, options: WriteOptions) -> Object:
    """The object with defaults. Raises TooLarge for one that they make too large, before anything else is done."""
    obj = accept(space, target, obj, options)
    if options.size > LARGE:
        fitting(target.resource, obj)
    return obj


async def with_webhooks(space: Space, target: Target, obj: Object, options: WriteOptions) -> Target:
    """Let webhooks change a new object, in place, but not what the server alone chooses. Answers what it is called."""
    if not space.admission.concerns(target.resource, "CREATE", target.subresource):
        return target
    chosen = {name: obj["metadata"][name] for name in ("uid", "creationTimestamp")}
    applied_version = obj["metadata"].get("resourceVersion")
    await space.admission.mutate("CREATE", target, obj, None, options)
    _check_place(target, obj)
    if obj["metadata"].get("resourceVersion") != applied_version:
        _check_unversioned(obj, options)
    obj["metadata"] |= chosen
    _begin_count(target.resource, obj)
    return Target(target.resource, target.namespace, obj["metadata"].get("name", ""), target.subresource)


async def insert(space: Space, target: Target, obj: Object, options: WriteOptions) -> Answer:
    """The second half of a creation, when the object is complete."""
    resource = target.resource
    if resource.behaviour is not None:
        await space.bench.do(options.size, _prepare_create, resource.behaviour, obj)
        stamp(space, target, obj)
    taken = space.addresses.assign(target, obj, is_trial=options.dry_run)
    problems = await space.bench.do(
        effort.to_check(target, options.size), _problems_of_new, space, target, obj, options
    )
    problems += await space.checks(resource).judge(obj, None, problems)
    # Whoever asks for what others have hears of it only when nothing else is wrong.
    if problems := problems or taken:
        raise _invalid(target, problems)
    if options.may_not_create:
        await space.confirm_creation(options.user, target)
    await space.bench.do(effort.to_admit(target, options.size), _admit, space, "CREATE", target, obj, None, options)
    if space.admission.concerns(resource, "CREATE", target.subresource):
        await space.admission.validate("CREATE", target, obj, None, options)
    stored = await space.converter.for_storage(resource, obj)
    space.quotas.check(target, obj, None)
    # It may have been marked since, and would be gone before its last object.
    check_namespace(space, target)
    if (there := space.latest(target)) is not None:
        ending = b'"deletionTimestamp"' in there.value and "deletionTimestamp" in there.decode()["metadata"]
        raise refusals.already_exists(target, ending=ending)
    if options.dry_run:
        return Answer(resource, await space.bench.do(options.size, encode, obj), created=True)
    value = await stage(space, target, Change.ADDED, stored, is_fitting=options.size > LARGE and stored is obj)
    return Answer(resource, await space.converter.written(resource, value), created=True)


def _prepare_create(behaviour: Behaviour, obj: Object) -> None:
    behaviour.settle(obj)
    behaviour.prepare_create(obj)


def _problems_of_new(space: Space, target: Target, obj: Object, options: WriteOptions) -> list[FieldError]:
    problems = space.checks(target.resource).validate(obj)
    if not problems and options.size > LARGE:
        fitting(target.resource, obj)
    return problems


def _invalid(target: Target, problems: list[FieldError]) -> ApiError:
    resource = target.resource
    return invalid(resource.kind, resource.storage_key.rpartition("/")[0], target.name, problems)


@durably
async def update(space: Space, target: Target, obj: Object, options: WriteOptions) -> Answer:
    """Replace an object (or its status, by a subresource). Raises Conflict when it has changed meanwhile."""
    resource = target.resource
    obj = await space.bench.do(options.size, _accepted, space, target, obj, options)
    meta = obj["metadata"]
    if not meta.get("name"):
        raise refusals.no_name(target.name)
    if meta["name"] != target.name:
        raise refusals.wrong_name(meta["name"], target.name)
    if space.latest(target) is None:
        if resource.plural not in _CREATED_BY_UPDATE or target.subresource:
            raise refusals.not_found(resource, target.name)
        options.may_not_create = True
        return await create(space, target, obj, options)
    if not resource.unconditional_update and meta.get("resourceVersion", "0") == "0":
        missing = FieldError(FieldProblem.INVALID, "metadata.resourceVersion", "must be specified for an update", 0)
        raise invalid(resource.plural, resource.group, target.name, [missing])

    def build(live: Object) -> Object:
        check_uid(target, meta, live)
        return obj

    return await rebuild(space, target, build, options)


_CREATED_BY_UPDATE = frozenset(
    {"endpoints", "endpointslices", "events", "leases", "roles", "rolebindings", "clusterroles", "clusterrolebindings"}
)
"""Kinds that a PUT may also create, as in Kubernetes."""


@durably
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
        shown = await space.converter.value(target.resource, row)
        by = None if applying else writer(space, target, options, subresource)
        size = max(options.size, len(shown))
        old, obj = await space.bench.do(size, _rebuilt, target, shown, build, by)
        answer = await _replace(space, target, row, old, obj, options)
        if answer is not None:
            return answer
    raise refusals.modified(target)


def _rebuilt(target: Target, shown: bytes, build: Build, by: Writer | None) -> tuple[Object, Object]:
    """The old version and the new one, of which `by` owns what differs; without it, `build` sees to that."""
    old: Object = json_values.decode(shown)
    # An apply shares nothing with what it is given, and leaves it alone.
    obj = build(old if by is None else json_values.decode(shown))
    _check_precondition(target, obj, old)
    obj = carried_over(target, obj, old)
    if by is None:
        keep_times(obj, old)
    else:
        record_update(obj, old, target.resource.schema, by)
    return old, obj


async def _replace(
    space: Space, target: Target, row: Row, old: Object, obj: Object, options: WriteOptions
) -> Answer | None:
    """Admit, validate and store; None when the stored object changed while a webhook was asked."""
    resource = target.resource
    asked = space.admission.concerns(resource, "UPDATE", target.subresource)
    if asked:
        await space.admission.mutate("UPDATE", target, obj, old, options)
        _check_place(target, obj)
        _check_precondition(target, obj, old)
        obj = carried_over(target, obj, old)
    size = max(options.size, len(row.value))
    if resource.behaviour is not None:
        await space.bench.do(size, _prepare_update, resource.behaviour, target, obj, old)
        complete_part(space, target, obj, old)
    taken = space.addresses.assign(target, obj, is_trial=options.dry_run)
    obj["metadata"]["resourceVersion"] = str(row.revision)
    checks = space.checks(resource)
    if not await space.bench.do(size, _counted, checks, target, obj, old) and conversion.is_up_to_date(resource, row):
        space.admission.check("UPDATE", target, obj, old, options)
        await space.store.durable(row.revision)
        return Answer(resource, msgspec.json.encode(old))
    problems = await space.bench.do(effort.to_check(target, size), _problems_of_changed, checks, target, obj, old, size)
    problems += await checks.judge(obj, old, problems, options.warn)
    if problems := problems or taken:
        raise _invalid(target, problems)
    await space.bench.do(effort.to_admit(target, size), _admit, space, "UPDATE", target, obj, old, options)
    if asked:
        await space.admission.validate("UPDATE", target, obj, old, options)
    stored = await space.converter.for_storage(resource, obj)
    now = space.latest(target)
    if now is None or now.revision != row.revision:
        return None
    space.quotas.check(target, obj, old)
    if options.dry_run:
        return Answer(resource, await space.bench.do(size, encode, obj))
    change = Change.DELETED if deletion.is_finished(resource, obj) else Change.MODIFIED
    if change is Change.DELETED:
        # Whoever took away the last finalizer sees the object without it, all others as it last was.
        await stage(space, target, change, row.decode(), row)
        return Answer(resource, encode(obj), deleted=True)
    value = await stage(space, target, change, stored, row, is_fitting=size > LARGE and stored is obj)
    return Answer(resource, await space.converter.written(resource, value))


def _counted(checks: Checks, target: Target, obj: Object, old: Object) -> bool:
    """Whether the object is another than it was; its generation is set."""
    # A controller that notes something in an annotation together with a status has not changed what is wanted.
    if target.subresource != "status" and checks.counts(obj, old):
        obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    return obj != old


def _problems_of_changed(checks: Checks, target: Target, obj: Object, old: Object, size: int) -> list[FieldError]:
    problems = checks.validate_update(obj, old, part=target.subresource)
    if not problems and size > LARGE:
        fitting(target.resource, obj)
    return problems


def _prepare_update(behaviour: Behaviour, target: Target, obj: Object, old: Object) -> None:
    if behaviour.settle(obj):
        keep_times(obj, old)
    if not target.subresource:
        behaviour.prepare_update(obj, old)


def _admit(
    space: Space, operation: str, target: Target, obj: Object, old: Object | None, options: WriteOptions
) -> None:
    """Warn of what is valid and yet unwise, and refuse what the rules of this space do not allow."""
    resource = target.resource
    if resource.behaviour is not None:
        for text in resource.behaviour.warnings(obj, old):
            options.warn(text)
    if resource.is_custom and "finalizers" in obj["metadata"]:
        for text in finalizer_warnings(obj["metadata"], old["metadata"] if old else None):
            options.warn(text)
    space.admission.check(operation, target, obj, old, options)


def _named(space: Space, target: Target, obj: Object) -> Target:
    meta = obj["metadata"]
    if target.name and meta.setdefault("name", target.name) != target.name:
        raise refusals.wrong_name(meta["name"], target.name)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = space.generated_name(meta["generateName"])
    return Target(target.resource, target.namespace, meta.get("name", ""), target.subresource)


def _check_unversioned(obj: Object, options: WriteOptions) -> None:
    if not options.dry_run and obj["metadata"].get("resourceVersion", "").strip("0").isdigit():
        raise Unclassified("resourceVersion should not be set on objects to be created")


def _check_place(target: Target, obj: Object) -> None:
    """A webhook may not move an object to another namespace. Raises BadRequest."""
    if not target.resource.namespaced:
        obj["metadata"].pop("namespace", None)
    elif obj["metadata"].setdefault("namespace", target.namespace) != target.namespace:
        raise refusals.wrong_namespace()


def check_namespace(space: Space, target: Target) -> None:
    """Objects go only into namespaces that exist and are not on their way out."""
    if not target.resource.namespaced:
        return
    terminating = space.is_ending(target.namespace)
    if terminating is None:
        raise refusals.namespace_not_found(target.namespace)
    if terminating:
        raise refusals.namespace_terminating(target)


def start_life(space: Space, resource: Resource, obj: Object) -> None:
    """What a client may not choose about a new object."""
    meta = obj["metadata"]
    for name in _CHOSEN_FIELDS:
        meta.pop(name, None)
    meta["uid"] = space.new_uid()
    meta["creationTimestamp"] = space.timestamp()
    _begin_count(resource, obj)


def _begin_count(resource: Resource, obj: Object) -> None:
    """A new object is of the first generation, and nothing has been seen of it."""
    if resource.is_custom or has_generation(resource.group, resource.kind):
        obj["metadata"]["generation"] = 1
    if resource.status and resource.is_custom:
        obj.pop("status", None)


def _check_precondition(target: Target, obj: Object, old: Object) -> None:
    meta, before = obj["metadata"], old["metadata"]
    version = meta.get("resourceVersion")
    if not version or version == "0" or version == before["resourceVersion"]:
        return
    if not (version.isascii() and version.isdigit()):
        raise Unclassified(f'strconv.ParseUint: parsing "{version}": invalid syntax')
    raise refusals.modified(target)


def check_uid(target: Target, meta: Object, live: Object) -> None:
    """An update that names the object it means may not hit another one of the same name. Raises Conflict."""
    if meta.get("uid") and meta["uid"] != live["metadata"]["uid"]:
        raise refusals.wrong_uid_in_update(target, meta["uid"], live["metadata"]["uid"])


def record(space: Space, target: Target, obj: Object, old: Object, manager: str) -> None:
    """Record the server's own change of an object."""
    options = WriteOptions(UserInfo("system:apiserver"), manager)
    record_update(obj, old, target.resource.schema, writer(space, target, options))


def writer(space: Space, target: Target, options: WriteOptions, subresource: str = "") -> Writer:
    subresource = subresource or target.subresource
    # Kubernetes notes no time for a change by way of the scale.
    time = "" if subresource == "scale" else space.timestamp()
    return Writer(options.manager, target.resource.api_version, time, subresource)
