"""Server-side apply: what one manager wants, merged into what is there."""

from __future__ import annotations

from typing import Any

from kubekit.errors import BadRequest
from kubekit.model.resource import Object
from kubekit.server.objects import refusals
from kubekit.server.objects.apply import apply
from kubekit.server.objects.request import Answer, Target, WriteOptions

from . import body_decoding, writes
from .commit import durably
from .completion import complete
from .ignored_fields import ownerless
from .space import Space


@durably
async def apply_patch(space: Space, target: Target, body: Any, options: WriteOptions) -> Answer:
    """Merge the configuration; create the object if there is none. Raises Conflict on fields that others own."""
    # Unknown fields stay: it is the merge that refuses them, in its own words.
    config = body_decoding.check_applied_type(target.resource, body)
    if space.latest(target) is not None:
        return await writes.rebuild(
            space, target, lambda live: _applied(space, target, live, config, options), options, applying=True
        )
    return await _create(space, target, config, options)


async def _create(space: Space, target: Target, config: Object, options: WriteOptions) -> Answer:
    if target.subresource:
        raise refusals.not_found(target.resource, target.name)
    meta = config.get("metadata")
    if isinstance(meta, dict) and meta.get("uid"):
        why = f"uid mismatch: the provided object specified uid {meta['uid']}, and no existing object was found"
        raise refusals.conflict(target, why)
    writes.check_namespace(space, target)
    options.may_not_create = True
    obj = await space.bench.do(options.size, _applied, space, target, None, config, options)
    writes.start_life(space, target.resource, obj)
    complete(space, target, obj, options.user)
    return await writes.insert(space, await writes.with_webhooks(space, target, obj, options), obj, options)


def _applied(space: Space, target: Target, live: Object | None, config: Object, options: WriteOptions) -> Object:
    writer = writes.writer(space, target, options)
    merged = apply(live, config, target.resource.schema, writer, force=options.force, reset=ownerless(target))
    _report_repeated(options)
    return body_decoding.accept_applied(space, target, merged, config)


def _report_repeated(options: WriteOptions) -> None:
    """Refuse or warn of keys that stand twice."""
    repeated = list(options.remarks([])) if options.remarks else []
    if repeated and options.field_validation == "Strict":
        listed = "\n  ".join(["yaml: unmarshal errors:", *repeated])
        raise BadRequest(f"error strict decoding YAML: error converting YAML to JSON: {listed}")
    for text in repeated:
        options.warn(text)
