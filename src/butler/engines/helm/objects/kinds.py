"""Where a cluster serves the kinds of a manifest."""

from __future__ import annotations

from collections import OrderedDict

from butler.api.model import AGENT
from kubekit.client.http import HttpClient
from kubekit.model.resource import Address

from ..protocol import Cluster

_MOST_CLUSTERS = 1000

_Known = dict[tuple[str, str], Address]


class Kinds:
    """Addresses of kinds, each looked up once per cluster; one that is not found is looked for again."""

    def __init__(self) -> None:
        self._clusters: OrderedDict[str, _Known] = OrderedDict()

    async def addresses(self, cluster: Cluster, wanted: set[tuple[str, str]]) -> _Known:
        """apiVersion and kind → address; kinds that the cluster does not serve are left out."""
        server = cluster.config.cluster.server
        known = self._clusters.setdefault(server, {})
        self._clusters.move_to_end(server)
        if len(self._clusters) > _MOST_CLUSTERS:
            self._clusters.popitem(last=False)
        if wanted - known.keys():
            known.update(await self._discovered(cluster, wanted))
        return {one: known[one] for one in wanted if one in known}

    async def _discovered(self, cluster: Cluster, wanted: set[tuple[str, str]]) -> _Known:
        async with HttpClient(cluster.config, agent=AGENT) as client:
            offered = await client.discover()
        found = (one.address for one in offered)
        return {(one.api_version, one.kind): one for one in found if (one.api_version, one.kind) in wanted}
