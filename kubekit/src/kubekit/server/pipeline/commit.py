"""The last step of every write: the next resourceVersion, the bytes, and the wait until they are durable."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import msgspec

from kubekit.errors import ApiError, InternalError, TooLarge
from kubekit.model.resource import Object
from kubekit.server.objects import refusals
from kubekit.server.objects.request import Target
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.depth import is_too_deep
from kubekit.server.store.changes import Change
from kubekit.server.store.rows import Row

from .space import Space

P = ParamSpec("P")
T = TypeVar("T")

EVENT_LIFETIME = 3600
"""Seconds after which an Event is forgotten."""


LARGEST, LARGEST_JSON = 3 * 1024 * 1024, 1536 * 1024
"""Bytes of a stored object: what is filled in may make far more of one than its client sent. Kubernetes stores 1.5 MiB,
definitions and custom resources as JSON, all others in a form that takes about half of that."""


def encode(obj: Object) -> bytes:
    """The bytes to store. Raises BadRequest for an object that is nested too deep to be read again anywhere."""
    value = msgspec.json.encode(obj)
    if is_too_deep(obj, value):
        raise refusals.too_deep()
    return value


def durably(write: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Let a write, whose first argument is the space, refuse only what can be seen to be refused rightly: what it was
    decided upon may have been staged a moment ago, and is durable when the client hears of it."""

    @wraps(write)
    async def decide(*args: P.args, **named: P.kwargs) -> T:
        try:
            return await write(*args, **named)
        except ApiError:
            await cast(Space, args[0]).store.durable()
            raise

    return decide


async def stage(
    space: Space,
    target: Target,
    change: Change,
    obj: Object,
    previous: Row | None = None,
    *,
    is_fitting: bool = False,
) -> bytes:
    """Stage the object (there was no await since its previous version was read) and answer its stored bytes.

    `is_fitting`: that they are not too many was found out beside the event loop."""
    store, meta = space.store, obj["metadata"]
    revision = store.next_revision()
    meta["resourceVersion"] = str(revision)
    # What was stored before is not nested deeper now that it goes.
    is_fitting = is_fitting or change is Change.DELETED
    value = msgspec.json.encode(obj) if is_fitting else fitting(target.resource, obj)
    # At once, so that nobody else is given the same before this one is durable.
    _occupy(space, target, revision, None if change is Change.DELETED else obj)
    owners = meta.get("ownerReferences")
    try:
        await store.write(
            space.bucket(target.resource),
            target.key,
            change,
            value,
            previous=previous,
            owners=[owner["uid"] for owner in owners] if owners else (),
            expires=_expiry(space, target),
            is_ending="deletionTimestamp" in meta,
        )
    except InternalError:
        row = store.latest(space.bucket(target.resource), target.key)
        _occupy(space, target, revision, row.decode() if row is not None else None)
        raise
    return value


def fitting(resource: Resource, obj: Object) -> bytes:
    """The bytes to store, as Kubernetes without a record of who owns what if need be. Raises TooLarge."""
    limit = LARGEST_JSON if resource.is_custom or resource.group == "apiextensions.k8s.io" else LARGEST
    value = encode(obj)
    if len(value) > limit and obj["metadata"].pop("managedFields", None):
        value = encode(obj)
    if len(value) > limit:
        raise TooLarge(f"Request entity too large: limit is {limit}")
    return value


def _occupy(space: Space, target: Target, revision: int, obj: Object | None) -> None:
    """Take what an object has for itself alone, or counts towards a quota; give it back when it is gone."""
    resource = target.resource.storage_key
    if resource == "/services":
        space.addresses.note(target.key, obj)
    if space.quotas.concern(resource, target.key):
        space.quotas.count(resource, target.key, revision, obj)


def _expiry(space: Space, target: Target) -> int | None:
    if target.resource.plural != "events" or target.resource.is_custom:
        return None
    return int(space.now().timestamp()) + EVENT_LIFETIME
