"""Service → the addresses behind it, and one in front of it when it is to be a load balancer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from msgspec import structs

from butler.api.shared import IPRange
from kubekit.errors import AlreadyExists
from kubekit.runtime.objects import key_of, owner_reference
from kubekit.runtime.reconciler import Note, Outcome, Reconciler, Watch, children

from .context import OWNER, PLACE, Context
from .kinds import Pod
from .nodes.scheduler import FINISHED
from .service_kinds import Balancer, Endpoints, EndpointSlice, Ingress, Service, ServiceSpec, ServiceStatus
from .sets.ownership import is_ready

_SLICE_MANAGER = "endpointslice-controller.k8s.io"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_SERVICE = "kubernetes.io/service-name"
_MOST_ADDRESSES = 1000
"""More than these do not fit into one slice, and no simulated cluster has more pods behind one Service."""


class Services(Reconciler[Service]):
    """Keeps Endpoints and an EndpointSlice of the pods a Service selects, and gives load balancers their address."""

    kind = Service
    source = "service-controller"
    tells_conditions = False
    workers = 2

    def __init__(self, site: Context) -> None:
        self._site, self._pods = site, site.pods()
        self._services, self._slices = site.informer(Service), site.informer(EndpointSlice)
        self._endpoints = site.informer(Endpoints)
        self._given: dict[str, str] = {}
        """Addresses by the uid of the Service that got them, until the cache shows it."""
        self.watches = (
            Watch(Pod, self._in_front_of),
            children(EndpointSlice, of=Service),
            Watch(Endpoints, lambda endpoints: [key_of(endpoints)]),
        )

    def _in_front_of(self, pod: Pod) -> Iterable[str]:
        if not pod.spec.node_name:
            return []
        near = self._services.by(PLACE, pod.metadata.namespace)
        return [key_of(service) for service in near if _selects(service, pod)]

    async def reconcile(self, obj: Service) -> Outcome:
        if obj.spec.selector and obj.spec.type != "ExternalName":
            near = [pod for pod in self._pods.by(PLACE, obj.metadata.namespace) if _is_there(pod)]
            pods = sorted((pod for pod in near if _selects(obj, pod)), key=key_of)[:_MOST_ADDRESSES]
            await self._write_slice(obj, pods)
            await self._write_endpoints(obj, pods)
        return self._balanced(obj)

    async def _write_slice(self, service: Service, pods: Sequence[Pod]) -> None:
        by_ports = _grouped(service, pods)
        ports, members = next(iter(by_ports.items()), (_ports(service, None), []))
        endpoints, wire_ports = [_endpoint(service, pod) for pod in members], [dict(port) for port in ports]
        found = self._slices.by(OWNER, service.metadata.uid)
        existing = next((each for each in found if each.metadata.labels.get(_MANAGED_BY) == _SLICE_MANAGER), None)
        if existing is None:
            await self._site.client.create(_slice(service, endpoints, wire_ports), EndpointSlice.address)
            return
        if _is_same(existing.endpoints, endpoints) and _is_same(existing.ports, wire_ports):
            return
        meta = existing.metadata
        change = {
            "metadata": {"resourceVersion": meta.resource_version}, "endpoints": endpoints, "ports": wire_ports
        }  # fmt: skip
        await self._site.client.patch(EndpointSlice, meta.name, change, meta.namespace)

    async def _write_endpoints(self, service: Service, pods: Sequence[Pod]) -> None:
        subsets = [_subset(service, ports, members) for ports, members in _grouped(service, pods).items()]
        existing = self._endpoints.get(service.key)
        meta = service.metadata
        if existing is None:
            named = {"name": meta.name, "namespace": meta.namespace, "labels": dict(meta.labels)}
            try:
                await self._site.client.create({"metadata": named, "subsets": subsets}, Endpoints.address)
            except AlreadyExists:
                return
        elif not _is_same(existing.subsets, subsets):
            change = {"metadata": {"resourceVersion": existing.metadata.resource_version}, "subsets": subsets}
            await self._site.client.patch(Endpoints, meta.name, change, meta.namespace)

    def _balanced(self, service: Service) -> Outcome:
        current = service.status.load_balancer.ingress
        if service.spec.type != "LoadBalancer" or service.spec.load_balancer_class:
            return Outcome(_with_address(service.status, "") if current else None)
        if current:
            return Outcome()
        address = self._free_address(service)
        if not address:
            return Outcome()
        note = Note("IPAllocated", f'Assigned IP ["{address}"]')
        return Outcome(_with_address(service.status, address), notes=(note,))

    def _free_address(self, service: Service) -> str:
        """An address of the ranges that no other Service has, the wished-for one if there is a wish."""
        ranges = self._site.pool()
        if not ranges:
            return ""
        shown = {each.metadata.uid: each.status.load_balancer.ingress for each in self._services}
        self._given = {uid: address for uid, address in self._given.items() if uid in shown and not shown[uid]}
        taken = {ingress.ip for each in shown.values() for ingress in each}
        taken |= {address for uid, address in self._given.items() if uid != service.metadata.uid}
        everything = (str(ip_address(number)) for one in ranges for number in _numbers(one))
        wish = service.spec.load_balancer_ip
        address = next((each for each in everything if each not in taken and wish in ("", each)), "")
        if address:
            self._given[service.metadata.uid] = address
        return address


def _numbers(addresses: IPRange) -> range:
    return range(int(ip_address(addresses.start)), int(ip_address(addresses.end)) + 1)


def _selects(service: Service, pod: Pod) -> bool:
    wanted = service.spec.selector
    return bool(wanted) and wanted.items() <= dict(pod.metadata.labels).items()


def _is_there(pod: Pod) -> bool:
    return bool(pod.status.pod_ip) and pod.status.phase not in FINISHED


def _with_address(status: ServiceStatus, address: str) -> ServiceStatus:
    ingress = (Ingress(ip=address, ip_mode="VIP"),) if address else ()
    return structs.replace(status, load_balancer=Balancer(ingress=ingress))


Ports = tuple[tuple[tuple[str, Any], ...], ...]
"""Ports in a form that can be compared, because pods may know a named port by different numbers."""


def _ports(service: Service, pod: Pod | None) -> Ports:
    return tuple(
        tuple({"name": port.name, "port": number, "protocol": port.protocol or "TCP"}.items())
        for port in service.spec.ports
        if (number := _number(port.target_port or port.port, pod)) is not None
    )


def _number(target: int | str, pod: Pod | None) -> int | None:
    if isinstance(target, int):
        return target
    if pod is None:
        return None
    ports = (port for container in pod.spec.containers for port in container.ports)
    return next((port.container_port for port in ports if port.name == target), None)


def _grouped(service: Service, pods: Sequence[Pod]) -> dict[Ports, list[Pod]]:
    groups: dict[Ports, list[Pod]] = {}
    for pod in pods:
        groups.setdefault(_ports(service, pod), []).append(pod)
    return groups


def _is_serving(spec: ServiceSpec, pod: Pod) -> bool:
    return is_ready(pod) or bool(spec.publish_not_ready_addresses)


def _target(pod: Pod) -> dict[str, str]:
    meta = pod.metadata
    return {"kind": "Pod", "name": meta.name, "namespace": meta.namespace, "uid": meta.uid}


def _endpoint(service: Service, pod: Pod) -> dict[str, Any]:
    serving = _is_serving(service.spec, pod)
    conditions = {"ready": serving and not pod.deleting, "serving": serving, "terminating": pod.deleting}
    endpoint = {
        "addresses": [pod.status.pod_ip],
        "conditions": conditions,
        "nodeName": pod.spec.node_name,
        "targetRef": _target(pod),
    }
    if pod.spec.hostname and pod.spec.subdomain == service.metadata.name:
        endpoint["hostname"] = pod.spec.hostname
    return endpoint


def _slice(service: Service, endpoints: list[Any], ports: list[Any]) -> dict[str, Any]:
    meta = service.metadata
    return {
        "metadata": {
            "generateName": f"{meta.name}-",
            "namespace": meta.namespace,
            "labels": {**meta.labels, _SERVICE: meta.name, _MANAGED_BY: _SLICE_MANAGER},
            "ownerReferences": [owner_reference(service, Service)],
        },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": ports,
    }


def _subset(service: Service, ports: Ports, pods: Sequence[Pod]) -> dict[str, Any]:
    sides: dict[str, list[dict[str, Any]]] = {"addresses": [], "notReadyAddresses": []}
    for pod in pods:
        serving = _is_serving(service.spec, pod) and not pod.deleting
        side = sides["addresses" if serving else "notReadyAddresses"]
        side.append({"ip": pod.status.pod_ip, "nodeName": pod.spec.node_name, "targetRef": _target(pod)})
    named = [{name: value for name, value in port if name != "name" or value} for port in ports]
    return {**{name: side for name, side in sides.items() if side}, "ports": named}


def _is_same(stored: Iterable[Mapping[str, Any]] | None, wanted: Sequence[Mapping[str, Any]]) -> bool:
    return [dict(one) for one in stored or ()] == list(wanted)
