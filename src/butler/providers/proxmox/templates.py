"""The Cluster API objects of Proxmox VE."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TypeVar

from butler.api.provider import ProviderConfig
from butler.api.sections.proxmox import ProxmoxSection
from butler.api.units import GIB, MIB, whole
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import Address

from ..contract import Blueprint, Object, Pool
from .section import BRIDGE

_GROUP, _VERSION = "infrastructure.cluster.x-k8s.io", "v1alpha2"
_BOOT_DISK = "scsi0"
T = TypeVar("T", str, tuple[str, ...])


class ClusterTemplates:
    """ProxmoxCluster and ProxmoxMachineTemplate."""

    cluster_kind = Address(_GROUP, _VERSION, "ProxmoxCluster", "proxmoxclusters", namespaced=True)
    machine_template_kind = Address(
        _GROUP, _VERSION, "ProxmoxMachineTemplate", "proxmoxmachinetemplates", namespaced=True
    )
    machine_kind = Address(_GROUP, _VERSION, "ProxmoxMachine", "proxmoxmachines", namespaced=True)
    endpoint_is_handed_over = True

    def cluster(self, blueprint: Blueprint) -> Object:
        """Its Secret has to have the keys `url`, `token` and `secret`, which are those that Cluster API's provider
        reads."""
        config, proxmox = blueprint.provider, _section(blueprint.provider)
        reference = config.spec.credentials_ref
        assert reference is not None, "normalise() fills it in"
        return {
            "externalManagedControlPlane": True,
            "allowedNodes": _nodes(blueprint, proxmox),
            "dnsServers": list(_needed(config, "spec.network.dnsServers", config.spec.network.dns_servers)),
            **_addresses(config, proxmox),
            "credentialsRef": {"name": reference.name, "namespace": reference.namespace or config.metadata.namespace},
        }

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        proxmox, override = _section(blueprint.provider), blueprint.override
        device: Object = {"name": "net0", "bridge": proxmox.bridge or BRIDGE, "model": "virtio"}
        return {
            "templateID": _template(blueprint, pool),
            # Of the hosts, the first is where the template is.
            "sourceNode": _nodes(blueprint, proxmox)[0],
            "full": proxmox.full_clone,
            **({"storage": override.get("storage") or proxmox.storage} if proxmox.full_clone else {}),
            "numSockets": 1,
            "numCores": pool.cpu,
            "memoryMiB": whole(pool.memory, MIB),
            "disks": {"bootVolume": {"disk": _BOOT_DISK, "sizeGb": whole(pool.disk, GIB)}},
            "network": {"networkDevices": [device | ({"vlan": proxmox.vlan} if proxmox.vlan else {})]},
            **({"pool": proxmox.pool} if proxmox.pool else {}),
            **_vmids(proxmox),
        }

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        """Cluster API knows a node by the UUID of its VM, which the VM is told as the id of its instance."""
        registration = {
            "name": "{{ ds.meta_data.local_hostname }}",
            "kubeletExtraArgs": [{"name": "provider-id", "value": "proxmox://{{ ds.meta_data.instance_id }}"}],
        }
        return {"joinConfiguration": {"nodeRegistration": registration}}

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        return ()


def _section(config: ProviderConfig) -> ProxmoxSection:
    if config.spec.proxmox is None:
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.proxmox", "is missing")
    return config.spec.proxmox


def _nodes(blueprint: Blueprint, proxmox: ProxmoxSection) -> list[str]:
    chosen = blueprint.override.get("node")
    return [chosen] if chosen else list(proxmox.nodes)


def _template(blueprint: Blueprint, pool: Pool) -> int:
    proxmox = _section(blueprint.provider)
    wanted = pool.image or str(blueprint.override.get("templateID") or proxmox.template_id or "")
    if not wanted.isdigit():
        message = "is missing; Cluster API takes a template by its number and no other image"
        raise _invalid(blueprint.provider, "spec.proxmox.templateID", message)
    return int(wanted)


def _addresses(config: ProviderConfig, proxmox: ProxmoxSection) -> Object:
    network = _network(config)
    return {
        f"ipv{network.version}Config": {
            "addresses": list(_needed(config, "spec.proxmox.workerAddresses", proxmox.worker_addresses)),
            "prefix": network.prefixlen,
            "gateway": _needed(config, "spec.network.gateway", config.spec.network.gateway or ""),
        }
    }


def _network(config: ProviderConfig) -> IPv4Network | IPv6Network:
    text = _needed(config, "spec.network.subnet", config.spec.network.subnet or "")
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise _invalid(config, "spec.network.subnet", f"{text!r} is not a network, such as 10.0.0.0/24") from None


def _vmids(proxmox: ProxmoxSection) -> Object:
    if (given := proxmox.vmid_range) is None:
        return {}
    return {"vmIDRange": {"start": given.start, "end": given.end}}


def _needed(config: ProviderConfig, path: str, value: T) -> T:
    if not value:
        raise _invalid(config, path, "is missing; workers of tenant clusters cannot be made without it")
    return value


def _invalid(config: ProviderConfig, path: str, message: str) -> InvalidConfiguration:
    return InvalidConfiguration(f"ProviderConfig {config.key}", path, message)
