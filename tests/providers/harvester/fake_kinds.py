"""The kinds of KubeVirt, CDI, Multus and Harvester that machines are made of, as strict as their own definitions."""

from __future__ import annotations

from typing import Any

from butler.providers.harvester import kinds
from kubekit.model.resource import Address

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
EMPTY: Schema = {"type": "object"}
AMOUNT: Schema = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
FREE: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def thing(*required: str, **properties: Schema) -> Schema:
    made: Schema = {"type": "object", "properties": properties}
    return {**made, "required": list(required)} if required else made


def several(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def mapping(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def word(*allowed: str) -> Schema:
    return {"type": "string", "enum": list(allowed)}


REFERENCE = thing(name=TEXT)
AMOUNTS = mapping(AMOUNT)
RESOURCES = thing(limits=AMOUNTS, requests=AMOUNTS)
CONDITIONS = several(
    thing(
        "status",
        "type",
        lastProbeTime={**TEXT, "nullable": True},
        lastTransitionTime={**TEXT, "nullable": True},
        lastUpdateTime=TEXT,
        message=TEXT,
        reason=TEXT,
        status=TEXT,
        type=TEXT,
    )
)
DISK = thing(
    "name",
    name=TEXT,
    bootOrder={"type": "integer", "minimum": 1},
    disk=thing(bus=TEXT, readonly=FLAG),
    cdrom=thing(bus=TEXT, readonly=FLAG),
    cache=TEXT,
    io=TEXT,
    serial=TEXT,
)
INTERFACE = thing(
    "name",
    name=TEXT,
    model=TEXT,
    macAddress=TEXT,
    bootOrder=NUMBER,
    bridge=EMPTY,
    masquerade=EMPTY,
    sriov=EMPTY,
)
CLOUD_INIT = thing(
    secretRef=REFERENCE,
    networkDataSecretRef=REFERENCE,
    userData=TEXT,
    userDataBase64=TEXT,
    networkData=TEXT,
    networkDataBase64=TEXT,
)
VOLUME = thing(
    "name",
    name=TEXT,
    cloudInitNoCloud=CLOUD_INIT,
    cloudInitConfigDrive=CLOUD_INIT,
    containerDisk=thing("image", image=TEXT),
    dataVolume=thing("name", name=TEXT, hotpluggable=FLAG),
    persistentVolumeClaim=thing("claimName", claimName=TEXT, readOnly=FLAG, hotpluggable=FLAG),
    emptyDisk=thing("capacity", capacity=AMOUNT),
)
DOMAIN = thing(
    "devices",
    cpu=thing(cores=NUMBER, sockets=NUMBER, threads=NUMBER, model=TEXT, dedicatedCpuPlacement=FLAG),
    memory=thing(guest=AMOUNT, hugepages=thing(pageSize=TEXT)),
    resources=RESOURCES,
    machine=thing(type=TEXT),
    firmware=FREE,
    features=FREE,
    devices=thing(disks=several(DISK), interfaces=several(INTERFACE), rng=EMPTY, inputs=several(FREE)),
)
NETWORK = thing(
    "name", name=TEXT, multus=thing("networkName", networkName=TEXT, default=FLAG), pod=thing(vmNetworkCIDR=TEXT)
)
INSTANCE_SPEC = thing(
    "domain",
    domain=DOMAIN,
    networks=several(NETWORK),
    volumes=several(VOLUME),
    hostname=TEXT,
    evictionStrategy=TEXT,
    terminationGracePeriodSeconds=NUMBER,
    nodeSelector=mapping(TEXT),
    affinity=FREE,
    tolerations=several(FREE),
)
STORAGE = thing(accessModes=several(TEXT), volumeMode=TEXT, storageClassName=TEXT, resources=RESOURCES)
DATA_VOLUME_SPEC = thing(
    source=thing(blank=EMPTY, pvc=thing("name", "namespace", name=TEXT, namespace=TEXT), http=thing("url", url=TEXT)),
    pvc=STORAGE,
    storage=STORAGE,
)
METADATA = thing(
    name=TEXT,
    namespace=TEXT,
    labels=mapping(TEXT),
    annotations=mapping(TEXT),
    creationTimestamp={**TEXT, "nullable": True},
)
VIRTUAL_MACHINE = thing(
    "template",
    runStrategy=TEXT,
    running=FLAG,
    dataVolumeTemplates=several(thing("spec", metadata={**METADATA, "nullable": True}, spec=DATA_VOLUME_SPEC)),
    template=thing(metadata={**METADATA, "nullable": True}, spec=INSTANCE_SPEC),
)
INTERFACES = several(
    thing(
        name=TEXT,
        mac=TEXT,
        ipAddress=TEXT,
        ipAddresses=several(TEXT),
        infoSource=TEXT,
        interfaceName=TEXT,
        queueCount=NUMBER,
    )
)
IMAGE = thing(
    "displayName",
    "sourceType",
    displayName=TEXT,
    description=TEXT,
    url=TEXT,
    checksum=TEXT,
    pvcName=TEXT,
    pvcNamespace=TEXT,
    sourceType=word("download", "upload", "export-from-volume", "restore", "clone"),
    retry={"type": "integer", "minimum": 0, "default": 3},
    backend={**word("backingimage", "cdi"), "default": "backingimage"},
    targetStorageClassName=TEXT,
    storageClassParameters=mapping(TEXT),
)
IMAGE_STATUS = thing(
    appliedUrl=TEXT,
    conditions=CONDITIONS,
    failed=NUMBER,
    lastFailedTime=TEXT,
    progress=NUMBER,
    size=NUMBER,
    virtualSize=NUMBER,
    storageClassName=TEXT,
    backingImageName=TEXT,
    targetStorageClassName=TEXT,
)


def definitions(machine: Schema = VIRTUAL_MACHINE) -> list[dict[str, Any]]:
    """The CustomResourceDefinitions; what KubeVirt takes may be given as KubeVirt itself has it."""
    instance = machine["properties"]["template"]["properties"]["spec"]
    volume = machine["properties"]["dataVolumeTemplates"]["items"]["properties"]["spec"]
    shown = thing(printableStatus=TEXT, ready=FLAG, created=FLAG, runStrategy=TEXT, conditions=CONDITIONS)
    running = thing(phase=TEXT, interfaces=INTERFACES, conditions=CONDITIONS, nodeName=TEXT)
    return [
        _definition(kinds.VIRTUAL_MACHINE, "spec", spec=machine, status=shown),
        _definition(kinds.INSTANCE, "spec", spec=instance, status=running),
        _definition(kinds.DATA_VOLUME, "spec", spec=volume, status=thing(phase=TEXT, progress=TEXT)),
        _definition(kinds.IMAGE, "spec", spec=IMAGE, status=IMAGE_STATUS),
        _definition(kinds.SETTING, value=TEXT, default=TEXT, source=TEXT, customized=FLAG, status=FREE),
        _definition(kinds.NETWORK, spec=thing(config=TEXT)),
    ]


def _definition(kind: Address, *required: str, **properties: Schema) -> dict[str, Any]:
    own = {"apiVersion": TEXT, "kind": TEXT, "metadata": {"type": "object"}}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": thing(*required, **own, **properties)},
        **({"subresources": {"status": {}}} if "status" in properties else {}),
    }
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural, "singular": kind.kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.name},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": names,
            "versions": [version],
        },
    }
