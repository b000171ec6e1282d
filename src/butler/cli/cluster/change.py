"""Changing the spec of a cluster that exists, after checking that the change can work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from butler import advice
from kubekit.errors import Conflict, Invalid

from ..lazy import REFUSED, Failure
from ..merge_patch import Change, merged
from ..object_draft import Draft
from ..rows import CLUSTERS
from ..session import Session
from . import cluster_draft
from .lookup import speaking_of

_ATTEMPTS = 5


async def change(session: Session, name: str, wanted: Callable[[Draft], Change], done: str) -> tuple[int, bool]:
    """Send what `wanted` makes of the cluster; answers the generation it has then, and whether that is another.

    Raises Failure when it cannot work, before anything is sent, also where the same is asked for already."""
    what = f"cluster {session.namespace}/{name} cannot be {done}"
    for _ in range(_ATTEMPTS):
        with speaking_of(session, name):
            found = await session.client.get(CLUSTERS, name, session.namespace)
            if found["metadata"].get("deletionTimestamp"):
                raise Failure(f"{what}: it is being deleted", REFUSED)
            patch = wanted(found)
            draft = merged(found, patch)
            if draft == found:
                _must_be_under_way(session, found, what)
                return found["metadata"].get("generation", 0), False
            await cluster_draft.judged(session, draft, what)
            try:
                version = found["metadata"]["resourceVersion"] if _replaces_lists(patch) else ""
                return await send(session, name, patch, version, what), True
            except Conflict:
                # Somebody wrote in between, and what was checked may no longer be what is there.
                continue
    raise Failure(f"{what}: others keep changing it; try again", REFUSED)


async def send(session: Session, name: str, patch: Change, version: str, what: str) -> int:
    """Patch the cluster, if a version is given only while it has that; answers its generation.

    Raises Conflict, Failure."""
    change: dict[str, Any] = merged(patch, {"metadata": {"resourceVersion": version}}) if version else patch
    try:
        changed = await session.client.patch(CLUSTERS, name, change, session.namespace, manager="butlerctl")
    except Invalid as error:
        raise cluster_draft.invalid(what, error) from error
    generation: int = changed["metadata"].get("generation", 0)
    return generation


def _must_be_under_way(session: Session, found: Draft, what: str) -> None:
    """Raises Failure where it is refused what a cluster is to be."""
    import msgspec

    from butler.api.cluster import TenantCluster

    from ..live import progress

    cluster = msgspec.convert(found, TenantCluster)
    if problem := progress.problem_of(cluster, cluster.metadata.generation):
        more = advice.why(cluster.metadata.name, session.where)
        raise Failure(f"{what}: {problem}; `{more}` says more", REFUSED)


def _replaces_lists(change: Any) -> bool:
    """Whether a patch could take back what somebody else added to a list."""
    if isinstance(change, dict):
        return any(map(_replaces_lists, change.values()))
    return isinstance(change, list)
