"""What clusters on Azure need.

Nodes learn who they are from the metadata service, without an account. Load balancers and disks take one: where the
ProviderConfig has an account for clusters, the Secret azure-cloud-provider has it."""

from __future__ import annotations

from .entry import ANYWHERE, COUNT, FLAG, MAP, NO_CONTROL_PLANE, OBJECTS, TEXT, Entry, fields, storage_class

CONTROLLER, STORAGE = "cloud-provider-azure", "azuredisk-csi-driver"
SECRET, KEY = "azure-cloud-provider", "cloud-config"
_PROVIDERS = ("azure",)
_RAW = "https://raw.githubusercontent.com/kubernetes-sigs"
_YES_OR_NO = {"enum": ["true", "false"]}

ENTRIES = (
    Entry(
        CONTROLLER, "Azure cloud controller", "other", "1.36.0", f"{_RAW}/cloud-provider-azure/master/helm/repo",
        "Tells nodes who they are on Azure, and makes load balancers for Services where it has an account.",
        namespace="kube-system", providers=_PROVIDERS, for_nodes=True, tier="infrastructure",
        conflicts=("metallb", "kube-vip"),
        # The chart chooses images by the version of Kubernetes, and knows none beyond its own.
        kubernetes=">=1.28 <1.37",
        documentation="https://cloud-provider-azure.sigs.k8s.io",
        source="https://github.com/kubernetes-sigs/cloud-provider-azure",
        values={
            "infra": {"clusterName": "$(cluster.name)"},
            "cloudControllerManager": {
                "enabled": "$(provider.clusterCredentials)",
                "nodeSelector": NO_CONTROL_PLANE,
                "tolerations": ANYWHERE,
                "clusterCIDR": "$(cluster.podCidr)",
                "allocateNodeCidrs": "false",
                "configureCloudRoutes": "false",
                # The Secret is read only without a file, and with reloading.
                "cloudConfig": "",
                "cloudConfigSecretName": SECRET,
                "enableDynamicReloading": "true",
            },
        },
        schema=fields(
            infra=fields(clusterName=TEXT),
            cloudControllerManager=fields(
                enabled=FLAG, replicas=COUNT, clusterCIDR=TEXT, allocateNodeCidrs=_YES_OR_NO,
                configureCloudRoutes=_YES_OR_NO, caCertDir=TEXT, imageTag=TEXT, nodeSelector=MAP, tolerations=OBJECTS,
            ),
            cloudNodeManager=fields(enabled=FLAG, imageTag=TEXT),
        ),
    ),
    Entry(
        STORAGE, "Azure Disk CSI driver", "storage", "1.34.5", f"{_RAW}/azuredisk-csi-driver/master/charts",
        "Volumes on managed disks; needs an account for clusters.",
        namespace="kube-system", providers=_PROVIDERS, depends_on=(CONTROLLER,), tier="infrastructure",
        documentation="https://github.com/kubernetes-sigs/azuredisk-csi-driver/tree/master/docs",
        source="https://github.com/kubernetes-sigs/azuredisk-csi-driver",
        values={
            "controller": {
                "replicas": "$(cluster.smallReplicas)",
                "runOnControlPlane": False,
                "cloudConfigSecretName": SECRET,
                "cloudConfigSecretNamespace": "kube-system",
                "tolerations": ANYWHERE,
            },
            "node": {"cloudConfigSecretName": SECRET, "cloudConfigSecretNamespace": "kube-system"},
        },
        schema=fields(
            controller=fields(replicas=COUNT, runOnControlPlane=FLAG, vmType=TEXT, tolerations=OBJECTS),
            node=fields(cloudConfigSecretName=TEXT, cloudConfigSecretNamespace=TEXT),
            snapshot=fields(enabled=FLAG),
        ),
        resources=(storage_class("managed-csi", "disk.csi.azure.com", skuName="StandardSSD_LRS"),),
    ),
)  # fmt: skip
