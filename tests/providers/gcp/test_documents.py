"""The guide and the example say what is so."""

from __future__ import annotations

from typing import Any

import msgspec

from butler.api.machine import MachineRequest
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.providers.gcp.checks import PERMISSIONS
from butler.providers.gcp.section import settings_of
from tests.docs.pages import GUIDES, example, objects, written
from tests.providers.gcp.fake_issuer import key_file

GUIDE = GUIDES / "gcp.md"
KEY = {"serviceAccountKey": key_file("https://oauth2.googleapis.com")}


def of_kind(kind: str) -> list[Any]:
    """The objects of a kind in the guide."""
    return [one for one in objects(*written(GUIDE, "yaml")) if one.get("kind", "Role") == kind]


def test_the_role_in_the_guide_is_what_the_check_looks_for() -> None:
    (role,) = of_kind("Role")
    assert tuple(role["includedPermissions"]) == PERMISSIONS


def test_both_spellings_in_the_guide_are_good() -> None:
    configs = [normalise(msgspec.convert(one, ProviderConfig)) for one in of_kind("ProviderConfig")]
    found = [settings_of(one, KEY) for one in configs]
    assert [(one.project, one.region, one.zone) for one in found] == [
        ("my-project", "europe-west3", ""),
        ("my-project", "europe-west3", "europe-west3-b"),
    ]
    assert found[1].subnetwork == "projects/host/regions/europe-west3/subnetworks/nodes"


def test_the_example_is_good() -> None:
    secret, config, request = example("gcp")
    provider = normalise(msgspec.convert(config, ProviderConfig))
    assert settings_of(provider, KEY).image == "projects/my-project/global/images/family/talos"
    assert provider.spec.credentials_ref is not None
    assert provider.spec.credentials_ref.name == secret["metadata"]["name"]
    wanted = normalise(msgspec.convert(request, MachineRequest))
    assert wanted.spec.provider_ref.name == provider.metadata.name
