"""Providers by name, without importing any that nobody asked for. The numbers are those of the contract."""

from __future__ import annotations

import subprocess
import sys

import pytest

from butler.api.model import ObjectMeta
from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.others import ExternalSection
from butler.api.shared import ProviderType
from butler.errors import InvalidConfiguration
from butler.providers import registry
from butler.providers.contract import Surroundings

SDKS = ("aiobotocore", "botocore", "boto3", "azure", "google.auth", "google", "kubernetes")


def config(**spec: object) -> ProviderConfig:
    wanted = ProviderConfigSpec(provider=ProviderType.EXTERNAL, **spec)  # type: ignore[arg-type]
    return ProviderConfig(metadata=ObjectMeta(name="x", namespace="butler-system"), spec=wanted)


@pytest.mark.parametrize("module", ["butler.providers.registry", "butler.cli.adm", "butler.cli.ctl"])
def test_listing_providers_imports_none(module: str) -> None:
    """Rule 24."""
    code = (
        f"import sys, {module}\n"
        "from butler.providers import registry\n"
        "registry.names()\n"
        f"sdks = {SDKS!r}\n"
        "print([name for name in sys.modules if name in sdks or name.startswith('butler.providers.')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.removeprefix("butler.providers.") for name in eval(done.stdout)}
    assert imported == {"contract", "images", "loadbalancer", "registry"}


def test_a_provider_that_is_not_installed_is_named_with_those_that_are() -> None:
    with pytest.raises(InvalidConfiguration, match=r"no provider .tinycloud.; there are: .*simulated"):
        registry.connect(config(external=ExternalSection(name="tinycloud")), {}, Surroundings())


def test_an_external_provider_has_to_be_named() -> None:
    """Rule 22."""
    with pytest.raises(InvalidConfiguration) as raised:
        registry.connect(config(), {}, Surroundings())
    assert raised.value.path == "spec.external"
