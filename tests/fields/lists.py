"""What the tests show of every field, gathered from all proofs."""

from __future__ import annotations

from tests.fields import (
    addon_proofs,
    catalogue_proofs,
    chart_proofs,
    cloud_account_proofs,
    cluster_proofs,
    platform_proofs,
    profile_proofs,
    provider_proofs,
)

PROOFS = {
    **addon_proofs.PROOFS,
    **catalogue_proofs.PROOFS,
    **chart_proofs.PROOFS,
    **cloud_account_proofs.PROOFS,
    **cluster_proofs.PROOFS,
    **platform_proofs.PROOFS,
    **profile_proofs.PROOFS,
    **provider_proofs.PROOFS,
}
REFUSALS = {**cluster_proofs.REFUSALS, **provider_proofs.REFUSALS}
READ_BY_PEOPLE = frozenset(
    {
        "Team.spec.displayName",
        "Team.spec.description",
        "Team.spec.environments[].description",
        *(
            f"AddonDefinition.spec.{name}"
            for name in (
                "displayName", "description", "chart.availableVersions", "icon", "iconData", "links.documentation",
                "links.homepage", "links.source", "maintainer.name", "maintainer.email",
            )
        ),
    }
)  # fmt: skip
"""Texts that act by being read."""
