"""What a ButlerConfig says of charts: where they are fetched from, with what, and from where tenants may name some."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

from butler.addons.credentials import secrets_of
from butler.addons.errors import CredentialsMissing
from butler.addons.mirrors import charts_of, configured
from butler.api.config import ButlerConfig
from butler.engines.core import Secret
from butler.engines.helm.charts import NO_CREDENTIALS, Chart, mirrored
from kubekit.clock import SystemChance, SystemClock
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace
from tests.controllers.addons_world import World
from tests.fields.addon_proofs import CHART
from tests.fields.cluster_world import put
from tests.fields.proof import Observe, Proof, in_virtual_time

SYSTEM, ELSEWHERE = "butler-system", "elsewhere"
MIRROR = {"prefix": "https://charts.example.com", "replacement": "oci://mirror.example.com"}
OPENED = {**MIRROR, "credentialsRef": {"name": "one"}}


def of_mirror(field: str, mirror: dict[str, Any]) -> Observe:
    """Where a chart is fetched from, and with what."""

    async def observe(value: Any) -> object:
        space = MemorySpace(SystemClock(), SystemChance(), kinds=(ButlerConfig,), namespaces=(SYSTEM, ELSEWHERE))
        client = space.client()
        for namespace, name in ((SYSTEM, "one"), (SYSTEM, "two"), (ELSEWHERE, "one")):
            login = {"username": f"{name} of {namespace}", "password": "opensesame"}
            meta = {"name": name, "namespace": namespace}
            await client.create({"metadata": meta, "stringData": login}, Secret.address)
        spec = {"charts": {"mirrors": [deepcopy(mirror)]}}
        put(spec["charts"]["mirrors"][0], field.split("."), value)
        await client.create({"metadata": {"name": "butler"}, "spec": spec}, ButlerConfig.address)
        chart = Chart("https://charts.example.com/stable", "shop", "1.0.0")
        try:
            found = await configured(charts_of(client), secrets_of(client))(chart.repository)
        except CredentialsMissing as missing:
            return str(missing)
        place, opened = mirrored(chart, NO_CREDENTIALS, found)
        return place, opened.username

    return observe


async def allowed(repositories: list[str]) -> object:
    """What becomes of a chart that a tenant names."""

    async def live(loop: Loop) -> object:
        world = World(loop)
        spec = {"charts": {"allowedRepositories": repositories}}
        await world.client.create({"metadata": {"name": "butler"}, "spec": spec}, ButlerConfig.address)
        world.start()
        await world.cluster()
        await world.ask("", name="it", helm=CHART, version="1.0.0")
        await asyncio.sleep(60)
        seen = await world.reason("it"), world.installer.there()
        await world.crash()
        return seen

    return await in_virtual_time(live)


_CHARTS = "ButlerConfig.spec.charts"
_MIRRORS = (
    ("prefix", MIRROR, "https://charts.example.com", "https://more.example.com"),
    ("replacement", MIRROR, "oci://one.example.com", "oci://two.example.com"),
    ("credentialsRef.name", OPENED, "one", "two"),
    ("credentialsRef.namespace", OPENED, SYSTEM, ELSEWHERE),
    ("plainHttp", MIRROR, False, True),
)
PROOFS: dict[str, Proof] = {
    **{f"{_CHARTS}.mirrors[].{path}": Proof(of_mirror(path, one), a, b) for path, one, a, b in _MIRRORS},
    f"{_CHARTS}.allowedRepositories": Proof(allowed, ["https://charts.example.com"], ["https://more.example.com"]),
}
