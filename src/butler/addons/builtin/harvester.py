"""What clusters on Harvester can have.

There is no cloud controller: Cluster API's KubeVirt provider gives nodes their providerIDs itself, and Harvester's own
controller would give them others. Nor is the CSI driver part of a cluster by itself: the chart ties its controllers to
nodes of a control plane, which no value takes back."""

from __future__ import annotations

from .entry import COUNT, MAP, TEXT, Entry, fields

STORAGE, SECRET = "harvester-csi-driver", "harvester-cloud-config"

ENTRIES = (
    Entry(
        STORAGE, "Harvester CSI driver", "storage", "0.1.31", "https://charts.harvesterhci.io",
        "Volumes of Harvester. Its controllers run only on nodes that carry the label of a control plane, so"
        " somebody has to put node-role.kubernetes.io/control-plane=true on some workers first.",
        namespace="kube-system", providers=("harvester",), tier="infrastructure",
        documentation="https://docs.harvesterhci.io", source="https://github.com/harvester/harvester-csi-driver",
        values={"cloudConfig": {"secretName": SECRET}, "hostStorageClass": "$(provider.storageClass)"},
        schema=fields(
            cloudConfig=fields(secretName=TEXT, hostPath=TEXT), hostStorageClass=TEXT, replicasCount=COUNT,
            tolerations={"type": "array"}, resources=MAP,
        ),
    ),
)  # fmt: skip
