"""Which cluster IPs and node ports the Services of one space have."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.kinds.network import addresses
from kubekit.server.objects.damage import passing_over
from kubekit.server.objects.request import Target

SERVICE_NETWORK = "10.96.0.0/12"
_SERVICES = "/services"


class ServiceAddresses:
    """Knows what is taken, and gives new Services what they need."""

    def __init__(
        self, network: str = SERVICE_NETWORK, stored: Callable[[], Iterable[tuple[str, Object]]] = tuple
    ) -> None:
        """`stored` answers the Services there are, by key; it is asked when the first one is written."""
        self.network = network
        self._stored: Callable[[], Iterable[tuple[str, Object]]] | None = stored
        self._ips: dict[str, str] = {}
        self._ports: dict[int, str] = {}

    def assign(self, target: Target, obj: Object, *, is_trial: bool = False) -> list[FieldError]:
        """Fill in a Service's addresses, in place; other objects are left alone."""
        if target.resource.storage_key != _SERVICES or target.subresource:
            return []
        self._load()
        key = target.key
        free = addresses.Addresses(
            self.network,
            {ip for ip, holder in self._ips.items() if holder != key},
            taken_ports={port for port, holder in self._ports.items() if holder != key},
            is_trial=is_trial,
        )
        if ":" in self.network and not obj["spec"].get("clusterIP") and "ipFamilies" in obj["spec"]:
            # Defaults are filled in by who does not know the network.
            obj["spec"]["ipFamilies"] = ["IPv6"]
        return addresses.allocate(obj, free)

    def note(self, key: str, obj: Object | None) -> None:
        """Remember what a Service has from now on; None when it is gone."""
        if self._stored is None:
            self._note(key, obj)

    def _load(self) -> None:
        stored, self._stored = self._stored, None
        for key, obj in stored() if stored is not None else ():
            with passing_over(_SERVICES, key):
                self._note(key, obj)

    def _note(self, key: str, obj: Object | None) -> None:
        self._ips = {ip: holder for ip, holder in self._ips.items() if holder != key}
        self._ports = {port: holder for port, holder in self._ports.items() if holder != key}
        if obj is None:
            return
        spec = obj.get("spec") or {}
        self._ips |= {ip: key for ip in spec.get("clusterIPs") or () if ip != "None"}
        self._ports |= {port["nodePort"]: key for port in spec.get("ports") or () if port.get("nodePort")}
        if spec.get("healthCheckNodePort"):
            self._ports[spec["healthCheckNodePort"]] = key
