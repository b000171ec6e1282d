"""Addons of simulated clusters: small charts in their place, or no more than a note in the cluster."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from butler.addons.model import Addon, AddonState, Installer, Seen
from butler.api.model import GROUP
from butler.engines.helm.charts import Chart
from butler.engines.helm.protocol import Cluster, Place
from kubekit.errors import AlreadyExists, NotFound
from kubekit.model.resource import Address
from kubekit.runtime.reconciler import Permission

CONFIG_MAP = Address("", "v1", "ConfigMap", "configmaps", True)
MANAGER = "butler-simulation"
NAME, NAMESPACE = "butler-addons", "kube-system"
"""Where it stands, in the cluster's API: each addon with its version."""
RECORDING_NEEDS = (Permission(CONFIG_MAP, ("create",)), Permission(CONFIG_MAP, ("patch",), names=(NAME,)))

STANDS_IN = "a small chart in its place, since the cluster is simulated"

CHARTS = Path(__file__).parent / "charts"
_ANY = "stand-in"
"""The chart for whatever has none of its own."""


@dataclass(frozen=True, slots=True)
class RecordingInstaller:
    """`butler.addons.model.Installer` for clusters in which nothing is to run: it writes down what there would be."""

    where: str = "the cluster"

    async def install(self, cluster: Cluster, addons: Sequence[Addon]) -> tuple[Seen, ...]:
        client = cluster.client
        versions = {addon.place.name: addon.version for addon in addons}
        metadata = {"name": NAME, "namespace": NAMESPACE, "labels": {f"{GROUP}/simulated": "true"}}
        record = {"apiVersion": "v1", "kind": CONFIG_MAP.kind, "metadata": metadata, "data": versions}
        try:
            await client.create(record, CONFIG_MAP, manager=MANAGER)
        except AlreadyExists:
            # Only what is missing is asked for, so what stands there already stays.
            await client.patch(CONFIG_MAP, NAME, {"data": versions}, NAMESPACE, manager=MANAGER)
        return self._recorded(addons)

    async def look(self, cluster: Cluster, addons: Sequence[Addon], *, repair: bool) -> tuple[Seen, ...]:
        """A note does not change, so nobody is asked."""
        return self._recorded(addons)

    async def remove(self, cluster: Cluster, place: Place, *, name: str = "", holds_volumes: bool = False) -> None:
        change = {"data": {place.name: None}}
        try:
            await cluster.client.patch(CONFIG_MAP, NAME, change, NAMESPACE, manager=MANAGER)
        except NotFound:
            return

    def _recorded(self, addons: Sequence[Addon]) -> tuple[Seen, ...]:
        message = f"only recorded, since {self.where} is simulated"
        return tuple(Seen(one.name, one.version, AddonState.HEALTHY, message, lasting=True) for one in addons)


@dataclass(frozen=True, slots=True)
class StandInInstaller:
    """Real Helm, with a small chart for each of the catalogue's: their images could not run here."""

    inner: Installer
    repositories: Collection[str]
    """Of the catalogue; charts from elsewhere are taken as they are."""

    async def install(self, cluster: Cluster, addons: Sequence[Addon]) -> tuple[Seen, ...]:
        return self._told(addons, await self.inner.install(cluster, self._small(addons)))

    async def look(self, cluster: Cluster, addons: Sequence[Addon], *, repair: bool) -> tuple[Seen, ...]:
        return self._told(addons, await self.inner.look(cluster, self._small(addons), repair=repair))

    async def remove(self, cluster: Cluster, place: Place, *, name: str = "", holds_volumes: bool = False) -> None:
        await self.inner.remove(cluster, place, name=name, holds_volumes=holds_volumes)

    def _small(self, addons: Sequence[Addon]) -> list[Addon]:
        return [replace(one, release=replace(one.release, chart=self._chart(one))) for one in addons]

    def _chart(self, addon: Addon) -> Chart:
        chart = addon.release.chart
        if not self._is_replaced(addon):
            return chart
        name = chart.name if (CHARTS / chart.name).is_dir() else _ANY
        return Chart(CHARTS.as_uri(), name, chart.version)

    def _is_replaced(self, addon: Addon) -> bool:
        return addon.release.chart.repository in self.repositories

    def _told(self, addons: Sequence[Addon], seen: Sequence[Seen]) -> tuple[Seen, ...]:
        """In the version that was asked for, with the reason why nothing of that version is there."""
        replaced = {one.name: one for one in addons if self._is_replaced(one)}
        return tuple(_remarked(one, replaced[one.name]) if one.name in replaced else one for one in seen)


def _remarked(seen: Seen, addon: Addon) -> Seen:
    if seen.state is AddonState.FAILED or seen.keeper != "butler":
        return seen
    message = f"{seen.message}; {STANDS_IN}" if seen.message else STANDS_IN
    return replace(seen, version=addon.version, message=message)
