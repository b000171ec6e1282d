"""What clusters on Nutanix need; both need an account for clusters."""

from __future__ import annotations

from .entry import ANYWHERE, COUNT, FLAG, MAP, NO_CONTROL_PLANE, OBJECTS, TEXT, Entry, fields

CONTROLLER, STORAGE = "nutanix-cloud-provider", "nutanix-csi-storage"
CONTROLLER_SECRET, STORAGE_SECRET = "nutanix-creds", "ntnx-secret"
STORAGE_NAMESPACE = "ntnx-system"
_PROVIDERS = ("nutanix",)
_CHARTS = "https://nutanix.github.io/helm/"

ENTRIES = (
    Entry(
        CONTROLLER, "Nutanix cloud controller", "other", "0.6.2", _CHARTS,
        "Tells nodes who they are in Prism Central. Services get their addresses from others.",
        namespace="kube-system", providers=_PROVIDERS, for_nodes=True, tier="infrastructure",
        source="https://github.com/nutanix-cloud-native/cloud-provider-nutanix",
        values={
            "nodeSelector": NO_CONTROL_PLANE,
            "tolerations": ANYWHERE,
            "prismCentralEndPoint": "$(provider.host)",
            "prismCentralPort": "$(provider.port)",
            "prismCentralInsecure": "$(provider.insecure)",
            "createSecret": False,
            "secretName": CONTROLLER_SECRET,
        },
        schema=fields(
            prismCentralEndPoint=TEXT, prismCentralPort={"type": ["integer", "string"]}, prismCentralInsecure=FLAG,
            createSecret=FLAG, secretName=TEXT, nodeSelector=MAP, tolerations=OBJECTS,
        ),
    ),
    Entry(
        STORAGE, "Nutanix CSI driver", "storage", "2.6.10", _CHARTS,
        "Volumes of Prism Element by iSCSI: workers need iscsid, and the ProviderConfig says where Prism Element is.",
        namespace=STORAGE_NAMESPACE, providers=_PROVIDERS, depends_on=(CONTROLLER,), tier="infrastructure",
        source="https://github.com/nutanix/helm",
        values={
            "createSecret": False,
            "secretName": STORAGE_SECRET,
            "volumeClass": True,
            "defaultStorageClass": "volume",
            "prismEndPoint": "$(provider.prismElement)",
            "storageContainer": "$(provider.storageContainer)",
            # They take a port of their host, so no two are on one node.
            "controller": {"replicas": "$(cluster.smallReplicas)", "tolerations": ANYWHERE},
        },
        schema=fields(
            createSecret=FLAG, secretName=TEXT, volumeClass=FLAG, fileClass=FLAG,
            defaultStorageClass={"enum": ["none", "volume", "file", "dynfile"]},
            prismEndPoint=TEXT, storageContainer=TEXT, fsType=TEXT, controller=fields(replicas=COUNT), node=MAP,
        ),
    ),
)  # fmt: skip
