"""The Cluster API objects of Harvester."""

from __future__ import annotations

from typing import Any

import pytest

from butler.providers import registry
from butler.providers.contract import Blueprint, Pool
from butler.providers.harvester.templates import ClusterTemplates
from kubekit.errors import InvalidConfiguration
from tests.providers.harvester.harness import config

POOL = Pool("", cpu=4, memory="8Gi", disk="40Gi")
SECRET = {"name": "harvester-kubeconfig", "namespace": "butler-system"}


def blueprint(override: dict[str, Any] | None = None, **section: Any) -> Blueprint:
    return Blueprint("demo", "tc-demo", config(**section), "v1.33.4", (POOL,), override or {})


def disk(made: dict[str, Any]) -> Any:
    (found,) = made["virtualMachineTemplate"]["spec"]["dataVolumeTemplates"]
    return found


def test_a_cluster_is_told_where_harvester_is() -> None:
    templates = registry.templates("harvester")
    assert templates.cluster(blueprint()) == {"infraClusterSecretRef": {"apiVersion": "v1", "kind": "Secret", **SECRET}}
    assert templates.endpoint_is_handed_over
    assert ClusterTemplates.cluster_annotations == {"cluster.x-k8s.io/managed-by": "kamaji"}
    assert (templates.extras(blueprint()), templates.joining(blueprint(), POOL)) == ((), {})


def test_a_worker_boots_from_a_volume_of_the_storage_class_of_its_image() -> None:
    assert ClusterTemplates().machine(blueprint(image_storage_class_name="lh-7"), POOL) == {
        "infraClusterSecretRef": SECRET,
        "virtualMachineBootstrapCheck": {"checkStrategy": "none"},
        "virtualMachineTemplate": {
            "metadata": {"namespace": "default", "annotations": {"harvesterhci.io/reservedMemory": "256Mi"}},
            "spec": {
                "runStrategy": "Always",
                "dataVolumeTemplates": [
                    {
                        "metadata": {"name": "root", "annotations": {"harvesterhci.io/imageId": "default/talos-1.9"}},
                        "spec": {
                            "source": {"blank": {}},
                            "pvc": {
                                "accessModes": ["ReadWriteMany"],
                                "volumeMode": "Block",
                                "storageClassName": "lh-7",
                                "resources": {"requests": {"storage": "40Gi"}},
                            },
                        },
                    }
                ],
                "template": {
                    "spec": {
                        "evictionStrategy": "External",
                        "domain": {
                            "cpu": {"cores": 4, "sockets": 1, "threads": 1},
                            "memory": {"guest": "8192Mi"},
                            "resources": {"limits": {"cpu": "4", "memory": "8448Mi"}},
                            "devices": {
                                "disks": [{"name": "root", "disk": {"bus": "virtio"}, "bootOrder": 1}],
                                "interfaces": [{"name": "default", "model": "virtio", "bridge": {}}],
                            },
                        },
                        "networks": [{"name": "default", "multus": {"networkName": "default/workloads"}}],
                        "volumes": [{"name": "root", "dataVolume": {"name": "root"}}],
                    }
                },
            },
        },
    }


def test_without_that_storage_class_the_image_is_cloned() -> None:
    made = disk(ClusterTemplates().machine(blueprint(storage_class_name="fast"), POOL))
    assert made["spec"] == {
        "source": {"pvc": {"namespace": "default", "name": "talos-1.9"}},
        "storage": {"resources": {"requests": {"storage": "40Gi"}}, "storageClassName": "fast"},
    }


def test_what_a_cluster_says_itself_wins() -> None:
    override = {"namespace": "team-a", "networkName": "team-a/vlan7", "imageName": "team-a/own"}
    made = ClusterTemplates().machine(blueprint(override, image_storage_class_name="lh-7"), POOL)
    assert made["virtualMachineTemplate"]["metadata"]["namespace"] == "team-a"
    instance = made["virtualMachineTemplate"]["spec"]["template"]["spec"]
    assert instance["networks"] == [{"name": "default", "multus": {"networkName": "team-a/vlan7"}}]
    assert disk(made)["spec"]["source"] == {"pvc": {"namespace": "team-a", "name": "own"}}


def test_a_worker_without_an_image_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match=r"spec\.harvester\.imageName: is missing"):
        ClusterTemplates().machine(blueprint(image_name=None), POOL)


def test_a_kubeconfig_under_another_key_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match=r"spec\.credentialsRef\.key: 'config'"):
        ClusterTemplates().cluster(blueprint(key="config"))
