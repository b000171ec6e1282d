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


def for_simulation(helm: Installer | None) -> Installer:
    """For clusters that are simulated: small charts by real Helm, or without it a note of what there would be."""
    if helm is None:
        return RecordingInstaller()
    return StandInInstaller(helm, {one.spec.chart.repository for one in builtin.definitions()})
