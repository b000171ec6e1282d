"""Whose an addon is: labels by which it is found, and the owner with which it goes."""

from __future__ import annotations

import msgspec

from butler.api.addon import AddonDefinition, ManagementAddon, TenantAddon
from butler.api.cluster import TenantCluster
from butler.api.model import GROUP
from kubekit.model.resource import Object, OwnerReference

CLUSTER, DEFINITION = f"{GROUP}/cluster", f"{GROUP}/addon-definition"
_LONGEST = 63


def missing_labels(
    obj: TenantAddon | ManagementAddon, cluster: str, definition: AddonDefinition | None
) -> dict[str, str | None]:
    """What has to be changed of the labels of an object; None takes one away. Only of what there is, since not every
    text can be a label."""
    wanted = {CLUSTER: cluster, DEFINITION: definition.metadata.name if definition is not None else ""}
    there = obj.metadata.labels
    return {
        name: value or None for name, value in wanted.items() if len(value) <= _LONGEST and there.get(name, "") != value
    }


def missing_metadata(obj: TenantAddon, cluster: TenantCluster, definition: AddonDefinition | None) -> Object:
    """What has to be changed for an addon to belong to its cluster: it goes with it, so that the next cluster of that
    name does not get what was meant for this one."""
    change: Object = {}
    if labels := missing_labels(obj, cluster.metadata.name, definition):
        change["labels"] = labels
    owners, uid = obj.metadata.owner_references, cluster.metadata.uid
    if uid not in {one.uid for one in owners}:
        address = TenantCluster.address
        owner = OwnerReference(api_version=address.api_version, kind=address.kind, name=cluster.metadata.name, uid=uid)
        change["ownerReferences"] = msgspec.to_builtins([*owners, owner])
    return change
