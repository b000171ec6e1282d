"""Mirrors of charts as the platform's people name them, and as Helm's engine wants them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig, Charts
from butler.api.shared import SYSTEM_NAMESPACE
from butler.engines.helm.charts import NO_CREDENTIALS, Mirror, Mirrors
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


async def mirrors(charts: Charts, read_secret: ReadSecret) -> tuple[Mirror, ...]:
    """Raises CredentialsMissing."""
    found = []
    for one in charts.mirrors:
        opening = NO_CREDENTIALS
        if one.credentials_ref:
            ref = one.credentials_ref.namespace or SYSTEM_NAMESPACE, one.credentials_ref.name
            opening = await credentials(read_secret, f"the mirror of {one.prefix}", ref)
        found.append(Mirror(one.prefix, one.replacement, opening, one.plain_http))
    return tuple(found)


def configured(read_charts: ReadCharts, read_secret: ReadSecret) -> Mirrors:
    """Those of ButlerConfig at the moment in which a chart is needed."""

    async def now() -> tuple[Mirror, ...]:
        return await mirrors(await read_charts(), read_secret)

    return now
