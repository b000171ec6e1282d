"""The Cluster API objects of Nutanix."""

from __future__ import annotations

from urllib.parse import urlsplit

from butler.api.provider import ProviderConfig
from butler.api.sections.nutanix import NUTANIX_PORT, Entity, NutanixSection
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import Address

from ..contract import Blueprint, Object, Pool
from .lookup import named

_GROUP, _VERSION = "infrastructure.cluster.x-k8s.io", "v1beta1"


class ClusterTemplates:
    """NutanixCluster and NutanixMachineTemplate."""

    cluster_kind = Address(_GROUP, _VERSION, "NutanixCluster", "nutanixclusters", namespaced=True)
    machine_template_kind = Address(
        _GROUP, _VERSION, "NutanixMachineTemplate", "nutanixmachinetemplates", namespaced=True
    )
    machine_kind = Address(_GROUP, _VERSION, "NutanixMachine", "nutanixmachines", namespaced=True)
    endpoint_is_handed_over = True

    def cluster(self, blueprint: Blueprint) -> Object:
        """Without credentials in the tenant's namespace, unless somebody puts them there."""
        section = _section(blueprint.provider)
        if section.tenant_credentials_name is None:
            return {}
        return {
            "prismCentral": {
                "address": urlsplit(section.endpoint or "").hostname or "",
                "port": section.port or NUTANIX_PORT,
                "insecure": bool(section.insecure),
                "credentialRef": {"kind": "Secret", "name": section.tenant_credentials_name},
            }
        }

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        section = _section(blueprint.provider)
        image = named(pool.image) or _entity(blueprint, "image", section.image_uuid, section.image)
        return {
            "vcpuSockets": pool.cpu,
            "vcpusPerSocket": 1,
            "memorySize": pool.memory,
            "systemDiskSize": pool.disk,
            "bootType": section.boot_type,
            "image": _reference(blueprint, "image", image),
            "cluster": _place(blueprint, "cluster", section.cluster_uuid, section.cluster),
            "subnet": [_place(blueprint, "subnet", section.subnet_uuid, section.subnet)],
        }

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        """Nodes get their providerID from Nutanix's cloud controller, which knows them by the name of their VM."""
        registration = {"kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}]}
        return {
            "joinConfiguration": {"nodeRegistration": registration},
            "preKubeadmCommands": ['hostnamectl set-hostname "{{ ds.meta_data.hostname }}"'],
        }

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        return ()


def _section(config: ProviderConfig) -> NutanixSection:
    if config.spec.nutanix is None:
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.nutanix", "is missing")
    return config.spec.nutanix


def _place(blueprint: Blueprint, name: str, uuid: str | None, entity: Entity | None) -> Object:
    return _reference(blueprint, name, _entity(blueprint, name, uuid, entity))


def _entity(blueprint: Blueprint, name: str, uuid: str | None, entity: Entity | None) -> Entity | None:
    """That of the cluster wins over that of the ProviderConfig."""
    wanted = blueprint.override.get(f"{name}UUID")
    return named(wanted) if wanted else named(uuid or "") or entity


def _reference(blueprint: Blueprint, name: str, entity: Entity | None) -> Object:
    if entity is not None and entity.uuid:
        return {"type": "uuid", "uuid": entity.uuid}
    if entity is not None and entity.name:
        return {"type": "name", "name": entity.name}
    message = "is missing; workers of tenant clusters cannot be made without it"
    raise InvalidConfiguration(f"ProviderConfig {blueprint.provider.key}", f"spec.nutanix.{name}", message)
