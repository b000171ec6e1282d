"""The Service `default/kubernetes` by which everything inside a cluster finds its API."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from kubekit.model.resource import Object

NAMESPACE, NAME = "default", "kubernetes"
KEY = f"{NAMESPACE}/{NAME}"
KINDS = (("", "services"), ("", "endpoints"), ("discovery.k8s.io", "endpointslices"))
RESOURCES = tuple(f"{group}/{plural}" for group, plural in KINDS)


@dataclass(frozen=True, slots=True)
class Location:
    """Where the server listens."""

    address: str
    port: int

    @property
    def family(self) -> str:
        return family_of(self.address)


def family_of(place: str) -> str:
    """Of an address or a network."""
    return "IPv6" if ":" in place else "IPv4"


def first_address(network: str) -> str:
    """The address of the API in a network of Services. Raises ValueError for what is no network, or too small."""
    parsed = ipaddress.ip_network(network)
    if parsed.num_addresses < 4:
        raise ValueError(f"{network}: too small for Services")
    return str(parsed.network_address + 1)


def objects(cluster_ip: str, server: Location) -> tuple[Object, ...]:
    """The Service and who is behind it, in the old form and in the new, as kube-apiserver makes them."""
    return (
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": _metadata({"component": "apiserver", "provider": "kubernetes"}),
            "spec": {
                "clusterIP": cluster_ip,
                "clusterIPs": [cluster_ip],
                "ports": service_ports(server),
                "sessionAffinity": "None",
                "type": "ClusterIP",
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": _metadata({"endpointslice.kubernetes.io/skip-mirror": "true"}),
            "subsets": [{"addresses": [{"ip": server.address}], "ports": _ports(server)}],
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": _metadata({"kubernetes.io/service-name": NAME}),
            "addressType": server.family,
            "endpoints": [{"addresses": [server.address], "conditions": {"ready": True}}],
            "ports": _ports(server),
        },
    )


def service_ports(server: Location) -> list[Object]:
    return [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": server.port}]


def _ports(server: Location) -> list[Object]:
    return [{"name": "https", "port": server.port, "protocol": "TCP"}]


def _metadata(labels: dict[str, str]) -> Object:
    return {"name": NAME, "namespace": NAMESPACE, "labels": labels}


def pointed_at(obj: Object, server: Location) -> Object:
    """One of the three objects as it should be for a server at that place; the same when it already is."""
    _, endpoints, endpoint_slice = objects("", server)
    if "spec" in obj:
        return {**obj, "spec": {**obj["spec"], "ports": service_ports(server)}}
    if "addressType" in obj:
        return {**obj, **{name: endpoint_slice[name] for name in ("addressType", "endpoints", "ports")}}
    return {**obj, "subsets": endpoints["subsets"]}
