"""Who lives in a cluster: what came with it, and what TenantAddons and ManagementAddons brought."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from butler.api.addon import AddonDefinition, ManagementAddon, TenantAddon, TenantAddonPhase
from butler.api.cluster import TenantCluster
from butler.engines.helm.protocol import Place

from . import status as pictures
from .residents import PLATFORM, Resident, rank_of

Find = Callable[[str], AddonDefinition | None]
_WORKING = "Healthy"


def of_platform(cluster: TenantCluster, find: Find) -> Iterator[Resident]:
    """Those that came with a cluster."""
    seen = cluster.status.observed_state
    for one in seen.addons if seen is not None else ():
        definition = find(one.name)
        yield Resident(
            title=f"{one.name}, which comes with the cluster",
            rank=PLATFORM,
            definition=one.name,
            conflicts=definition.spec.conflicts if definition is not None else (),
            place=_usual_place(definition) if definition is not None else None,
            state=one.status,
            works=one.status == _WORKING,
            has_release=True,
        )


def _usual_place(definition: AddonDefinition) -> Place:
    name, defaults = definition.metadata.name, definition.spec.defaults
    return Place(defaults.release_name or name, defaults.namespace or name)


def of_tenant_addon(obj: TenantAddon, find: Find, place: Place | None) -> Resident:
    return _asked_for(obj, obj.spec.addon or "", tuple(one.name for one in obj.spec.depends_on), find, place)


def of_management_addon(obj: ManagementAddon, find: Find, place: Place | None) -> Resident:
    return _asked_for(obj, obj.spec.addon, (), find, place)


def _asked_for(
    obj: TenantAddon | ManagementAddon, name: str, after: tuple[str, ...], find: Find, place: Place | None
) -> Resident:
    meta, status, definition = obj.metadata, obj.status, find(name) if name else None
    has_release = status.helm_release is not None
    created = meta.creation_timestamp
    return Resident(
        title=f"{obj.kind} {meta.name}",
        rank=rank_of(created.isoformat() if created is not None else "", meta.name, has_release=has_release),
        name=meta.name,
        definition=name,
        conflicts=definition.spec.conflicts if definition is not None else (),
        needs=definition.spec.depends_on if definition is not None else (),
        after=after,
        place=place,
        state=status.phase.value if status.phase is not None else "",
        works=status.phase == TenantAddonPhase.INSTALLED and not obj.deleting,
        has_release=has_release,
    )


def what_matters(obj: TenantAddon | ManagementAddon) -> Any:
    """As much of an addon as others in the same cluster depend on."""
    return obj.deleting, obj.spec, obj.status.phase, pictures.place_of(obj.status)
