"""The guide and the example say what is so. That its role is enough, every other test here shows."""

from __future__ import annotations

from typing import Any

import msgspec

from butler.api.machine import MachineRequest
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.providers.harvester.section import settings
from tests.docs.pages import GUIDES, example, objects, written
from tests.providers.harvester.test_section import kubeconfig

GUIDE = GUIDES / "harvester.md"
CREDENTIALS = {"kubeconfig": kubeconfig()}


def of_kind(kind: str) -> list[Any]:
    """The objects of a kind in the guide."""
    return [one for one in objects(*written(GUIDE, "yaml")) if one["kind"] == kind]


def test_both_spellings_in_the_guide_mean_the_same() -> None:
    one, other = [normalise(msgspec.convert(found, ProviderConfig)) for found in of_kind("ProviderConfig")]
    assert settings(one, CREDENTIALS) == settings(other, CREDENTIALS)
    assert one.spec.credentials_ref == other.spec.credentials_ref


def test_the_role_in_the_guide_has_no_wildcards() -> None:
    for role in (*of_kind("Role"), *of_kind("ClusterRole")):
        assert "*" not in str(role["rules"])


def test_the_example_is_good() -> None:
    secret, config, request = example("harvester")
    provider = normalise(msgspec.convert(config, ProviderConfig))
    assert str(settings(provider, CREDENTIALS).image) == "default/talos-1.9"
    assert provider.spec.credentials_ref is not None
    assert provider.spec.credentials_ref.name == secret["metadata"]["name"]
    wanted = normalise(msgspec.convert(request, MachineRequest))
    assert wanted.spec.provider_ref.name == provider.metadata.name
