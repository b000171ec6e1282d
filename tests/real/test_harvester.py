"""Harvester keeps the provider contract on a real API server too, with KubeVirt's own definition of a machine."""

from __future__ import annotations

import itertools
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from butler.providers.testing import Harness
from butler.providers.testing.rules.account import TellingRules
from butler.providers.testing.rules.choices import ChoosingRules
from butler.providers.testing.rules.creation import CreatingRules
from butler.providers.testing.rules.deletion import DeletingRules
from butler.providers.testing.rules.errors import FailingRules
from butler.providers.testing.rules.facts import FactRules
from butler.providers.testing.rules.identity import IdentityRules
from butler.providers.testing.rules.images import ImagingRules
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from testbed.running.certificates import Authority
from testbed.running.servers import Cluster
from tests.providers.harvester.fake import Upstream, harvester
from tests.providers.harvester.harness import HarvesterHarness
from tests.real import managers

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


class TestHarvester(
    IdentityRules, CreatingRules, FactRules, DeletingRules, FailingRules, TellingRules, ChoosingRules, ImagingRules
):
    """All rules but those that let every single call fail: they do not depend on the server, and take minutes here."""

    @pytest.fixture
    async def harness(self, real_server: Cluster, authority: Authority, tmp_path: Path) -> AsyncIterator[Harness]:
        config = kubeconfig.load(real_server.kubeconfig)
        async with HttpClient(config) as client:
            tls, machine = _tls(authority, tmp_path), _machine()
            upstream = Upstream(config, client, authority.pair.certificate, tls, machine, takes_a_moment=True)
            async with harvester(upstream, f"harvester-{next(_numbers)}") as fake:
                yield HarvesterHarness(fake)


def _machine() -> dict[str, Any]:
    """The spec of a VirtualMachine. KubeVirt's provider of Cluster API has it in the definition of its templates."""
    definitions = managers.manifests("kubevirt", "crds")
    (found,) = [one for one in definitions if one["spec"]["names"]["kind"] == "KubevirtMachineTemplate"]
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for name in ("spec", "template", "spec", "virtualMachineTemplate", "spec"):
        schema = schema["properties"][name]
    return dict(schema)


def _tls(authority: Authority, folder: Path) -> ssl.SSLContext:
    authority.issue("harvester").write(folder, "harvester")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "harvester.crt", folder / "harvester.key")
    return context
