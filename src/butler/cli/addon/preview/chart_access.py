"""Where a chart is fetched from, and what opens that place, with the rights of whoever asks."""

from __future__ import annotations

from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig, ChartMirror
from butler.api.shared import SYSTEM_NAMESPACE
from butler.engines.core import Secret
from butler.engines.helm.charts import NO_CREDENTIALS, Chart, Credentials, Mirror, mirrored
from kubekit.client.protocol import Client
from kubekit.errors import Forbidden, NotFound

from ...lazy import DENIED, MISSING, Failure


async def reached(client: Client, chart: Chart, secret: tuple[str, str] | None) -> tuple[Chart, Credentials]:
    """The chart as a mirror has it, or as it is; `secret` is where its own credentials are. Raises Failure."""
    try:
        config: ButlerConfig | None = await client.get(ButlerConfig, BUTLER_CONFIG_NAME)
    except (Forbidden, NotFound):
        config = None
    wanted = config.spec.charts.mirrors if config is not None else ()
    place, _ = mirrored(
        chart, NO_CREDENTIALS, [Mirror(one.prefix, one.replacement, plain_http=one.plain_http) for one in wanted]
    )
    mirror = _used(chart, wanted)
    if mirror is not None:
        ref = mirror.credentials_ref
        secret = (ref.namespace or SYSTEM_NAMESPACE, ref.name) if ref else None
    return place, await _credentials(client, chart, secret) if secret else NO_CREDENTIALS


def _used(chart: Chart, mirrors: tuple[ChartMirror, ...]) -> ChartMirror | None:
    found = [one for one in mirrors if Mirror(one.prefix, one.replacement).covers(chart.repository)]
    return max(found, key=lambda one: len(one.prefix.rstrip("/")), default=None)


async def _credentials(client: Client, chart: Chart, place: tuple[str, str]) -> Credentials:
    namespace, name = place
    what = f"chart {chart.name}: Secret {namespace}/{name}, which opens its repository,"
    try:
        data = (await client.get(Secret, name, namespace)).data
    except NotFound as error:
        raise Failure(f"{what} is not there", MISSING) from error
    except Forbidden as error:
        raise Failure(f"{what} is not for you to read, so that nobody can render it here", DENIED) from error
    username, password = (data.get(key, b"").decode(errors="replace") for key in ("username", "password"))
    return Credentials(username, password, data.get("ca.crt", b""))
