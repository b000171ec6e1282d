"""The fake of every infrastructure, each with an account on it; none is imported before it is needed."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from butler.api.provider import ProviderConfig
from butler.providers.testing import Harness
from butler.providers.testing.web import serving
from kubekit.clock import SystemClock
from kubekit.server.serve.server import Server


@dataclass(frozen=True)
class Fake:
    """An infrastructure that answers, what a ProviderConfig says about it, and what is in the Secret."""

    harness: Harness
    config: ProviderConfig
    credentials: Mapping[str, str]


@asynccontextmanager
async def _harvester() -> AsyncIterator[Fake]:
    from tests.providers.harvester import harness as harvester

    with tempfile.TemporaryDirectory(prefix="butler-fake-") as folder:
        keys = Path(folder) / "keys"
        async with Server(keys):
            """It makes them."""
        async with harvester.embedded(keys / "pki", Path(folder) / "fake") as made:
            yield Fake(made, harvester.config(made.fake.namespace), {"kubeconfig": made.fake.kubeconfig()})


@asynccontextmanager
async def _nutanix(offers_v4: bool) -> AsyncIterator[Fake]:
    from tests.providers.nutanix import harness as nutanix
    from tests.providers.nutanix.fake import Prism
    from tests.providers.nutanix.fake_web import app as prism_app

    prism = Prism(offers_v4=offers_v4)
    async with serving(prism_app(prism)) as url:
        yield Fake(nutanix.NutanixHarness(prism, url), nutanix.config(url), nutanix.CREDENTIALS)


@asynccontextmanager
async def _proxmox() -> AsyncIterator[Fake]:
    from tests.providers.proxmox import harness as proxmox

    pve = proxmox.cluster()
    async with serving(pve.app()) as url:
        yield Fake(proxmox.ProxmoxHarness(pve, url), proxmox.config(url), proxmox.TOKEN)


@asynccontextmanager
async def _aws() -> AsyncIterator[Fake]:
    from tests.providers.aws import configs
    from tests.providers.aws.harness import aws_account

    async with aws_account() as made:
        yield Fake(made, configs.config(made.url), configs.CREDENTIALS)


@asynccontextmanager
async def _azure() -> AsyncIterator[Fake]:
    from tests.providers.azure import harness as azure

    async with azure.running() as made:
        yield Fake(made, azure.config(made.url), azure.CREDENTIALS)


@asynccontextmanager
async def _gcp() -> AsyncIterator[Fake]:
    from tests.providers.gcp import harness as gcp
    from tests.providers.gcp.fake import Google
    from tests.providers.gcp.fake_issuer import key_file

    google = Google()
    # Tokens are dated, and whoever asks may be a process with a clock of its own.
    google.clock.pass_by((SystemClock().now() - google.clock.now()).total_seconds())
    async with serving(google.app()) as url:
        yield Fake(gcp.GcpHarness(google, url), gcp.config(url), {"serviceAccountKey": key_file(url)})


FAKES: dict[str, Callable[[], AbstractAsyncContextManager[Fake]]] = {
    "harvester": _harvester,
    "nutanix-v3": lambda: _nutanix(False),
    "nutanix-v4": lambda: _nutanix(True),
    "proxmox": _proxmox,
    "aws": _aws,
    "azure": _azure,
    "gcp": _gcp,
}
