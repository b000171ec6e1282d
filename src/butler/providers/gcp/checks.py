"""Whether a project has what a machine needs."""

from __future__ import annotations

from typing import Any

from butler import advice
from butler.errors import CredentialsInvalid, MachineRejected

from ..contract import Check
from . import sizes
from .api import Compute, last
from .section import Settings

PERMISSIONS = (
    "compute.addresses.create",
    "compute.addresses.createInternal",
    "compute.addresses.delete",
    "compute.addresses.deleteInternal",
    "compute.addresses.get",
    "compute.addresses.list",
    "compute.addresses.use",
    "compute.addresses.useInternal",
    "compute.backendServices.list",
    "compute.diskTypes.get",
    "compute.disks.create",
    "compute.disks.delete",
    "compute.disks.list",
    "compute.disks.setLabels",
    "compute.forwardingRules.create",
    "compute.forwardingRules.delete",
    "compute.forwardingRules.get",
    "compute.forwardingRules.list",
    "compute.globalOperations.list",
    "compute.healthChecks.list",
    "compute.images.get",
    "compute.images.getFromFamily",
    "compute.images.list",
    "compute.images.useReadOnly",
    "compute.instanceGroups.create",
    "compute.instanceGroups.delete",
    "compute.instanceGroups.get",
    "compute.instanceGroups.list",
    "compute.instanceGroups.update",
    "compute.instanceGroups.use",
    "compute.instances.create",
    "compute.instances.delete",
    "compute.instances.get",
    "compute.instances.list",
    "compute.instances.setLabels",
    "compute.instances.setMetadata",
    "compute.instances.setServiceAccount",
    "compute.instances.setTags",
    "compute.instances.use",
    "compute.machineTypes.get",
    "compute.networks.get",
    "compute.networks.use",
    "compute.projects.get",
    "compute.regionBackendServices.create",
    "compute.regionBackendServices.delete",
    "compute.regionBackendServices.get",
    "compute.regionBackendServices.list",
    "compute.regionBackendServices.update",
    "compute.regionBackendServices.use",
    "compute.regionHealthChecks.create",
    "compute.regionHealthChecks.delete",
    "compute.regionHealthChecks.get",
    "compute.regionHealthChecks.list",
    "compute.regionHealthChecks.update",
    "compute.regionHealthChecks.useReadOnly",
    "compute.regionOperations.get",
    "compute.regionOperations.list",
    "compute.regions.get",
    "compute.subnetworks.get",
    "compute.subnetworks.list",
    "compute.subnetworks.use",
    "compute.subnetworks.useExternalIp",
    "compute.zoneOperations.get",
    "compute.zoneOperations.list",
    "compute.zones.get",
)
"""What Butler's service account may do in the project."""
_OF_NETWORKS = ("compute.networks.", "compute.subnetworks.")
"""These are needed in the project of the network, which may be another."""
_METRICS = ("CPUS", "INSTANCES", "IN_USE_ADDRESSES", "SSD_TOTAL_GB")


async def checks(settings: Settings, api: Compute) -> tuple[Check, ...]:
    """Raises ProviderError when nothing can be tried, and when Google does not answer in between."""
    project = await _tried(api, "", "id,name")
    if isinstance(project, Check):
        return (project,)
    if project is None:
        remedy = "Correct spec.gcp.projectID."
        return (Check("reachable", False, f"There is no project {settings.project}.", remedy),)
    region = await api.get(f"regions/{settings.region}", fields="name,status,zones,quotas")
    reached = (
        Check("reachable", True, f"Compute Engine answers for project {settings.project}."),
        Check("version", True, "It is version 1 of the Compute Engine API.", value="v1"),
        Check("credentials", True, f"{settings.key.email} is let in."),
        await _permissions(settings, api),
    )
    if region is None:
        remedy = "Correct spec.gcp.region: see `gcloud compute regions list`."
        return (*reached, Check("capacity", False, f"There is no region {settings.region}.", remedy))
    zone = settings.zone or min(map(last, region["zones"]))
    machine_type, trouble = await _looked_at(api, f"zones/{zone}/machineTypes/{_usual(settings)}", "architecture")
    return (
        *reached,
        await _image(settings, api, machine_type),
        await _network(settings, api),
        await _storage(settings, api, zone),
        await _capacity(settings, api, region, zone, trouble),
    )


async def _tried(api: Compute, path: str, fields: str) -> Any:
    """The resource, None when it is not there, or the check that fails because one may not look at it."""
    try:
        return await api.get(path, fields=fields)
    except CredentialsInvalid as error:
        remedy = "Check that the key is not disabled, that the Compute Engine API is enabled, and the roles it has."
        return Check("credentials", False, str(error), remedy)


async def _permissions(settings: Settings, api: Compute) -> Check:
    path = settings.subnetwork or settings.network
    elsewhere = () if path.startswith(f"projects/{settings.project}/") else _OF_NETWORKS
    needed = tuple(one for one in PERMISSIONS if not one.startswith(elsewhere))
    try:
        missing = sorted(set(needed) - await api.permitted(needed))
    except (CredentialsInvalid, MachineRejected):
        message = "They could not be looked at: the Cloud Resource Manager API is not enabled."
        return Check("permissions", True, message, "Enable cloudresourcemanager.googleapis.com.")
    if not missing:
        return Check("permissions", True, f"{settings.key.email} may do what Butler does.")
    remedy = f"Give {settings.key.email} a role with them: see docs/howto/providers/gcp.md."
    return Check("permissions", False, f"Missing: {', '.join(missing)}.", remedy)


async def _image(settings: Settings, api: Compute, machine_type: Any) -> Check:
    if not settings.image:
        remedy = "Set spec.gcp.image or spec.gcp.imageFamily, or an image in every MachineRequest."
        return Check("image", False, "No image is named.", remedy)
    image, trouble = await _looked_at(api, settings.image, "name,status,architecture,deprecated/state,diskSizeGb")
    remedy = f"Correct spec.gcp.image, imageFamily or imageProject: see `{advice.provider_images(advice.NAME)}`."
    if trouble:
        return Check("image", False, trouble, remedy)
    state = (image.get("deprecated") or {}).get("state", "ACTIVE")
    if image.get("status") != "READY" or state in ("OBSOLETE", "DELETED"):
        return Check("image", False, f"Image {image['name']} is {image.get('status')}, {state}.", remedy)
    wanted = (machine_type or {}).get("architecture", "X86_64")
    if (has := image.get("architecture", "X86_64")) != wanted:
        remedy = "Name an image of that architecture, or another spec.gcp.machineType."
        return Check("image", False, f"Image {image['name']} is for {has}, and machines are {wanted}.", remedy)
    return Check("image", True, f"Image {image['name']} has {image.get('diskSizeGb')} GB and is for {has}.")


async def _network(settings: Settings, api: Compute) -> Check:
    path = settings.subnetwork or settings.network
    fields = "name,region,ipCidrRange" if settings.subnetwork else "name,autoCreateSubnetworks"
    found, trouble = await _looked_at(api, path, fields)
    if trouble:
        remedy = f"Correct spec.gcp.subnetwork or spec.gcp.network: see `{advice.provider_networks(advice.NAME)}`."
        return Check("network", False, trouble, remedy)
    if settings.subnetwork and last(found.get("region", "")) != settings.region:
        remedy = f"Name a subnetwork of region {settings.region}."
        return Check("network", False, f"Subnetwork {found['name']} is in {last(found['region'])}.", remedy)
    if not settings.subnetwork and not found.get("autoCreateSubnetworks"):
        remedy = "Set spec.gcp.subnetwork: Google cannot choose one in this network."
        return Check("network", False, f"Network {found['name']} has no subnetworks of Google's making.", remedy)
    return Check("network", True, f"{found['name']} is there{_range(found)}.")


async def _storage(settings: Settings, api: Compute, zone: str) -> Check:
    _, trouble = await _looked_at(api, f"zones/{zone}/diskTypes/{settings.disk_type}", "name")
    if trouble:
        return Check("storage", False, trouble, "Correct spec.gcp.diskType: see `gcloud compute disk-types list`.")
    return Check("storage", True, f"Disks are of type {settings.disk_type}.")


async def _capacity(settings: Settings, api: Compute, region: Any, zone: str, trouble: str) -> Check:
    place = await api.get(f"zones/{zone}", fields="name,status")
    if place is None or place.get("status") != "UP":
        return Check("capacity", False, f"Zone {zone} is not up.", "Name another one as spec.gcp.zone.")
    if trouble:
        return Check("capacity", False, trouble, "Correct spec.gcp.machineType, or name another zone.")
    quotas = {one["metric"]: one for one in region.get("quotas") or () if one["metric"] in _METRICS}
    used = {metric: f"{metric} {one['usage']:g} of {one['limit']:g}" for metric, one in quotas.items()}
    full = [used[metric] for metric, one in quotas.items() if one["usage"] >= one["limit"]]
    if full:
        remedy = f"Ask Google for more in region {settings.region}, or delete what is not needed."
        return Check("capacity", False, f"Used up: {', '.join(full)}.", remedy)
    return Check("capacity", True, f"{zone} is up; used are {', '.join(used.values())}.")


async def _looked_at(api: Compute, path: str, fields: str) -> tuple[Any, str]:
    """The resource, or why it cannot be used: there is none, or it is in another project where one may not look."""
    try:
        found = await api.get(path, fields=fields)
    except (CredentialsInvalid, MachineRejected) as error:
        return None, f"{path} cannot be used: {error}"
    return found, "" if found is not None else f"There is no {path}."


def _usual(settings: Settings) -> str:
    return settings.machine_type or sizes.machine_type(2, 8192)


def _range(found: Any) -> str:
    return f", {found['ipCidrRange']}" if found.get("ipCidrRange") else ""
