"""Who brings addons into the clusters of a platform."""

from __future__ import annotations

from butler.addons import builtin
from butler.addons import installer as helm
from butler.addons.credentials import secrets_of
from butler.addons.mirrors import charts_of
from butler.addons.model import Installer
from butler.simulation.installer import RecordingInstaller, StandInInstaller
from kubekit.client.protocol import Client
from kubekit.clock import Clock, SystemClock
from kubekit.server.store import private_files

from .home import Home


def by_helm(place: Home, client: Client, clock: Clock | None) -> Installer | None:
    """Real Helm; None where it cannot be had. `client` is of the platform's own API."""
    private_files.make_private(place.helm)
    return helm.build(place.helm, clock or SystemClock(), secrets_of(client), charts_of(client))


def for_simulation(place: Home, client: Client, clock: Clock | None, *, record: bool) -> Installer:
    """Small charts by real Helm; where there is none, or nobody wants it, what there would be is written down."""
    installer = None if record else by_helm(place, client, clock)
    if installer is None:
        return RecordingInstaller()
    return StandInInstaller(installer, {one.spec.chart.repository for one in builtin.definitions()})
