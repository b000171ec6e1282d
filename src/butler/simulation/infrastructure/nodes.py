"""What a simulated machine's kubelet does in its tenant's API: one Node, and whether it is well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, ip_network
from typing import Any

from butler.api.model import SIMULATED
from butler.engines.capi.kinds import KubeadmConfig, Machine
from butler.providers.contract import Machine as Vm
from kubekit.client.protocol import Client, Patch
from kubekit.errors import AlreadyExists, NotFound
from kubekit.model.resource import Address, Object

from ..capi.machines.nodes import annotations_from, labels_from
from .kinds import SimulatedMachine

NODE = Address("", "v1", "Node", "nodes", False)

_PODS = "110"
_NODE_PREFIX = 24
"""How large the part of the pod network is that each node gets."""
_EVICTION_MIB = 100
"""Memory that the kubelet keeps free."""
_WELL = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "There is enough memory, in name."),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "There is enough disk, in name."),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "There are enough process numbers, in name."),
    ("Ready", "True", "KubeletReady", "The simulated kubelet is ready."),
)
_SILENT = "The simulated kubelet says nothing any more."


@dataclass(frozen=True, slots=True)
class Joining:
    """A machine that is about to become a node."""

    simulated: SimulatedMachine
    machine: Machine
    vm: Vm
    config: KubeadmConfig | None

    @property
    def name(self) -> str:
        return self.simulated.metadata.name


def node_for(joining: Joining, pod_cidr: str, now: datetime) -> Object:
    """The whole Node, as a kubelet registers it."""
    registration = _registration(joining.config)
    return {
        "apiVersion": NODE.api_version,
        "kind": NODE.kind,
        "metadata": {
            "name": joining.name,
            "labels": _labels(joining, registration),
            # Those that Cluster API gives to a node, so that it need not come by again.
            "annotations": annotations_from(joining.machine),
        },
        "spec": {
            "providerID": joining.vm.id,
            **({"podCIDR": pod_cidr, "podCIDRs": [pod_cidr]} if pod_cidr else {}),
            **({"taints": taints} if (taints := _taints(joining, registration)) else {}),
        },
        "status": {
            **_resources(joining),
            "conditions": _conditions(_WELL, now),
            "addresses": [
                *({"type": "InternalIP", "address": address} for address in joining.vm.addresses),
                {"type": "Hostname", "address": joining.name},
            ],
            "nodeInfo": _node_info(joining),
        },
    }


async def register(client: Client, node: Object) -> bool:
    """Create the Node; one of that name that is there already stays as it is. Answers whether it is new."""
    try:
        await client.create(node, NODE, manager="kubelet")
    except AlreadyExists:
        return False
    return True


async def report(client: Client, name: str, is_well: bool, now: datetime) -> None:
    """Say that a Node is well, or that nothing is heard of it. One that is gone stays gone."""
    silent = [(kind, "Unknown", "NodeStatusUnknown", _SILENT) for kind, *_ in _WELL]
    change = {"status": {"conditions": _conditions(_WELL if is_well else silent, now)}}
    try:
        await client.patch(NODE, name, change, form=Patch.STRATEGIC, subresource="status", manager="kubelet")
    except NotFound:
        return


async def remove(client: Client, name: str, provider_id: str) -> None:
    """Delete the Node of a machine, unless it is another machine's."""
    try:
        node = await client.get(NODE, name)
        if node["spec"].get("providerID") == provider_id:
            await client.delete(NODE, name, uid=node["metadata"]["uid"])
    except NotFound:
        return


class PodNetworks:
    """Which part of its cluster's pod network each node has. What is not remembered is asked of the nodes."""

    def __init__(self) -> None:
        self._taken: dict[str, dict[str, str]] = {}
        """Parts by the name of their node, by cluster."""

    async def assign(self, cluster: str, network: str, name: str, client: Client) -> str:
        """The part of a node; empty when there is none left."""
        if cluster not in self._taken:
            listed = await client.list(NODE)
            known = {one["metadata"]["name"]: one["spec"].get("podCIDR", "") for one in listed.items}
            # Another node of the cluster may have been quicker, and what it was given stays.
            self._taken[cluster] = {**known, **self._taken.get(cluster, {})}
        taken = self._taken[cluster]
        if name not in taken:
            taken[name] = _free_part(network, taken.values())
        return taken[name]

    def release(self, cluster: str, name: str) -> None:
        self._taken.get(cluster, {}).pop(name, None)

    def forget(self, cluster: str) -> None:
        self._taken.pop(cluster, None)


def _free_part(network: str, taken: Iterable[str]) -> str:
    if not network:
        return ""
    whole, used = ip_network(network), set(taken)
    if not isinstance(whole, IPv4Network):
        return ""
    prefix = max(_NODE_PREFIX, whole.prefixlen)
    count = 2 ** (prefix - whole.prefixlen)
    # Usually the parts before are all taken, and the next one is not.
    for step in range(count):
        first = int(whole[0]) + (len(used) + step) % count * 2 ** (32 - prefix)
        if (part := f"{IPv4Address(first)}/{prefix}") not in used:
            return part
    return ""


def _registration(config: KubeadmConfig | None) -> Mapping[str, Any]:
    joining = config.spec.get("joinConfiguration") if config is not None else None
    return (joining or {}).get("nodeRegistration") or {}


def _argument(registration: Mapping[str, Any], name: str) -> list[str]:
    """The values of an argument of the kubelet that takes several."""
    given = [one.get("value") or "" for one in registration.get("kubeletExtraArgs") or () if one.get("name") == name]
    return [value.strip() for text in given for value in text.split(",") if value.strip()]


def _labels(joining: Joining, registration: Mapping[str, Any]) -> dict[str, str]:
    pairs = (text.partition("=") for text in _argument(registration, "node-labels"))
    zone = joining.simulated.spec.failure_domain or joining.machine.spec.failure_domain
    return {
        "kubernetes.io/hostname": joining.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "simulated",
        SIMULATED: "true",
        **({"topology.kubernetes.io/zone": zone} if zone else {}),
        **{key: value for key, _, value in pairs},
        **labels_from(joining.machine),
    }


def _taints(joining: Joining, registration: Mapping[str, Any]) -> list[Object]:
    found: dict[tuple[str, str], Object] = {}
    for text in _argument(registration, "register-with-taints"):
        pair, _, effect = text.rpartition(":")
        key, _, value = pair.partition("=")
        found[key, effect] = _taint(key, value, effect)
    for taint in registration.get("taints") or ():
        found[taint["key"], taint["effect"]] = dict(taint)
    for one in joining.machine.spec.taints:
        found[one.key, one.effect] = _taint(one.key, one.value or "", one.effect)
    return list(found.values())


def _taint(key: str, value: str, effect: str) -> Object:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def _resources(joining: Joining) -> Object:
    spec = joining.simulated.spec
    capacity = {
        "cpu": str(spec.cpu),
        "memory": f"{spec.memory_mb}Mi",
        "ephemeral-storage": f"{spec.disk_gb}Gi",
        "pods": _PODS,
    }
    usable = {**capacity, "memory": f"{max(spec.memory_mb - _EVICTION_MIB, 0)}Mi"}
    return {"capacity": capacity, "allocatable": usable}


def _conditions(wanted: Iterable[tuple[str, str, str, str]], now: datetime) -> list[Object]:
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    times = {"lastHeartbeatTime": stamp, "lastTransitionTime": stamp}
    return [
        {"type": kind, "status": status, "reason": reason, "message": message, **times}
        for kind, status, reason, message in wanted
    ]


def _node_info(joining: Joining) -> Object:
    identity = joining.vm.id.rpartition("/")[2]
    version = joining.machine.spec.version or ""
    return {
        "machineID": identity.replace("-", ""),
        "systemUUID": identity,
        "bootID": identity,
        "kernelVersion": "6.12.0-simulated",
        "osImage": "Simulated Linux",
        "containerRuntimeVersion": "simulated://1.0.0",
        "kubeletVersion": version,
        "kubeProxyVersion": version,
        "operatingSystem": "linux",
        "architecture": "amd64",
    }
