"""The Cluster API objects of Azure."""

from __future__ import annotations

import base64

from butler.api.provider import ProviderConfig
from butler.api.sections.azure import AzureSection
from butler.api.units import GIB, MIB, whole
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import Address

from ..contract import Blueprint, Object, Pool
from ..sizes import InstanceType, smallest
from . import section
from .section import DISK_TYPE, NOBODYS_KEY

_GROUP, _VERSION = "infrastructure.cluster.x-k8s.io", "v1beta1"
_IDENTITY = Address(_GROUP, _VERSION, "AzureClusterIdentity", "azureclusteridentities", namespaced=True)
_FAMILIES = (
    ("Standard_F{}s_v2", 2, (2, 4, 8, 16, 32, 48, 64, 72)),
    ("Standard_D{}s_v5", 4, (2, 4, 8, 16, 32, 48, 64, 96)),
    ("Standard_E{}s_v5", 8, (2, 4, 8, 16, 20, 32, 48, 64, 96)),
)
"""Sizes that every region has: their name, GiB for each core, and how many cores there may be."""
_SIZES = tuple(
    InstanceType(name.format(cpu), cpu, cpu * memory * 1024) for name, memory, counts in _FAMILIES for cpu in counts
)


class ClusterTemplates:
    """AzureCluster and AzureMachineTemplate."""

    cluster_kind = Address(_GROUP, _VERSION, "AzureCluster", "azureclusters", namespaced=True)
    machine_template_kind = Address(_GROUP, _VERSION, "AzureMachineTemplate", "azuremachinetemplates", namespaced=True)
    machine_kind = Address(_GROUP, _VERSION, "AzureMachine", "azuremachines", namespaced=True)
    endpoint_is_handed_over = True

    def cluster(self, blueprint: Blueprint) -> Object:
        """Without a control plane of its own, which would come with a load balancer and a subnet for it."""
        config, azure = blueprint.provider, _section(blueprint.provider)
        vnet, subnet = section.networks(config, azure)
        return {
            "location": section.location(config, azure),
            "subscriptionID": azure.subscription_id,
            "resourceGroup": azure.resource_group,
            "azureEnvironment": azure.environment,
            "controlPlaneEnabled": False,
            "identityRef": {
                "apiVersion": f"{_GROUP}/{_VERSION}",
                "kind": _IDENTITY.kind,
                "name": blueprint.name,
                "namespace": blueprint.namespace,
            },
            "networkSpec": {
                "vnet": {"name": vnet.split("/")[-1], "resourceGroup": vnet.split("/")[4]},
                "subnets": [{"name": subnet.split("/")[-1], "role": "node"}],
            },
        }

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        config, azure = blueprint.provider, _section(blueprint.provider)
        image = pool.image or azure.image_urn or ""
        return {
            "vmSize": azure.vm_size or _size(config, pool),
            "osDisk": {
                "osType": "Linux",
                "diskSizeGB": whole(pool.disk, GIB),
                "managedDisk": {"storageAccountType": azure.disk_type or DISK_TYPE},
            },
            # Without one, a new one would be drawn for every template, and no two of them would be alike.
            "sshPublicKey": base64.b64encode((azure.ssh_public_key or NOBODYS_KEY).encode()).decode(),
            **({"image": _image(image)} if image else {}),
        }

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        """Nodes get their providerID from Azure's cloud controller, which knows them by the name of their VM."""
        registration = {
            "name": "{{ ds.meta_data.local_hostname }}",
            "kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}],
        }
        return {"joinConfiguration": {"nodeRegistration": registration}}

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        """The identity; its secret stays where it is."""
        config, azure = blueprint.provider, _section(blueprint.provider)
        reference = config.spec.credentials_ref
        assert reference is not None, "normalise() fills it in"
        spec = {
            "type": "ServicePrincipal",
            "tenantID": _needed(config, "tenantID", azure.tenant_id),
            "clientID": _needed(config, "clientID", azure.client_id),
            "clientSecret": {"name": reference.name, "namespace": reference.namespace or config.metadata.namespace},
            "allowedNamespaces": {"list": [blueprint.namespace]},
        }
        return ((_IDENTITY, {"metadata": {"name": blueprint.name}, "spec": spec}),)


def _section(config: ProviderConfig) -> AzureSection:
    if config.spec.azure is None:
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.azure", "is missing")
    return config.spec.azure


def _size(config: ProviderConfig, pool: Pool) -> str:
    found = smallest(_SIZES, pool.cpu, whole(pool.memory, MIB))
    if found is None:
        message = f"is missing, and no usual size has {pool.cpu} cores and {pool.memory} of memory"
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.azure.vmSize", message)
    return found.name


def _image(text: str) -> Object:
    parts = text.strip("/").split("/")
    if parts[0].lower() in ("communitygalleries", "sharedgalleries"):
        return {"computeGallery": {"gallery": parts[1], "name": parts[3], "version": (parts[5:] or ["latest"])[0]}}
    if text.startswith("/"):
        return {"id": text}
    names = ("publisher", "offer", "sku", "version")
    return {"marketplace": dict(zip(names, text.split(":"), strict=True))}


def _needed(config: ProviderConfig, name: str, value: str | None) -> str:
    if not value:
        message = "is missing; workers of tenant clusters cannot be made without it"
        raise InvalidConfiguration(f"ProviderConfig {config.key}", f"spec.azure.{name}", message)
    return value
