"""Mirrors of charts as the platform's people name them, and as Helm's engine wants them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig, Charts
from butler.api.shared import SYSTEM_NAMESPACE
from butler.engines.helm.charts import NO_CREDENTIALS, Mirror, Mirrors, nearest
from kubekit.client.protocol import Client
from kubekit.errors import NotFound

from .credentials import ReadSecret, credentials

ReadCharts = Callable[[], Awaitable[Charts]]
"""What ButlerConfig says of charts now."""


def charts_of(client: Client) -> ReadCharts:
    """That of the platform's own API."""

    async def read() -> Charts:
        try:
            return (await client.get(ButlerConfig, BUTLER_CONFIG_NAME)).spec.charts
        except NotFound:
            return Charts()

    return read


async def mirror_of(repository: str, charts: Charts, read_secret: ReadSecret) -> Mirror | None:
    """The one that stands for a repository; what opens the others is nobody's concern. Raises CredentialsMissing."""
    found = nearest(charts.mirrors, repository)
    if found is None:
        return None
    opening = NO_CREDENTIALS
    if found.credentials_ref:
        ref = found.credentials_ref.namespace or SYSTEM_NAMESPACE, found.credentials_ref.name
        opening = await credentials(read_secret, f"the mirror of {found.prefix}", ref)
    return Mirror(found.prefix, found.replacement, opening, found.plain_http)


def configured(read_charts: ReadCharts, read_secret: ReadSecret) -> Mirrors:
    """Those of ButlerConfig at the moment in which a chart is needed."""

    async def now(repository: str) -> Mirror | None:
        return await mirror_of(repository, await read_charts(), read_secret)

    return now
