"""Labels by which addons are found."""

from __future__ import annotations

from butler.api.addon import AddonDefinition, ManagementAddon, TenantAddon
from butler.api.model import GROUP

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
