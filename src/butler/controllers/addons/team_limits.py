"""Which addons a team may have."""

from __future__ import annotations

from butler.addons.errors import AddonRefused
from butler.api.addon import TenantAddon
from butler.api.team import Team


class AddonNotAllowed(AddonRefused):
    """The team may not have it."""

    reason = "AddonNotAllowed"


def check(obj: TenantAddon, team: Team | None) -> None:
    """Raises AddonNotAllowed. What is installed already may stay."""
    limits = team.spec.resource_limits if team is not None else None
    if limits is None or obj.status.installed_version is not None:
        return
    chart = obj.spec.helm.chart if obj.spec.helm is not None else ""
    name = obj.spec.addon or chart
    if name in limits.denied_addons:
        raise AddonNotAllowed(obj.metadata.name, f"the team may not have {name}")
    if limits.allowed_addons and (chart or name not in limits.allowed_addons):
        allowed = ", ".join(limits.allowed_addons)
        raise AddonNotAllowed(obj.metadata.name, f"the team may have none but these of the catalogue: {allowed}")
