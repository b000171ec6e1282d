"""The fields of TenantCluster, Team and ButlerConfig, proven on a cluster that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.fields.cluster_world import VERSION, Setting, acts, refused
from tests.fields.proof import Proof, Refusal

ENVIRONMENT = {"butler.butlerlabs.dev/environment": "prod"}
OWNER = {"butler.butlerlabs.dev/owner": "me@example.com"}
CREDENTIALS = {"credentialsRef": {"name": "login"}}
HARVESTER: dict[str, Any] = {
    **CREDENTIALS, "provider": "harvester", "harvester": {"networkName": "default/vms", "imageName": "default/rocky"},
}  # fmt: skip
UUIDS = {
    f"{name}UUID": f"0005b0f1-0000-4000-8000-00000000000{n}" for n, name in enumerate(("cluster", "subnet", "image"))
}
NUTANIX: dict[str, Any] = {
    **CREDENTIALS, "provider": "nutanix", "nutanix": {"endpoint": "https://prism.example.com", **UUIDS},
}  # fmt: skip
PROXMOX: dict[str, Any] = {
    **CREDENTIALS,
    "provider": "proxmox",
    "proxmox": {
        "endpoint": "https://pve.example.com:8006", "nodes": ["a", "b"], "storage": "local", "bridge": "vmbr0",
        "templateID": 9000, "workerAddresses": ["10.0.0.50-10.0.0.60"],
    },
    "network": {"subnet": "10.0.0.0/24", "gateway": "10.0.0.1", "dnsServers": ["10.0.0.2"]},
}  # fmt: skip
GCP: dict[str, Any] = {
    **CREDENTIALS,
    "provider": "gcp",
    "gcp": {"projectID": "p", "region": "europe-west3", "network": "default", "image": "ubuntu"},
}
POOLS = Setting({"workers": {"pools": [{"name": "gpu", "replicas": 1}]}})
SCALED = Setting({"workers": {"pools": [{"name": "gpu", "minReplicas": 1, "maxReplicas": 5}]}})
TAINTED = Setting(
    {"workers": {"pools": [{"name": "gpu", "replicas": 1, "taints": [{"key": "gpu", "effect": "NoSchedule"}]}]}}
)
RUNNING = {"phase": "Running"}
ADDONS = ("cilium", "cert-manager", "traefik")
RELEASED = {"cilium": "1.17.0", "cert-manager": "v1.16.2", "traefik": "34.3.0"}


def installed(**versions: str) -> dict[str, Any]:
    """The status of a cluster that has all its addons."""
    here = {**RELEASED, **versions}
    found = [
        {"name": name, "version": version, "status": "Healthy", "managedBy": "butler"} for name, version in here.items()
    ]
    said = {
        "type": "AddonsReady", "status": "True", "reason": "AddonsInstalled", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    return {
        "phase": "Running",
        "conditions": [said],
        "observedState": {"kubernetesVersion": VERSION, "addons": found},
    }


def _template(path: str, setting: Setting) -> Iterator[tuple[str, Proof]]:
    yield acts(f"{path}.cpu", 2, 8, setting)
    yield acts(f"{path}.memory", "8Gi", "16Gi", setting)
    yield acts(f"{path}.diskSize", "40Gi", "80Gi", setting)
    yield acts(f"{path}.disk", "40Gi", "80Gi", setting)
    yield acts(f"{path}.os.imageRef", "a/rocky", "a/ubuntu", replace(setting, provider=HARVESTER))
    yield acts(f"{path}.os.sshAuthorizedKey", "ssh-ed25519 one", "ssh-ed25519 two", setting)


def _resources(path: str) -> Iterator[tuple[str, Proof]]:
    for component in ("apiServer", "controllerManager", "scheduler", "konnectivity"):
        for bound in ("requests", "limits"):
            yield acts(f"{path}.{component}.{bound}.cpu", "1", "2")
            yield acts(f"{path}.{component}.{bound}.memory", "1Gi", "2Gi")


def _addon(name: str, setting: Setting | None = None) -> Iterator[tuple[str, Proof]]:
    path = f"TenantCluster.spec.addons.{name}"
    yield acts(f"{path}.version", "1.0.0", "2.0.0", setting)
    yield acts(f"{path}.values", {"size": 1}, {"size": 2}, setting)


def _cluster() -> Iterator[tuple[str, Proof]]:
    spec = "TenantCluster.spec"
    yield acts(f"{spec}.kubernetesVersion", "v1.31.4", "v1.32.2")
    yield acts(f"{spec}.workers.replicas", 1, 2)
    yield from _template(f"{spec}.workers.machineTemplate", Setting())
    pool = f"{spec}.workers.pools[]"
    yield from _template(f"{pool}.machineTemplate", POOLS)
    yield acts(f"{pool}.name", "gpu", "cpu", POOLS)
    yield acts(f"{pool}.replicas", 1, 2, POOLS)
    yield acts(f"{pool}.minReplicas", 1, 2, SCALED)
    yield acts(f"{pool}.maxReplicas", 5, 6, SCALED)
    yield acts(f"{pool}.labels", {"tier": "gold"}, {"tier": "silver"}, POOLS)
    yield acts(f"{pool}.taints[].key", "gpu", "cpu", TAINTED)
    yield acts(f"{pool}.taints[].value", "one", "two", TAINTED)
    yield acts(f"{pool}.taints[].effect", "NoSchedule", "NoExecute", TAINTED)
    yield acts(f"{pool}.failureDomain", "zone-a", "zone-b", POOLS)
    plane = f"{spec}.controlPlane"
    yield acts(f"{plane}.replicas", 1, 3)
    yield acts(f"{plane}.serviceType", "LoadBalancer", "NodePort")
    yield acts(f"{plane}.externalCloudProvider", True, False, Setting(provider=GCP))
    yield acts(f"{plane}.certSANs", ["a.example.com"], ["b.example.com"])
    yield acts(f"{plane}.dataStoreRef.name", "one", "two")
    yield from _resources(f"{plane}.resources")
    yield acts(f"{spec}.networking.podCIDR", "10.100.0.0/16", "10.101.0.0/16")
    yield acts(f"{spec}.networking.serviceCIDR", "10.200.0.0/16", "10.201.0.0/16")
    yield from _addon("cni")
    yield from _addon("certManager")
    yield acts(f"{spec}.addons.certManager.enabled", True, False)
    yield acts(f"{spec}.addons.storage.provider", "longhorn", "linstor")
    yield from _addon("storage", Setting({"addons": {"storage": {"provider": "longhorn"}}}))
    yield acts(f"{spec}.addons.storage.enabled", True, False)
    yield from _addon("loadBalancer")
    yield acts(f"{spec}.addons.loadBalancer.enabled", True, False)
    yield from _addon("metricsServer")
    yield acts(f"{spec}.addons.metricsServer.enabled", True, False)
    yield acts(f"{spec}.addons.ingress.enabled", True, False)
    yield acts(f"{spec}.addons.ingress.provider", "traefik", "nginx")
    yield from _addon("ingress")
    yield acts(f"{spec}.providerConfigRef.name", "lab", "nowhere")
    yield acts(
        f"{spec}.providerConfigRef.namespace",
        "butler-system",
        "elsewhere",
        Setting({"providerConfigRef": {"name": "lab"}}),
    )
    yield acts(f"{spec}.teamRef.name", "web", "nobody", Setting(team={}))
    yield acts(f"{spec}.timeServers", ["a.example.com"], ["b.example.com"])
    edited = Setting(status=installed(cilium="1.16.0"))
    yield acts(f"{spec}.managementPolicy.mode", "Active", "Observe", edited)


def _overrides() -> Iterator[tuple[str, Proof]]:
    path = "TenantCluster.spec.infrastructureOverride"
    for provider, fields in (
        (HARVESTER, {"namespace": ("a", "b"), "networkName": ("a/one", "a/two"), "imageName": ("a/one", "a/two")}),
        (NUTANIX, dict.fromkeys(UUIDS, (UUIDS["clusterUUID"][:-1] + "8", UUIDS["clusterUUID"][:-1] + "9"))),
        (PROXMOX, {"node": ("a", "b"), "storage": ("one", "two"), "templateID": (100, 101)}),
        (GCP, {"zone": ("europe-west3-b", "europe-west3-c"), "subnetwork": ("one", "two"), "image": ("one", "two"),
               "machineType": ("n2-standard-4", "n2-standard-8"), "imageFamily": ("one", "two")}),
    ):  # fmt: skip
        for field, (one, other) in fields.items():
            yield acts(f"{path}.{provider['provider']}.{field}", one, other, Setting(provider=provider, status=RUNNING))


def _defaults(path: str, setting: Setting) -> Iterator[tuple[str, Proof]]:
    """What a cluster gets that does not say."""
    yield acts(f"{path}.kubernetesVersion", "v1.30.1", "v1.31.4", setting)
    yield acts(f"{path}.workerCount", 1, 2, setting)
    yield acts(f"{path}.workerCPU", 2, 6, setting)
    yield acts(f"{path}.workerMemoryGi", 8, 16, setting)
    yield acts(f"{path}.workerDiskGi", 40, 80, setting)
    yield acts(f"{path}.defaultAddons", [], ["velero"], setting)
    yield acts(f"{path}.addonValues", {"traefik": {"size": 1}}, {"traefik": {"size": 2}}, setting)


def _team() -> Iterator[tuple[str, Proof]]:
    spec = "Team.spec"
    silent: dict[str, Any] = {"kubernetesVersion": None, "workers": {}}
    unsaid = Setting(silent, team={})
    yield from _defaults(f"{spec}.clusterDefaults", unsaid)
    yield acts(f"{spec}.defaults.kubernetesVersion", "v1.30.1", "v1.31.4", unsaid)
    yield acts(f"{spec}.defaults.workers.replicas", 1, 2, unsaid)
    for field, one, other in (
        ("cpu", "2", "6"),
        ("memory", "8Gi", "16Gi"),
        ("diskSize", "40Gi", "80Gi"),
        ("disk", "40Gi", "80Gi"),
    ):
        yield acts(f"{spec}.defaults.workers.machineTemplate.{field}", one, other, unsaid)
    several = Setting(team={}, older=2)
    for path, least in (
        ("resourceLimits.maxClusters", 2),
        ("resourceLimits.maxTotalNodes", 5),
        ("resourceLimits.maxNodesPerCluster", 1),
        ("resourceLimits.maxCPUCores", "23"),
        ("resourceLimits.maxMemory", "47Gi"),
        ("resourceLimits.maxStorage", "239Gi"),
        ("quotas.maxClusters", 2),
        ("quotas.maxTotalWorkers", 5),
        ("quotas.maxWorkersPerCluster", 1),
    ):
        yield acts(f"{spec}.{path}", least, "1Ti" if isinstance(least, str) else 100, several)
    limits = f"{spec}.resourceLimits"
    yield acts(f"{limits}.defaultCPUPerNode", "2", "6", unsaid)
    yield acts(f"{limits}.defaultMemoryPerNode", "8Gi", "16Gi", unsaid)
    yield acts(f"{limits}.allowedKubernetesVersions", [VERSION], ["v1.30.0"], several)
    yield acts(f"{limits}.allowedProviders", ["lab"], ["other"], several)
    yield acts(f"{limits}.allowedAddons", list(ADDONS), ["cilium"], several)
    yield acts(f"{limits}.deniedAddons", ["longhorn"], ["traefik"], several)
    yield acts(f"{spec}.providerConfigRef.name", "lab", "default", Setting(team={}))
    place = {"environments": [{"name": "prod"}]}
    inside = Setting(team=place, labels=ENVIRONMENT, annotations=OWNER, older=2)
    environment = f"{spec}.environments[]"
    limited = {"environments": [{"name": "prod", "limits": {"maxClusters": 1}}]}
    yield acts(f"{environment}.name", "prod", "staging", Setting(team=limited, labels=ENVIRONMENT, older=2))
    yield acts(f"{environment}.limits.maxClusters", 1, 10, inside)
    yield acts(f"{environment}.limits.maxClustersPerMember", 1, 10, inside)
    yield from _defaults(f"{environment}.clusterDefaults", Setting(silent, team=place, labels=ENVIRONMENT))


def _config() -> Iterator[tuple[str, Proof]]:
    spec, several = "ButlerConfig.spec", Setting(team={}, older=2)
    yield acts(f"{spec}.multiTenancy.mode", "Disabled", "Enforced")
    yield acts(f"{spec}.defaultNamespace", "butler-tenants", "elsewhere")
    yield acts(f"{spec}.defaultProviderConfigRef.name", "lab", "default")
    yield acts(f"{spec}.defaultProviderConfigRef.namespace", "butler-system", "elsewhere")
    yield acts(f"{spec}.defaultTeamLimits.maxClusters", 2, 10, several)
    yield acts(f"{spec}.defaultTeamLimits.maxWorkersPerCluster", 1, 10, several)
    for size, least in (("maxTotalCPU", "23"), ("maxTotalMemory", "47Gi"), ("maxTotalStorage", "239Gi")):
        yield acts(f"{spec}.defaultTeamLimits.{size}", least, "1Ti", several)
    everything = Setting({"addons": {"storage": {"provider": "longhorn"}, "loadBalancer": {}}})
    for addon in ("cilium", "certManager", "longhorn", "metallb", "traefik", "metricsServer"):
        yield acts(f"{spec}.defaultAddonVersions.{addon}", "1.0.0", "2.0.0", everything)
    yield from _resources(f"{spec}.defaultControlPlaneResources")
    yield acts(f"{spec}.defaultTimeServers", ["a.example.com"], ["b.example.com"])
    yield acts(f"{spec}.sshAuthorizedKey", "ssh-ed25519 one", "ssh-ed25519 two")


def _refused() -> Iterator[tuple[str, Refusal]]:
    spec = "TenantCluster.spec"
    yield refused(
        f"{spec}.controlPlane.type", "Standalone", 'Unsupported value: "Standalone": supported values: "Hosted"'
    )
    yield refused(f"{spec}.addons.cni.provider", "calico", 'Unsupported value: "calico": supported values: "cilium"')
    yield refused(
        f"{spec}.addons.loadBalancer.provider", "other", 'Unsupported value: "other": supported values: "metallb"'
    )
    waiting = "schematic 37656798 would have to be brought to the provider, which nothing does yet"
    yield refused(f"{spec}.workers.machineTemplate.os.schematicID", "376567988ad370138a", waiting)
    yield refused(f"{spec}.workers.pools[].machineTemplate.os.schematicID", "376567988ad370138a", waiting, POOLS)


PROOFS: dict[str, Proof] = dict([*_cluster(), *_overrides(), *_team(), *_config()])
REFUSALS: dict[str, Refusal] = dict(_refused())
MISTAKES: dict[str, Refusal] = dict(
    [
        refused("TenantCluster.spec.managementPolicy.mode", "GitOps", 'supported values: "Active", "Observe"'),
        refused(
            "TenantCluster.spec.infrastructureOverride.nutanix.clusterUUID",
            UUIDS["clusterUUID"],
            "spec.infrastructureOverride.nutanix: Forbidden: ProviderConfig lab, which the cluster is on, is for sim",
        ),
    ]
)
"""Values that are refused of fields that act otherwise."""
