"""The fields of each provider's section: another value, and something else is asked of the infrastructure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.running import loopback_tls
from tests.fields.infrastructures import ABSENT, Infrastructure, asked_of, put
from tests.fields.proof import Proof

_NOWHERE = "http://127.0.0.1:9"
_NETWORK = {"network.subnet": "10.0.0.0/24", "network.gateway": "10.0.0.1", "network.dnsServers": ["10.0.0.53"]}
_WORKERS = {**_NETWORK, "proxmox.workerAddresses": ["10.0.0.10-10.0.0.20"]}


def _field(
    path: str, one: Any, other: Any, kind: str = "", by_tls: bool = False, base: Mapping[str, Any] | None = None
) -> Proof:
    """A field of a section, or with a kind one of all providers; functions are given the fake. `base` is what else is
    different from the usual account. By TLS, nobody trusts the fake yet."""

    async def observe(value: Any) -> object:
        def change(there: Infrastructure, spec: dict[str, Any]) -> None:
            for name, given in {**(base or {}), path: value}.items():
                put(spec, name, given(there) if callable(given) else given)

        return await asked_of(kind or path.partition(".")[0], change, by_tls=by_tls)

    return Proof(observe, one, other)


def _port(there: Infrastructure) -> int:
    return int(there.url.rpartition(":")[2])


def _url(there: Infrastructure) -> str:
    return there.url


def _authority(_: Infrastructure) -> str:
    return loopback_tls.authority()


def _subnets(there: Infrastructure) -> list[str]:
    found: list[str] = there.harness.aws.subnets()[1:2]  # type: ignore[attr-defined]
    return found


_HARVESTER = {
    "endpoint": _field("harvester.endpoint", ABSENT, "https://127.0.0.1:9"),
    "proxy": _field("harvester.proxy", ABSENT, _NOWHERE),
    "namespace": _field("harvester.namespace", "default", "other"),
    "networkName": _field("harvester.networkName", "default/workloads", "default/none"),
    "imageName": _field("harvester.imageName", "default/talos-1.9", "default/none"),
    "storageClassName": _field("harvester.storageClassName", ABSENT, "fast"),
    "imageStorageClassName": _field("harvester.imageStorageClassName", ABSENT, "lh-image"),
    "context": _field("harvester.context", ABSENT, "another"),
    "insecure": _field("harvester.insecure", False, True, by_tls=True),
}

_NUTANIX = {
    "endpoint": _field("nutanix.endpoint", _url, _NOWHERE, base={"nutanix.port": ABSENT}),
    "port": _field("nutanix.port", _port, 9, base={"nutanix.endpoint": "http://127.0.0.1"}),
    "insecure": _field("nutanix.insecure", ABSENT, True, by_tls=True),
    "prismCentral.address": _field(
        "nutanix.prismCentral.address", _url, _NOWHERE, base={"nutanix.endpoint": ABSENT, "nutanix.port": ABSENT}
    ),
    "prismCentral.port": _field(
        "nutanix.prismCentral.port", _port, 9, base={"nutanix.endpoint": "http://127.0.0.1", "nutanix.port": ABSENT}
    ),
    "prismCentral.insecure": _field("nutanix.prismCentral.insecure", False, True, by_tls=True),
    **{
        f"{entity}{leaf}": _field(
            f"nutanix.{entity}{leaf}",
            there,
            "0005b0f1-0000-4000-8000-00000000dead" if "uuid" in leaf.lower() else "nowhere",
            base={} if leaf == "UUID" else {f"nutanix.{entity}UUID": ABSENT},
        )
        for entity, number, name in (
            ("cluster", "100", "cluster-01"),
            ("subnet", "110", "workload-subnet"),
            ("image", "120", "talos-1.9"),
            ("storageContainer", "130", "default-container"),
        )
        for leaf, there in (("UUID", f"0005b0f1-0000-4000-8000-000000000{number}"), (".name", name),
                            (".uuid", f"0005b0f1-0000-4000-8000-000000000{number}"))
    },
    "bootType": _field("nutanix.bootType", "legacy", "uefi"),
    "proxy": _field("nutanix.proxy", ABSENT, _NOWHERE),
    "tenantCredentialsName": _field("nutanix.tenantCredentialsName", ABSENT, "prism"),
}  # fmt: skip

_PROXMOX = {
    "endpoint": _field("proxmox.endpoint", _url, _NOWHERE),
    "insecure": _field("proxmox.insecure", False, True, by_tls=True),
    "caBundle": _field("proxmox.caBundle", ABSENT, _authority, by_tls=True),
    "proxy": _field("proxmox.proxy", ABSENT, _NOWHERE),
    "nodes": _field("proxmox.nodes", ["pve1"], ["pve2"]),
    "storage": _field("proxmox.storage", "ceph", "local-lvm"),
    "isoStorage": _field("proxmox.isoStorage", ABSENT, "nowhere"),
    "imageStorage": _field("proxmox.imageStorage", ABSENT, "nowhere"),
    "templateID": _field("proxmox.templateID", 9000, 4711),
    "template": _field("proxmox.template", "talos", "nothing", base={"proxmox.templateID": ABSENT}),
    "image": _field("proxmox.image", ABSENT, "local:import/flatcar.qcow2", base={"proxmox.templateID": ABSENT}),
    "fullClone": _field("proxmox.fullClone", True, False),
    "bridge": _field("proxmox.bridge", ABSENT, "vmbr1"),
    "vlan": _field("proxmox.vlan", ABSENT, 40),
    "cpuType": _field("proxmox.cpuType", ABSENT, "host"),
    "pool": _field("proxmox.pool", ABSENT, "tenants"),
    "vmidRange.start": _field("proxmox.vmidRange.start", 200, 300, base={"proxmox.vmidRange": {"end": 400}}),
    "vmidRange.end": _field("proxmox.vmidRange.end", 200, 400, base={"proxmox.vmidRange": {"start": 200}}),
    "workerAddresses": _field("proxmox.workerAddresses", ["10.0.0.10-10.0.0.20"], ["10.0.0.9"], base=_NETWORK),
}

_AZURE = {
    "subscriptionID": _field("azure.subscriptionID", "0aa1b2c3-1111-4222-8333-944455556666", "another"),
    "resourceGroup": _field("azure.resourceGroup", "Butler-RG", "another"),
    "tenantID": _field("azure.tenantID", ABSENT, "example.com"),
    "clientID": _field("azure.clientID", ABSENT, "another"),
    "location": _field("azure.location", "westeurope", "northeurope"),
    "vnetName": _field("azure.vnetName", "machines", "another"),
    "subnetName": _field("azure.subnetName", "nodes", "another"),
    "vmSize": _field("azure.vmSize", ABSENT, "Standard_D4s_v3"),
    "imageURN": _field("azure.imageURN", "a:b:c:1.0.0", "a:b:c:2.0.0"),
    "securityGroupName": _field("azure.securityGroupName", ABSENT, "nodes"),
    "zone": _field("azure.zone", ABSENT, "2"),
    "diskType": _field("azure.diskType", ABSENT, "StandardSSD_LRS"),
    "sshPublicKey": _field("azure.sshPublicKey", ABSENT, "ssh-ed25519 AAAA"),
    "loadBalancer": _field("azure.loadBalancer", "public", "internal"),
    "environment": _field("azure.environment", "AzurePublicCloud", "AzureChinaCloud"),
    "endpoint": _field("azure.endpoint", _url, "https://127.0.0.1:9"),
    "authority": _field("azure.authority", _url, "https://127.0.0.1:9"),
    "caBundle": _field("azure.caBundle", ABSENT, _authority),
    "proxy": _field("azure.proxy", ABSENT, _NOWHERE),
}

_AWS = {
    "region": _field("aws.region", "eu-central-1", "eu-west-1"),
    "vpcID": _field("aws.vpcID", ABSENT, "vpc-0123456789abcdef0"),
    "subnetIDs": _field("aws.subnetIDs", ABSENT, _subnets),
    "securityGroupIDs": _field("aws.securityGroupIDs", ABSENT, ["sg-0123456789abcdef0"]),
    "image": _field("aws.image", "ssm:/talos/ami", "ssm:/flatcar/ami"),
    "imageOwners": _field("aws.imageOwners", ABSENT, ["540036508848"], base={"aws.image": "talos-*"}),
    "instanceType": _field("aws.instanceType", ABSENT, "m5.xlarge"),
    "publicIP": _field("aws.publicIP", True, False),
    "iamInstanceProfile": _field("aws.iamInstanceProfile", ABSENT, "nodes"),
    "volumeType": _field("aws.volumeType", "gp3", "io2"),
    "kmsKeyID": _field("aws.kmsKeyID", ABSENT, "alias/disks"),
    "loadBalancerScheme": _field("aws.loadBalancerScheme", "internet-facing", "internal"),
    "imageBucket": _field("aws.imageBucket", "talos-images", "another"),
    "imageImportRole": _field("aws.imageImportRole", "vmimport", "another"),
    "endpoint": _field("aws.endpoint", _url, _NOWHERE),
    "insecure": _field("aws.insecure", False, True, by_tls=True),
    "proxy": _field("aws.proxy", ABSENT, _NOWHERE),
    "identityRef.kind": _field(
        "aws.identityRef.kind", "AWSClusterStaticIdentity", "AWSClusterRoleIdentity",
        base={"aws.identityRef": {"name": "a"}},
    ),
    "identityRef.name": _field(
        "aws.identityRef.name", "a", "b", base={"aws.identityRef": {"kind": "AWSClusterRoleIdentity"}}
    ),
}  # fmt: skip

_GCP = {
    "projectID": _field("gcp.projectID", "butler-test", "another-one"),
    "region": _field("gcp.region", "us-central1", "europe-west3"),
    "zone": _field("gcp.zone", ABSENT, "us-central1-b"),
    "network": _field("gcp.network", ABSENT, "another"),
    "subnetwork": _field("gcp.subnetwork", ABSENT, "another"),
    "machineType": _field("gcp.machineType", ABSENT, "n2-standard-8"),
    "diskType": _field("gcp.diskType", ABSENT, "pd-ssd"),
    "image": _field("gcp.image", ABSENT, "talos-v1-11"),
    "imageFamily": _field("gcp.imageFamily", "talos", "flatcar"),
    "imageProject": _field("gcp.imageProject", "talos-images", "another"),
    "serviceAccount": _field("gcp.serviceAccount", ABSENT, "nodes@butler-test.iam.gserviceaccount.com"),
    "tags": _field("gcp.tags", ABSENT, ["nodes"]),
    "publicIP": _field("gcp.publicIP", ABSENT, False),
    "loadBalancer": _field("gcp.loadBalancer", "external", "internal"),
    "endpoint": _field("gcp.endpoint", _url, _NOWHERE),
    "resourceManagerEndpoint": _field("gcp.resourceManagerEndpoint", _url, _NOWHERE),
    "caBundle": _field("gcp.caBundle", ABSENT, _authority, by_tls=True),
    "proxy": _field("gcp.proxy", ABSENT, _NOWHERE),
}

SECTIONS = {
    "harvester": _HARVESTER,
    "nutanix": _NUTANIX,
    "proxmox": _PROXMOX,
    "azure": _AZURE,
    "aws": _AWS,
    "gcp": _GCP,
}
NETWORK = {
    "subnet": _field("network.subnet", "10.0.0.0/24", "10.0.0.0/16", "proxmox", base=_WORKERS),
    "gateway": _field("network.gateway", "10.0.0.1", "10.0.0.2", "proxmox", base=_WORKERS),
    "dnsServers": _field("network.dnsServers", ["10.0.0.53"], ["10.0.0.54"], "harvester"),
}
SECTION_PROOFS: dict[str, Proof] = {
    **{f"ProviderConfig.spec.{kind}.{name}": one for kind, fields in SECTIONS.items() for name, one in fields.items()},
    **{f"ProviderConfig.spec.network.{name}": one for name, one in NETWORK.items()},
}
