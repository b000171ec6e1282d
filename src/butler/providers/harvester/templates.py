"""The Cluster API objects of Harvester: those of KubeVirt's provider, which leaves the control plane to others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from butler.api.provider import ProviderConfig
from butler.api.sections.harvester import HarvesterSection
from butler.api.units import GIB, MIB, whole
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import Address

from ..contract import Blueprint, Object, Pool
from .section import ObjectName
from .vm import IMAGE_ID, NIC, reserved, sizes

_GROUP, _VERSION = "infrastructure.cluster.x-k8s.io", "v1alpha1"
_ROOT = "root"


class ClusterTemplates:
    """KubevirtCluster and KubevirtMachineTemplate."""

    cluster_kind = Address(_GROUP, _VERSION, "KubevirtCluster", "kubevirtclusters", namespaced=True)
    machine_template_kind = Address(
        _GROUP, _VERSION, "KubevirtMachineTemplate", "kubevirtmachinetemplates", namespaced=True
    )
    machine_kind = Address(_GROUP, _VERSION, "KubevirtMachine", "kubevirtmachines", namespaced=True)
    endpoint_is_handed_over = True
    cluster_annotations: ClassVar[Mapping[str, str]] = {"cluster.x-k8s.io/managed-by": "kamaji"}
    """Else KubeVirt's provider would make a load balancer of its own."""

    def cluster(self, blueprint: Blueprint) -> Object:
        return {"infraClusterSecretRef": {"apiVersion": "v1", "kind": "Secret", **_secret(blueprint.provider)}}

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        section = _section(blueprint.provider)
        namespace = str(blueprint.override.get("namespace") or section.namespace)
        network = ObjectName.of(str(blueprint.override.get("networkName") or section.network_name), namespace)
        disk = _disk(blueprint, pool, namespace)
        return {
            "infraClusterSecretRef": _secret(blueprint.provider),
            # Whether a worker has joined is seen by its node; the other way to find out is SSH.
            "virtualMachineBootstrapCheck": {"checkStrategy": "none"},
            "virtualMachineTemplate": {
                "metadata": {"namespace": namespace, "annotations": reserved()},
                "spec": {
                    "runStrategy": "Always",
                    "dataVolumeTemplates": [disk],
                    "template": {"spec": _instance(pool, network)},
                },
            },
        }

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        """Nothing: the provider gives nodes their providerID itself."""
        return {}

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        return ()


def _instance(pool: Pool, network: ObjectName) -> Object:
    return {
        # The provider drains a node before its VM moves.
        "evictionStrategy": "External",
        "domain": {
            **sizes(pool.cpu, whole(pool.memory, MIB)),
            "devices": {
                "disks": [{"name": _ROOT, "disk": {"bus": "virtio"}, "bootOrder": 1}],
                "interfaces": [{"name": NIC, "model": "virtio", "bridge": {}}],
            },
        },
        "networks": [{"name": NIC, "multus": {"networkName": str(network)}}],
        "volumes": [{"name": _ROOT, "dataVolume": {"name": _ROOT}}],
    }


def _disk(blueprint: Blueprint, pool: Pool, namespace: str) -> Object:
    """A clone of the image; or a volume of the storage class that Harvester made for the image, which is full of it."""
    config, section = blueprint.provider, _section(blueprint.provider)
    named = pool.image or str(blueprint.override.get("imageName") or "") or section.image_name
    if not named:
        message = "is missing; workers of tenant clusters cannot be made without it"
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.harvester.imageName", message)
    image, size = ObjectName.of(named, namespace), {"requests": {"storage": f"{whole(pool.disk, GIB)}Gi"}}
    if section.image_storage_class_name and named == section.image_name:
        claim = {"accessModes": ["ReadWriteMany"], "volumeMode": "Block", "resources": size}
        spec = {"source": {"blank": {}}, "pvc": {**claim, "storageClassName": section.image_storage_class_name}}
        return {"metadata": {"name": _ROOT, "annotations": {IMAGE_ID: str(image)}}, "spec": spec}
    chosen = {"storageClassName": section.storage_class_name} if section.storage_class_name else {}
    return {
        "metadata": {"name": _ROOT},
        "spec": {"source": {"pvc": image._asdict()}, "storage": {"resources": size, **chosen}},
    }


def _secret(config: ProviderConfig) -> Object:
    """Where the kubeconfig is; the provider reads it there, under this key and no other."""
    reference = config.spec.credentials_ref
    assert reference is not None, "normalise() fills it in"
    if reference.key not in (None, "kubeconfig"):
        message = f"{reference.key!r}: workers of tenant clusters need the kubeconfig under the key kubeconfig"
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.credentialsRef.key", message)
    return {"name": reference.name, "namespace": reference.namespace or config.metadata.namespace}


def _section(config: ProviderConfig) -> HarvesterSection:
    if config.spec.harvester is None:
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.harvester", "is missing")
    return config.spec.harvester
