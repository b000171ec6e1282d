"""The answers of refusal that speak of a resource, in the words Kubernetes uses."""

from __future__ import annotations

from kubekit.errors import (
    AlreadyExists,
    BadRequest,
    Cause,
    Conflict,
    Details,
    Forbidden,
    MethodNotAllowed,
    NotFound,
    go_quoted,
)

from .request import Target
from .resource import Resource


def about(target: Target, *causes: Cause) -> Details:
    resource = target.resource
    return Details(name=target.name, group=resource.group, kind=resource.plural, causes=causes)


def not_found(resource: Resource, name: str) -> NotFound:
    return NotFound(f"{resource.qualified} {go_quoted(name)} not found", about(Target(resource, name=name)))


def namespace_not_found(namespace: str) -> NotFound:
    return NotFound(f"namespaces {go_quoted(namespace)} not found", Details(name=namespace, kind="namespaces"))


def namespace_terminating(target: Target) -> Forbidden:
    cause = Cause("NamespaceTerminating", f"namespace {target.namespace} is being terminated", "metadata.namespace")
    return forbidden(
        target, f"unable to create new content in namespace {target.namespace} because it is being terminated", cause
    )


def forbidden(target: Target, why: str, *causes: Cause) -> Forbidden:
    return Forbidden(
        f"{target.resource.qualified} {go_quoted(target.name)} is forbidden: {why}", about(target, *causes)
    )


def already_exists(target: Target, *, ending: bool = False) -> AlreadyExists:
    """`ending`: what is there is being deleted."""
    start = "object is being deleted: " if ending else ""
    named = f"{target.resource.qualified} {go_quoted(target.name)}"
    return AlreadyExists(f"{start}{named} already exists", about(target))


def modified(target: Target) -> Conflict:
    return conflict(
        target, "the object has been modified; please apply your changes to the latest version and try again"
    )


def conflict(target: Target, why: str) -> Conflict:
    return Conflict(
        f"Operation cannot be fulfilled on {target.resource.qualified} {go_quoted(target.name)}: {why}", about(target)
    )


def wrong_uid_in_update(target: Target, wanted: str, actual: str) -> Conflict:
    """An update names the object it means in the object itself; Kubernetes notices that only in its storage."""
    resource = target.resource
    place = f"{resource.group}/{resource.plural}" if resource.is_custom else resource.plural
    return conflict(
        target,
        f"StorageError: invalid object, Code: 4, Key: /registry/{place}/{target.key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {actual}",
    )


def wrong_uid(target: Target, wanted: str, actual: str) -> Conflict:
    return _changed_before_deletion(target, "UID", wanted, actual, "deleted and then recreated")


def wrong_version(target: Target, wanted: str, actual: str) -> Conflict:
    return _changed_before_deletion(target, "ResourceVersion", wanted, actual, "modified")


def _changed_before_deletion(target: Target, what: str, wanted: str, actual: str, how: str) -> Conflict:
    """A deletion speaks of the kind, not of the resource."""
    resource = target.resource
    named = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    return Conflict(
        f"Operation cannot be fulfilled on {named} {go_quoted(target.name)}: the {what} in the precondition ({wanted}) "
        f"does not match the {what} in record ({actual}). The object might have been {how}",
        Details(name=target.name, group=resource.group, kind=resource.kind),
    )


def wrong_name(given: str, expected: str) -> BadRequest:
    return BadRequest(f"the name of the object ({given}) does not match the name on the URL ({expected})")


def no_name(expected: str) -> BadRequest:
    return BadRequest(f"the name of the object ({expected} based on URL) was undeterminable: name must be provided")


def too_deep() -> BadRequest:
    return BadRequest("the object provided is nested too deeply: exceeded max depth")


def method_not_allowed() -> MethodNotAllowed:
    return MethodNotAllowed("the server does not allow this method on the requested resource", Details())


def no_such_resource() -> NotFound:
    return NotFound("the server could not find the requested resource", Details())


def wrong_namespace() -> BadRequest:
    return BadRequest("the namespace of the provided object does not match the namespace sent on the request")
