"""Where a chart is fetched from, and what opens that place, with the rights of whoever asks."""

from __future__ import annotations

from butler.addons.credentials import credentials, secrets_of
from butler.addons.errors import CredentialsMissing
from butler.addons.mirrors import charts_of, mirror_of
from butler.api.config import Charts
from butler.engines.helm.charts import NO_CREDENTIALS, Chart, Credentials, mirrored
from kubekit.client.protocol import Client
from kubekit.errors import Forbidden

from ...lazy import DENIED, MISSING, Failure


async def reached(client: Client, chart: Chart, secret: tuple[str, str] | None) -> tuple[Chart, Credentials]:
    """The chart as a mirror has it, or as it is; `secret` is where its own credentials are. Raises Failure."""
    subject, opening = f"chart {chart.name}", NO_CREDENTIALS
    read = secrets_of(client)
    try:
        mirror = await mirror_of(chart.repository, await _charts(client), read)
        if mirror is None and secret is not None:
            opening = await credentials(read, subject, secret)
    except CredentialsMissing as error:
        raise Failure(str(error), MISSING) from error
    except Forbidden as error:
        message = f"{subject}: what opens its repository is not for you to read, so that nobody can render it here"
        raise Failure(f"{message}: {error}", DENIED) from error
    return mirrored(chart, opening, mirror)


async def _charts(client: Client) -> Charts:
    """What nobody may read stands for nothing."""
    try:
        return await charts_of(client)()
    except Forbidden:
        return Charts()
