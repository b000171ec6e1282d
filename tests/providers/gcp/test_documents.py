"""The guide and the example say what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from butler.api.machine import MachineRequest
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.providers.gcp.checks import PERMISSIONS
from butler.providers.gcp.section import settings_of
from tests.providers.gcp.fake_issuer import key_file

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "howto" / "providers" / "gcp.md").read_text()
KEY = {"serviceAccountKey": key_file("https://oauth2.googleapis.com")}


def documents(text: str) -> list[Any]:
    return [one for one in yaml.safe_load_all(text) if one]


def written(name: str) -> list[Any]:
    """The blocks of YAML in the guide that are of a kind."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    return [one for block in blocks for one in documents(block) if one.get("kind", "Role") == name]


def test_the_role_in_the_guide_is_what_the_check_looks_for() -> None:
    (role,) = written("Role")
    assert tuple(role["includedPermissions"]) == PERMISSIONS


def test_both_spellings_in_the_guide_are_good() -> None:
    configs = [normalise(msgspec.convert(one, ProviderConfig)) for one in written("ProviderConfig")]
    found = [settings_of(one, KEY) for one in configs]
    assert [(one.project, one.region, one.zone) for one in found] == [
        ("my-project", "europe-west3", ""),
        ("my-project", "europe-west3", "europe-west3-b"),
    ]
    assert found[1].subnetwork == "projects/host/regions/europe-west3/subnetworks/nodes"


def test_the_example_is_good() -> None:
    secret, config, request = documents((ROOT / "examples" / "providers" / "gcp.yaml").read_text())
    provider = normalise(msgspec.convert(config, ProviderConfig))
    assert settings_of(provider, KEY).image == "projects/my-project/global/images/family/talos"
    assert provider.spec.credentials_ref is not None
    assert provider.spec.credentials_ref.name == secret["metadata"]["name"]
    wanted = normalise(msgspec.convert(request, MachineRequest))
    assert wanted.spec.provider_ref.name == provider.metadata.name
