"""Putting into a tenant's API what kubeadm and Kamaji leave there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from kubekit.client.protocol import Client
from kubekit.errors import AlreadyExists, NotFound
from kubekit.server.spaces.beginnings import Contents

from . import addons, kubeadm
from .kubeadm import Cluster, Placed

MANAGER = "kamaji"


@dataclass(frozen=True, slots=True)
class Change:
    """What is different from how a tenant's API was last left."""

    is_new: bool
    is_other: bool
    """Whether its version or the place it is reached at is another one."""
    asked: frozenset[str]
    there: frozenset[str]
    """Addons."""
    has_rights: bool = False
    """Whether the API began with the rights of what is asked."""


@cache
def beginning(asked: frozenset[str]) -> Contents:
    """What is the same in all clusters that ask for these addons."""
    placed = [*kubeadm.rights(), *(one for addon in sorted(asked) for one in addons.rights(addon))]
    objects = tuple({"apiVersion": kind.api_version, "kind": kind.kind, **obj} for kind, obj in placed)
    return Contents(MANAGER, objects)


async def fill(client: Client, cluster: Cluster, change: Change) -> None:
    """Make the contents of an API what they are to be. Writes nothing when nothing is different.

    May be repeated after it was interrupted."""
    parts = addons.settings if change.has_rights else addons.contents
    missing = [placed for addon in sorted(change.asked - change.there) for placed in parts(cluster, addon)]
    if change.is_new:
        missing += [*kubeadm.fixtures(cluster), *kubeadm.settings(cluster)]
        missing += () if change.has_rights else kubeadm.rights()
    await _create(client, missing)
    if change.is_other and not change.is_new:
        kept = [addons.workload(cluster, addon) for addon in sorted(change.asked & change.there)]
        await _apply(client, [*kubeadm.settings(cluster), *kept])
    gone = [placed for addon in sorted(change.there - change.asked) for placed in addons.contents(cluster, addon)]
    await _delete(client, gone)


async def _create(client: Client, objects: Iterable[Placed]) -> None:
    """All at the same time: that is one commit."""

    async def create(placed: Placed) -> None:
        kind, obj = placed
        try:
            await client.create(obj, kind, manager=MANAGER)
        except AlreadyExists:
            return

    await asyncio.gather(*map(create, objects))


async def _apply(client: Client, objects: Iterable[Placed]) -> None:
    await asyncio.gather(*(client.apply(obj, kind, manager=MANAGER) for kind, obj in objects))


async def _delete(client: Client, objects: Iterable[Placed]) -> None:
    for kind, obj in objects:
        meta = obj["metadata"]
        try:
            await client.delete(kind, meta["name"], meta.get("namespace", ""), propagation="Background")
        except NotFound:
            continue
