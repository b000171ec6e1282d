"""What cannot be meant by an AddonProfile is refused by the API, before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from butler.api import KINDS
from butler.api.addon_profile import AddonProfile
from kubekit.errors import Invalid
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace

ADDON: dict[str, Any] = {"name": "certificates", "addon": "cert-manager"}
CHART = {"repository": "https://charts.example.com", "chart": "agent"}


def spec(**changes: Any) -> dict[str, Any]:
    return {"clusterSelector": {}, "addons": [ADDON], **changes}


async def refusal(loop: Loop, spec: dict[str, Any] | None, name: str = "base") -> str:
    """Why it is refused; empty if it is taken."""
    kinds = tuple(kind for kind in KINDS if kind is AddonProfile)
    client = MemorySpace(loop.clock, loop.chance, kinds=kinds).client()
    body = {"metadata": {"name": name}, **({"spec": spec} if spec is not None else {})}
    try:
        await client.create(body, AddonProfile.address)
    except Invalid as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"addons": [{"name": "agent", "helm": CHART, "version": "1.0.0"}]},
        {"addons": [{**ADDON, "dependsOn": ["agent"]}, {"name": "agent", "addon": "agent"}]},
        *({"rollout": {"waveSize": size}} for size in (1, 100, "1%", "25%", "100%")),
        {"clusterSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
        {"clusterSelector": {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}},
        {"addons": [{"name": "a" * 53, "addon": "a" * 63}]},
    ],
)
async def test_what_can_be_meant_is_taken(kubekit_loop: Loop, changes: dict[str, Any]) -> None:
    assert await refusal(kubekit_loop, spec(**changes)) == ""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"addons": [{"name": "a"}]}, "exactly one of addon and helm must be set"),
        ({"addons": [{**ADDON, "helm": CHART, "version": "1"}]}, "exactly one of addon and helm must be set"),
        ({"addons": [{"name": "agent", "helm": CHART}]}, "spec.addons[0].version: Required value"),
        ({"addons": []}, "spec.addons"),
        ({"addons": [ADDON, ADDON]}, "Duplicate value"),
        ({"addons": [{**ADDON, "dependsOn": ["nobody"]}]}, "dependsOn must name addons of the profile"),
        ({"addons": [{**ADDON, "dependsOn": ["certificates"]}]}, "an addon cannot depend on itself"),
        ({"addons": [{"name": "a" * 54, "addon": "a"}]}, "spec.addons[0].name"),
        ({"addons": [{"name": "A", "addon": "a"}]}, "spec.addons[0].name"),
        ({"addons": [{"name": "a", "addon": "a" * 64}]}, "spec.addons[0].addon"),
        *(({"rollout": {"waveSize": size}}, "waveSize") for size in (0, -1, "0%", "101%", "5", "many", "25 %")),
        ({"rollout": {"maxFailures": -1}}, "maxFailures"),
        ({"clusterSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, "values are needed for In"),
        (
            {"clusterSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
            "values are needed for In",
        ),
        ({"rollout": {"order": [{"matchExpressions": [{"key": "a", "operator": "In"}]}]}}, "values are needed for In"),
        ({"clusterSelector": None}, "clusterSelector"),
    ],
)
async def test_what_cannot_be_meant_is_refused(kubekit_loop: Loop, changes: dict[str, Any], message: str) -> None:
    assert message in await refusal(kubekit_loop, spec(**changes))


async def test_a_profile_needs_a_spec_and_a_name_that_is_a_label(kubekit_loop: Loop) -> None:
    assert "spec: Required value" in await refusal(kubekit_loop, None)
    assert await refusal(kubekit_loop, spec(), "a" * 63) == ""
    assert "no longer than 63 letters" in await refusal(kubekit_loop, spec(), "a" * 64)
