"""Which program is behind a Service: what the network of a cluster would decide, done by looking."""

from __future__ import annotations

from collections.abc import Iterator

from kubekit.model.resource import Object

from .host import Host

_OF_SERVICE = "kubernetes.io/service-name"


class NoBackend(Exception):
    """Nobody is behind a service."""


def url_behind(host: Host, reference: Object) -> str:
    """The URL of a program behind the service of a `clientConfig`. Raises NoBackend."""
    name, namespace = reference["name"], reference["namespace"]
    service = _find(host, "", "services", namespace, name)
    if service is None:
        raise NoBackend(f'service "{name}" not found')
    port, path = int(reference.get("port", 443)), reference.get("path", "")
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return f"https://{spec['externalName']}:{port}{path}"
    wanted: Object = next((one for one in spec.get("ports") or () if one["port"] == port), {})
    for subset in _subsets(host, namespace, name):
        for backend in subset.get("ports") or ():
            if subset.get("addresses") and (backend.get("name") or "") == wanted.get("name", ""):
                return f"https://{_host(subset['addresses'][0]['ip'])}:{backend['port']}{path}"
    raise NoBackend(f'no endpoints available for service "{name}"')


def _subsets(host: Host, namespace: str, name: str) -> Iterator[Object]:
    """Those of its Endpoints, and of its EndpointSlices in the same form: either may have been written by hand."""
    yield from (_find(host, "", "endpoints", namespace, name) or {}).get("subsets") or ()
    slices = host.kinds.at("discovery.k8s.io", "v1", "endpointslices")
    assert slices is not None
    for row in host.store.page(host.bucket(slices), f"{namespace}/", count=False).rows:
        found = row.decode()
        if (found["metadata"].get("labels") or {}).get(_OF_SERVICE) == name and found["addressType"] != "FQDN":
            ready = [one for one in found.get("endpoints") or () if (one.get("conditions") or {}).get("ready", True)]
            yield {"addresses": [{"ip": one["addresses"][0]} for one in ready], "ports": found.get("ports")}


def _find(host: Host, group: str, plural: str, namespace: str, name: str) -> Object | None:
    kind = host.kinds.at(group, "v1", plural)
    assert kind is not None
    return host.find(kind, namespace, name)


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address
