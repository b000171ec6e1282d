"""What the fake Azure offers: sizes, disks, images, limits, permissions."""

from __future__ import annotations

from tests.providers.azure.fake_shapes import Json
from tests.providers.azure.fake_things import GROUP, LOCATION, SUBSCRIPTION, VNET, World

URN = "siderolabs:talos:talos-x64:latest"
MANAGED = f"{GROUP}/providers/Microsoft.Compute/images/talos"
GALLERY = f"{GROUP}/providers/Microsoft.Compute/galleries/factory"
DEFINITION = f"{GALLERY}/images/talos"
COMMUNITY = "/CommunityGalleries/siderolabs-c4d7/Images/talos-x64/Versions/latest"
WINDOWS = f"{GROUP}/providers/Microsoft.Compute/images/windows"
ELSEWHERE = f"{GROUP}/providers/Microsoft.Compute/images/far"
SOLD = "kinvolk:flatcar:stable:3815.2.0"
SECURITY_GROUP = f"{GROUP}/providers/Microsoft.Network/networkSecurityGroups/nodes"

VERSIONS: dict[str, tuple[str, ...]] = {
    "siderolabs:talos:talos-x64": ("1.8.0", "1.9.0"),
    "kinvolk:flatcar:stable": ("3815.2.0",),
}
IMAGE_SIZE = 10


def size(
    name: str, cpu: int, memory_gb: str, family: str = "standardDSv5Family", generations: str = "V1,V2",
    zones: tuple[str, ...] = ("1", "2", "3"), restrictions: tuple[Json, ...] = (), **more: str,
) -> Json:  # fmt: skip
    able = {
        "vCPUs": str(cpu), "MemoryGB": memory_gb, "HyperVGenerations": generations, "CpuArchitectureType": "x64",
        "PremiumIO": "True", **more,
    }  # fmt: skip
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "tier": "Standard",
        "family": family,
        "locations": [LOCATION],
        "locationInfo": [{"location": LOCATION, "zones": list(zones)}],
        "capabilities": [{"name": key, "value": value} for key, value in able.items()],
        "restrictions": list(restrictions),
    }


def _not_for_you(kind: str, *zones: str) -> Json:
    info: Json = {"locations": [LOCATION], **({"zones": list(zones)} if zones else {})}
    return {"type": kind, "values": [LOCATION], "restrictionInfo": info, "reasonCode": "NotAvailableForSubscription"}


SIZES = [
    size("Standard_B2s", 2, "4", family="standardBSFamily"),
    size("Standard_A2_v2", 2, "4", PremiumIO="False"),
    size("Standard_D2ps_v5", 2, "8", CpuArchitectureType="Arm64"),
    size("Standard_D2s_v6", 2, "8", generations="V2"),
    size("Standard_DC2s_v3", 2, "8", ConfidentialComputingType="SNP"),
    size("Standard_D2s_v2_Promo", 2, "7"),
    size("Standard_NC2s", 2, "7", GPUs="1"),
    size("Standard_F2s_v2", 2, "4", restrictions=(_not_for_you("Location"),)),
    size("Standard_D2s_v5", 2, "8"),
    size("Standard_D2as_v5", 2, "8", restrictions=(_not_for_you("Zone", "3"),)),
    size("Standard_E2s_v5", 2, "16"),
    size("Standard_D4s_v5", 4, "16"),
    size("Standard_D8s_v5", 8, "32", zones=("1",)),
    size("Standard_D64s_v5", 64, "256"),
]
DISK_TYPES = [
    {
        "resourceType": "disks",
        "name": name,
        "locations": [LOCATION],
        "locationInfo": [{"location": LOCATION, "zones": ["1", "2", "3"]}],
        "restrictions": [],
    }
    for name in ("Premium_LRS", "StandardSSD_LRS", "Standard_LRS")
]


def furnish(world: World) -> None:
    """What is there before anybody comes."""
    near = {"location": LOCATION}
    subnets = [
        {"id": f"{VNET}/subnets/{name}", "name": name, "properties": {"addressPrefix": prefix}}
        for name, prefix in (("nodes", "10.9.0.0/16"), ("gateway", "10.8.0.0/24"))
    ]
    world.add(VNET, "virtualnetworks", {**near, "properties": {"subnets": subnets}})
    world.add(SECURITY_GROUP, "networksecuritygroups", near)
    linux = {"osType": "Linux", "osState": "Generalized", "diskSizeGB": IMAGE_SIZE}
    image = {"storageProfile": {"osDisk": linux}, "hyperVGeneration": "V2"}
    world.add(MANAGED, "images", {**near, "properties": image})
    windows = {"storageProfile": {"osDisk": {**linux, "osType": "Windows"}}}
    world.add(WINDOWS, "images", {**near, "properties": windows})
    world.add(ELSEWHERE, "images", {"location": "eastus", "properties": image})
    world.add(GALLERY, "galleries", near)
    definition = {"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2"}
    world.add(DEFINITION, "galleries/images", {**near, "properties": definition})
    world.add(f"{DEFINITION}/versions/1.9.0", "galleries/images/versions", near)
    sealed = {**definition, "osState": "Specialized"}
    world.add(f"{GALLERY}/images/sealed", "galleries/images", {**near, "properties": sealed})


def plan_of(urn: str) -> Json | None:
    publisher, offer, sku, _ = urn.split(":")
    return {"name": sku, "publisher": publisher, "product": offer} if publisher == "kinvolk" else None


def registered(namespace: str, state: str = "Registered") -> Json:
    return {
        "id": f"/subscriptions/{SUBSCRIPTION}/providers/{namespace}",
        "namespace": namespace,
        "registrationState": state,
        "resourceTypes": [
            {"resourceType": kind, "apiVersions": ["2024-07-01", "2024-05-01", "2023-09-01"]}
            for kind in ("virtualMachines", "networkInterfaces")
        ],
    }
