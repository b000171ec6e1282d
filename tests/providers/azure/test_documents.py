"""The guide and the example say what is so."""

from __future__ import annotations

import json

import msgspec

from butler.api.machine import MachineRequest
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.providers.azure.checks import NEEDED
from butler.providers.azure.section import settings
from tests.docs.pages import GUIDES, example, objects, written
from tests.providers.azure.harness import CREDENTIALS

GUIDE = GUIDES / "azure.md"


def test_the_role_in_the_guide_has_what_the_check_looks_for() -> None:
    (role,) = [json.loads(block) for block in written(GUIDE, "json")]
    assert set(NEEDED) <= set(role["Actions"])
    assert len(set(role["Actions"])) == len(role["Actions"])


def test_both_spellings_in_the_guide_are_good() -> None:
    found = [one for one in objects(*written(GUIDE, "yaml")) if one["kind"] == "ProviderConfig"]
    given = [settings(normalise(msgspec.convert(one, ProviderConfig)), CREDENTIALS) for one in found]
    assert [(one.location, one.vm_size) for one in given] == [("westeurope", ""), ("westeurope", "Standard_D4s_v5")]
    assert given[1].vnet.endswith("/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/shared")


def test_the_example_is_good() -> None:
    secret, config, request = example("azure")
    provider = normalise(msgspec.convert(config, ProviderConfig))
    assert settings(provider, secret["stringData"]).image.endswith("/images/talos")
    assert provider.spec.credentials_ref is not None
    assert provider.spec.credentials_ref.name == secret["metadata"]["name"]
    wanted = normalise(msgspec.convert(request, MachineRequest))
    assert wanted.spec.provider_ref.name == provider.metadata.name
