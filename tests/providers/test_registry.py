"""Providers by name, without importing any that nobody asked for. The numbers are those of the contract."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.others import ExternalSection
from butler.api.shared import ProviderType
from butler.providers import registry
from butler.providers.contract import Surroundings
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import ObjectMeta

SDKS = (
    *("aiobotocore", "botocore", "boto3", "moto", "azure", "msal", "google", "google.auth", "googleapiclient", "grpc"),
    *("proxmoxer", "requests", "kubernetes", "ntnx_vmm_py_client", "ntnx_prism_py_client"),
)


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


@pytest.mark.parametrize(
    "line",
    [
        "adm --help",
        "adm provider --help",
        *(f"adm provider create --type {kind} --help" for kind in ("aws", "azure", "gcp", "external")),
        "adm provider images --help",
        "ctl --help",
        "ctl cluster create --help",
    ],
)
def test_help_imports_no_provider_and_no_sdk(line: str) -> None:
    """Rule 24."""
    program, *words = line.split()
    code = (
        "import sys\n"
        f"from butler.cli.{program} import butler{program} as group\n"
        f"group.main({words!r}, prog_name='butler{program}', standalone_mode=False)\n"
        f"sdks = {SDKS!r}\n"
        "print([name for name in sys.modules if name in sdks or name.startswith('butler.providers.')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_provider_whose_package_is_not_installed_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "butler_lacking"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "provider.py").write_text("import no_such_sdk\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    info = tmp_path / "butler_lacking-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: butler-lacking\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{registry.ENTRY_POINTS}]\nlacking = butler_lacking\n")
    with pytest.raises(InvalidConfiguration, match="needs the Python package no_such_sdk, which is not installed"):
        registry.connect(config(external=ExternalSection(name="lacking")), {}, Surroundings())


def test_a_provider_that_is_not_installed_is_named_with_those_that_are() -> None:
    with pytest.raises(InvalidConfiguration, match=r"no provider .tinycloud.; there are: .*simulated"):
        registry.connect(config(external=ExternalSection(name="tinycloud")), {}, Surroundings())


def test_an_external_provider_has_to_be_named() -> None:
    """Rule 22."""
    with pytest.raises(InvalidConfiguration) as raised:
        registry.connect(config(), {}, Surroundings())
    assert raised.value.path == "spec.external"
