"""Which tenants of the embedded server have workloads, and when something happens to those."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from butler.apiserver.auth.pki import ROOT
from butler.apiserver.server import Server
from butler.apiserver.storage.store import Event

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

FURNITURE = frozenset({"default/kubernetes", "kube-system/coredns", "kube-system/kube-dns", "kube-system/kube-proxy"})
"""What every tenant has: it wakes nobody until somebody looks at the tenant or puts something else there."""


class ServerActivity:
    """The `Activity` of the spaces of a server: what is written there, and who looks at it from outside."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Call `heard` with the name of a tenant whenever its controllers may have something to do."""

        def see(event: Event) -> None:
            tenant = self._tenant_of(event)
            if tenant:
                heard(tenant)

        def look(name: str) -> None:
            if name != ROOT and self._has_any(name):
                heard(name)

        stop = self._server.store.listen(see)
        self._server.looked_at = look

        def end() -> None:
            stop()
            self._server.looked_at = _nobody

        return end

    def tenants(self) -> Iterable[str]:
        """Those that have more than their furniture."""
        return [name for name in self._server.store.spaces() if name != ROOT and self._is_lived_in(name)]

    def _tenant_of(self, event: Event) -> str:
        """Whose controllers a change concerns; empty when nobody's."""
        name, resource = self._server.store.names_of(event.bucket)
        if name == ROOT:
            return ""
        if resource in WORKLOADS:
            return "" if event.key in FURNITURE else name
        # Where there are no pods, nodes come and go unnoticed.
        return name if resource == _NODES and self._server.store.newest_in(name, _PODS) else ""

    def _has_any(self, name: str) -> bool:
        return any(self._keys(name, resource) for resource in WORKLOADS if resource != "/services")

    def _is_lived_in(self, name: str) -> bool:
        return any(not FURNITURE.issuperset(self._keys(name, resource)) for resource in WORKLOADS)

    def _keys(self, name: str, resource: str) -> list[str]:
        store = self._server.store
        return store.keys(store.bucket(name, resource)) if store.newest_in(name, resource) else []


def _nobody(_: str) -> None:
    """Who is told of a look when nobody asked to be."""
