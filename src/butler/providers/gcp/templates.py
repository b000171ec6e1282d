"""The Cluster API objects of Google Cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from butler.api.cluster import GcpOverride
from butler.api.sections.gcp import GcpSection
from butler.api.units import GIB, MIB, whole
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import Address

from ..contract import Blueprint, Object, Pool
from . import section, sizes

_GROUP, _VERSION = "infrastructure.cluster.x-k8s.io", "v1beta1"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class ClusterTemplates:
    """GCPCluster and GCPMachineTemplate."""

    cluster_kind = Address(_GROUP, _VERSION, "GCPCluster", "gcpclusters", namespaced=True)
    machine_template_kind = Address(_GROUP, _VERSION, "GCPMachineTemplate", "gcpmachinetemplates", namespaced=True)
    machine_kind = Address(_GROUP, _VERSION, "GCPMachine", "gcpmachines", namespaced=True)
    endpoint_is_handed_over = False
    cluster_annotations: ClassVar[Mapping[str, str]] = {"cluster.x-k8s.io/managed-by": "butler"}

    def cluster(self, blueprint: Blueprint) -> Object:
        gcp, reference = _section(blueprint), blueprint.provider.spec.credentials_ref
        assert reference is not None, "normalise() fills it in"
        namespace = reference.namespace or blueprint.provider.metadata.namespace
        return {
            "project": gcp.project_id,
            "region": gcp.region,
            "network": _network(blueprint),
            "credentialsRef": {"name": reference.name, "namespace": namespace},
            **({"serviceEndpoints": {"compute": f"{gcp.endpoint}/compute/v1/"}} if gcp.endpoint else {}),
        }

    def cluster_status(self, blueprint: Blueprint) -> Object:
        """What Butler says of the cluster object: its own controller would make a load balancer for a control plane
        that is not there, and write the address of that over the endpoint."""
        gcp, override = _section(blueprint), _override(blueprint)
        zone = override.zone or gcp.zone or f"{gcp.region}-a"
        return {"ready": True, "failureDomains": {zone: {"controlPlane": False}}}

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        gcp, override = _section(blueprint), _override(blueprint)
        subnetwork = override.subnetwork or gcp.subnetwork
        wanted: Object = {
            "instanceType": override.machine_type or gcp.machine_type or _machine_type(blueprint, pool),
            **_image(blueprint, pool),
            "rootDeviceSize": whole(pool.disk, GIB),
            "rootDeviceType": gcp.disk_type or section.DISK_TYPE,
            "publicIP": gcp.public_ip is not False,
        }
        if subnetwork:
            wanted["subnet"] = subnetwork.rpartition("/")[2]
        if gcp.tags:
            wanted["additionalNetworkTags"] = list(gcp.tags)
        if gcp.service_account:
            wanted["serviceAccounts"] = {"email": gcp.service_account, "scopes": [_SCOPE]}
        return wanted

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        """Nodes get their providerID from Google's cloud controller, which knows them by the name of their VM."""
        registration = {
            "name": '{{ ds.meta_data.local_hostname.split(".")[0] }}',
            "kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}],
        }
        return {"joinConfiguration": {"nodeRegistration": registration}}

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        return ()


def _section(blueprint: Blueprint) -> GcpSection:
    found = blueprint.provider.spec.gcp
    if found is None:
        raise _missing(blueprint, "spec.gcp", "is missing; it says which project and region")
    return found


def _override(blueprint: Blueprint) -> GcpOverride:
    given = blueprint.override
    return GcpOverride(
        zone=given.get("zone"),
        subnetwork=given.get("subnetwork"),
        machine_type=given.get("machineType"),
        image=given.get("image"),
        image_family=given.get("imageFamily"),
    )


def _network(blueprint: Blueprint) -> Object:
    """Subnetworks are named without their project, so that of a shared VPC network has to be said here."""
    gcp = _section(blueprint)
    subnetwork = _override(blueprint).subnetwork or gcp.subnetwork or ""
    if subnetwork and not gcp.network:
        raise _missing(
            blueprint, "spec.gcp.network", "is missing; workers of tenant clusters need it beside the subnetwork"
        )
    network = gcp.network or "default"
    shared = next(
        (path.split("projects/")[1].partition("/")[0] for path in (network, subnetwork) if "projects/" in path), ""
    )
    host = {"hostProject": shared} if shared not in ("", gcp.project_id) else {}
    return {"name": network.rpartition("/")[2], **host}


def _image(blueprint: Blueprint, pool: Pool) -> Object:
    override = _override(blueprint)
    path = section.image_of(_section(blueprint), pool.image or override.image or "", override.image_family or "")
    if not path:
        message = "is missing, and so is imageFamily; without them workers would be of an image that does not exist"
        raise _missing(blueprint, "spec.gcp.image", message)
    return {"imageFamily" if "/family/" in path else "image": path}


def _machine_type(blueprint: Blueprint, pool: Pool) -> str:
    found = sizes.machine_type(pool.cpu, whole(pool.memory, MIB))
    if not found:
        message = f"is missing, and no usual machine type has {pool.cpu} cores and {pool.memory} of memory"
        raise _missing(blueprint, "spec.gcp.machineType", message)
    return found


def _missing(blueprint: Blueprint, path: str, message: str) -> InvalidConfiguration:
    return InvalidConfiguration(f"ProviderConfig {blueprint.provider.key}", path, message)
