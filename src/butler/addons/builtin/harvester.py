"""What clusters on Harvester can have where the ProviderConfig has an account for clusters, a kubeconfig.

There is no cloud controller: Cluster API's KubeVirt provider gives nodes their providerIDs itself, and Harvester's own
controller would give them others. The chart of the CSI driver is our own: upstream's ties its controllers to nodes of a
control plane, which no value takes back."""

from __future__ import annotations

from ..bundled import REPOSITORY
from .entry import ANYWHERE, COUNT, FLAG, MAP, OBJECTS, TEXT, Entry, fields

STORAGE, SECRET, KEY = "harvester-csi-driver", "harvester-cloud-config", "cloud-provider-config"

ENTRIES = (
    Entry(
        STORAGE, "Harvester CSI driver", "storage", "0.1.0", REPOSITORY,
        "Volumes of Harvester; needs an account for clusters.",
        namespace="kube-system", providers=("harvester",), tier="infrastructure",
        documentation="https://docs.harvesterhci.io", source="https://github.com/harvester/harvester-csi-driver",
        values={
            "cloudConfig": {"secretName": SECRET},
            "hostStorageClass": "$(provider.storageClass)",
            "controller": {"replicas": "$(cluster.smallReplicas)", "tolerations": ANYWHERE},
        },
        schema=fields(
            images=MAP,
            cloudConfig=fields(secretName=TEXT),
            hostStorageClass=TEXT,
            controller=fields(replicas=COUNT, tolerations=OBJECTS, resources=MAP),
            node=fields(tolerations=OBJECTS, resources=MAP),
            storageClass=fields(create=FLAG, name=TEXT, isDefault=FLAG),
        ),
    ),
)  # fmt: skip
