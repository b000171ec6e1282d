"""The objects of a release as they are in the cluster now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from kubekit.errors import NotFound
from kubekit.model.resource import Address, Object

from ..protocol import Cluster
from .kinds import Kinds
from .manifest import Ref, ref_of

_AT_ONCE = 8
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Found:
    """An object of a manifest, and what is there of it."""

    ref: Ref
    declared: Object
    address: Address | None
    """None when the cluster does not serve the kind."""
    live: Object | None
    """None when it is missing."""


async def found(cluster: Cluster, kinds: Kinds, declared: Iterable[Object], namespace: str) -> tuple[Found, ...]:
    """Each object looked up once; those without a namespace are in `namespace`, if their kind has any."""
    objects = [(ref_of(one), one) for one in declared]
    addresses = await kinds.addresses(cluster, {(ref.api_version, ref.kind) for ref, _ in objects})

    async def look(ref: Ref, obj: Object) -> Found:
        address = addresses.get((ref.api_version, ref.kind))
        if address is None:
            return Found(ref, obj, None, None)
        place = (ref.namespace or namespace) if address.namespaced else ""
        full = replace(ref, namespace=place)
        try:
            return Found(full, obj, address, await cluster.client.get(address, ref.name, place))
        except NotFound:
            return Found(full, obj, address, None)

    return await in_turn([partial(look, ref, obj) for ref, obj in objects if ref.name])


async def in_turn(calls: Iterable[Callable[[], Awaitable[Answer]]]) -> tuple[Answer, ...]:
    """All answers, asked for a few at a time."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(call: Callable[[], Awaitable[Answer]]) -> Answer:
        async with turns:
            return await call()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(call)) for call in calls]
    return tuple(task.result() for task in tasks)
