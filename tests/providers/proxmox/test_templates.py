"""The Cluster API objects of a small cluster on Proxmox, to the letter."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.api.provider import ProviderNetwork
from butler.api.sections.proxmox import VmidRange
from butler.providers import registry
from butler.providers.contract import Blueprint, Pool
from kubekit.errors import InvalidConfiguration
from tests.providers.proxmox.harness import config

POOL = Pool("", 4, "8Gi", "40Gi")
TEMPLATES = registry.templates("proxmox")
NETWORK = ProviderNetwork(subnet="10.0.0.0/24", gateway="10.0.0.1", dns_servers=("10.0.0.2",))
WORKERS = ("10.0.0.10-10.0.0.20",)


def blueprint(override: dict[str, Any] | None = None, network: ProviderNetwork = NETWORK, **section: Any) -> Blueprint:
    provider = config("https://pve.example.com:8006", **{"worker_addresses": WORKERS, **section})
    spec = msgspec.structs.replace(provider.spec, network=network)
    return Blueprint(
        "demo", "tc-demo", msgspec.structs.replace(provider, spec=spec), "v1.33.4", (POOL,), override or {}
    )


def test_the_kinds_are_those_of_the_newest_provider() -> None:
    kinds = (TEMPLATES.cluster_kind, TEMPLATES.machine_template_kind, TEMPLATES.machine_kind)
    assert [f"{one.group}/{one.version} {one.kind}" for one in kinds] == [
        "infrastructure.cluster.x-k8s.io/v1alpha2 ProxmoxCluster",
        "infrastructure.cluster.x-k8s.io/v1alpha2 ProxmoxMachineTemplate",
        "infrastructure.cluster.x-k8s.io/v1alpha2 ProxmoxMachine",
    ]
    assert TEMPLATES.endpoint_is_handed_over


def test_a_cluster_has_its_hosts_its_addresses_and_a_control_plane_elsewhere() -> None:
    assert TEMPLATES.cluster(blueprint()) == {
        "externalManagedControlPlane": True,
        "allowedNodes": ["pve1", "pve2"],
        "dnsServers": ["10.0.0.2"],
        "ipv4Config": {"addresses": ["10.0.0.10-10.0.0.20"], "prefix": 24, "gateway": "10.0.0.1"},
        "credentialsRef": {"name": "proxmox", "namespace": "butler-system"},
    }


def test_addresses_may_be_of_the_newer_kind() -> None:
    network = ProviderNetwork(subnet="fd00::/64", gateway="fd00::1", dns_servers=("fd00::2",))
    found = TEMPLATES.cluster(blueprint(network=network, worker_addresses=("fd00::10-fd00::20",)))
    assert found["ipv6Config"] == {"addresses": ["fd00::10-fd00::20"], "prefix": 64, "gateway": "fd00::1"}
    assert "ipv4Config" not in found


def test_a_worker_is_a_clone_of_its_size() -> None:
    assert TEMPLATES.machine(blueprint(), POOL) == {
        "templateID": 9000,
        "sourceNode": "pve1",
        "full": True,
        "storage": "ceph",
        "numSockets": 1,
        "numCores": 4,
        "memoryMiB": 8192,
        "disks": {"bootVolume": {"disk": "scsi0", "sizeGb": 40}},
        "network": {"networkDevices": [{"name": "net0", "bridge": "vmbr0", "model": "virtio"}]},
    }


def test_a_worker_follows_the_section() -> None:
    given: dict[str, Any] = {
        "bridge": "vmbr1",
        "vlan": 40,
        "pool": "butler",
        "vmid_range": VmidRange(start=500, end=600),
    }
    found = TEMPLATES.machine(blueprint(full_clone=False, **given), POOL)
    assert found["network"]["networkDevices"] == [{"name": "net0", "bridge": "vmbr1", "model": "virtio", "vlan": 40}]
    assert (found["pool"], found["vmIDRange"], found["full"]) == ("butler", {"start": 500, "end": 600}, False)
    assert "storage" not in found


def test_what_a_cluster_says_itself_wins() -> None:
    wanted = blueprint({"node": "pve2", "storage": "nvme", "templateID": 9100})
    assert TEMPLATES.cluster(wanted)["allowedNodes"] == ["pve2"]
    found = TEMPLATES.machine(wanted, POOL)
    assert (found["sourceNode"], found["storage"], found["templateID"]) == ("pve2", "nvme", 9100)
    assert TEMPLATES.machine(wanted, Pool("", 4, "8Gi", "40Gi", image="9200"))["templateID"] == 9200


def test_a_node_is_known_by_the_uuid_of_its_machine() -> None:
    assert TEMPLATES.joining(blueprint(), POOL) == {
        "joinConfiguration": {
            "nodeRegistration": {
                "name": "{{ ds.meta_data.local_hostname }}",
                "kubeletExtraArgs": [{"name": "provider-id", "value": "proxmox://{{ ds.meta_data.instance_id }}"}],
            }
        }
    }
    assert TEMPLATES.extras(blueprint()) == ()


@pytest.mark.parametrize(
    ("network", "section", "path"),
    [
        (ProviderNetwork(subnet="10.0.0.0/24", gateway="10.0.0.1"), {}, "spec.network.dnsServers"),
        (ProviderNetwork(subnet="10.0.0.0/24", dns_servers=("10.0.0.2",)), {}, "spec.network.gateway"),
        (ProviderNetwork(gateway="10.0.0.1", dns_servers=("10.0.0.2",)), {}, "spec.network.subnet"),
        (ProviderNetwork(subnet="vms", gateway="10.0.0.1", dns_servers=("1.1.1.1",)), {}, "spec.network.subnet"),
        (NETWORK, {"worker_addresses": ()}, "spec.proxmox.workerAddresses"),
    ],
)
def test_what_a_cluster_lacks_is_named(network: ProviderNetwork, section: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        TEMPLATES.cluster(blueprint(network=network, **section))
    assert raised.value.path == path


def test_a_template_is_named_by_its_number() -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        TEMPLATES.machine(blueprint(template_id=None, template="talos"), POOL)
    assert raised.value.path == "spec.proxmox.templateID"
