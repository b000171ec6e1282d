"""Which tenants of the embedded server have workloads, and when something happens to those."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kubekit.server.access.pki import ROOT
from kubekit.server.serve.server import Server
from kubekit.server.store.events import Event
from kubekit.server.store.store import Store

WORKLOADS = frozenset(
    {
        "/persistentvolumeclaims",
        "/persistentvolumes",
        "/pods",
        "/services",
        "apps/daemonsets",
        "apps/deployments",
        "apps/replicasets",
        "apps/statefulsets",
        "batch/cronjobs",
        "batch/jobs",
        "policy/poddisruptionbudgets",
    }
)
"""Resources whose objects want to live."""
_NODES, _PODS = "/nodes", "/pods"

API_SERVICE = "default/kubernetes"
"""The Service that leads to the API itself; it needs no pods."""
FURNITURE = frozenset({API_SERVICE, "kube-system/coredns", "kube-system/kube-dns", "kube-system/kube-proxy"})
"""What every tenant has: it wakes nobody until somebody looks at the tenant or puts something else there."""


def on_server(server: Server) -> StoreActivity:
    """The activity of a server's tenants, where requests from outside count as looks."""
    activity = StoreActivity(server.store)
    server.looked_at = activity.look
    return activity


class StoreActivity:
    """The `Activity` of the spaces in a store: what is written there, and who looks at it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._heard: Callable[[str], None] = _nobody

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Call `heard` with the name of a tenant whenever its controllers may have something to do."""
        self._heard = heard
        stop = self._store.listen(self._see)

        def end() -> None:
            stop()
            self._heard = _nobody

        return end

    def look(self, name: str) -> None:
        """Somebody looks at a tenant, and is to find everything alive that is there."""
        if name != ROOT and any(self._keys(name, resource) - {API_SERVICE} for resource in WORKLOADS):
            self._heard(name)

    def tenants(self) -> Iterable[str]:
        """Those that have more than their furniture."""
        return [name for name in self._store.spaces() if name != ROOT and self._is_lived_in(name)]

    def _see(self, event: Event) -> None:
        name, resource = self._store.names_of(event.bucket)
        if name == ROOT:
            return
        is_workload = resource in WORKLOADS and event.key not in FURNITURE
        # Where there are no pods, nodes come and go unnoticed.
        if is_workload or (resource == _NODES and self._store.newest_in(name, _PODS)):
            self._heard(name)

    def _is_lived_in(self, name: str) -> bool:
        return any(self._keys(name, resource) - FURNITURE for resource in WORKLOADS)

    def _keys(self, name: str, resource: str) -> set[str]:
        store = self._store
        return set(store.keys(store.bucket(name, resource))) if store.newest_in(name, resource) else set()


def _nobody(_: str) -> None:
    """Who is told when nobody listens."""
