"""The guide and the example say what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from butler.api.machine import MachineRequest
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.providers.azure.checks import NEEDED
from butler.providers.azure.section import settings
from tests.providers.azure.harness import CREDENTIALS

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "howto" / "providers" / "azure.md").read_text()


def documents(text: str) -> list[Any]:
    return [one for one in yaml.safe_load_all(text) if one]


def written(language: str) -> list[str]:
    """The blocks of a language in the guide."""
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_role_in_the_guide_has_what_the_check_looks_for() -> None:
    (role,) = [json.loads(block) for block in written("json")]
    assert set(NEEDED) <= set(role["Actions"])
    assert len(set(role["Actions"])) == len(role["Actions"])


def test_both_spellings_in_the_guide_are_good() -> None:
    found = [one for block in written("yaml") for one in documents(block) if one["kind"] == "ProviderConfig"]
    given = [settings(normalise(msgspec.convert(one, ProviderConfig)), CREDENTIALS) for one in found]
    assert [(one.location, one.vm_size) for one in given] == [("westeurope", ""), ("westeurope", "Standard_D4s_v5")]
    assert given[1].vnet.endswith("/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/shared")


def test_the_example_is_good() -> None:
    secret, config, request = documents((ROOT / "examples" / "providers" / "azure.yaml").read_text())
    provider = normalise(msgspec.convert(config, ProviderConfig))
    assert settings(provider, secret["stringData"]).image.endswith("/images/talos")
    assert provider.spec.credentials_ref is not None
    assert provider.spec.credentials_ref.name == secret["metadata"]["name"]
    wanted = normalise(msgspec.convert(request, MachineRequest))
    assert wanted.spec.provider_ref.name == provider.metadata.name
