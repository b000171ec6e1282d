"""What clusters on Google Cloud need, by charts of our own: upstream has none.

Both take the service account of the machines; where the ProviderConfig has an account for clusters, Secrets have its
key instead."""

from __future__ import annotations

from ..bundled import REPOSITORY
from .entry import ANYWHERE, COUNT, EVERYWHERE, FLAG, MAP, OBJECTS, TEXT, TEXTS, Entry, fields

CONTROLLER, STORAGE = "gcp-cloud-controller-manager", "gcp-pd-csi-driver"
CONTROLLER_SECRET, STORAGE_SECRET, KEY = "gcp-cloud-credentials", "cloud-sa", "cloud-sa.json"
STORAGE_NAMESPACE = "gce-pd-csi-driver"
_PROVIDERS = ("gcp",)
_IMAGE = fields(repository=TEXT, tag=TEXT)

ENTRIES = (
    Entry(
        CONTROLLER, "Google Cloud controller", "other", "0.1.0", REPOSITORY,
        "Tells nodes who they are on Google Cloud, and makes load balancers for Services.",
        namespace="kube-system", providers=_PROVIDERS, for_nodes=True, tier="infrastructure",
        conflicts=("metallb", "kube-vip"),
        source="https://github.com/kubernetes/cloud-provider-gcp",
        values={
            "clusterName": "$(cluster.name)",
            "kubernetes": {"host": "$(cluster.endpoint.host)", "port": "$(cluster.endpoint.port)"},
            "cloudConfig": {
                "project": "$(provider.project)",
                "network": "$(provider.network)",
                "subnetwork": "$(provider.subnetwork)",
                "networkProject": "$(provider.networkProject)",
                "nodeTags": "$(provider.tags)",
                "nodeInstancePrefix": "$(cluster.name)",
            },
            "credentials": {"enabled": "$(provider.clusterCredentials)", "secretName": CONTROLLER_SECRET},
            "tolerations": EVERYWHERE,
        },
        schema=fields(
            clusterName=TEXT,
            image=_IMAGE,
            kubernetes=fields(host=TEXT, port=TEXT),
            cloudConfig=fields(
                project=TEXT, network=TEXT, subnetwork=TEXT, networkProject=TEXT, nodeTags=TEXTS,
                nodeInstancePrefix=TEXT, multizone=FLAG,
            ),
            credentials=fields(enabled=FLAG, secretName=TEXT, key=TEXT),
            controllers=TEXTS,
            extraArgs=TEXTS,
            tolerations=OBJECTS,
            resources=MAP,
        ),
    ),
    Entry(
        STORAGE, "Google Persistent Disk CSI driver", "storage", "0.1.0", REPOSITORY,
        "Volumes on persistent disks.",
        namespace=STORAGE_NAMESPACE, providers=_PROVIDERS, depends_on=(CONTROLLER,), tier="infrastructure",
        source="https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver",
        values={
            "credentials": {"enabled": "$(provider.clusterCredentials)", "secretName": STORAGE_SECRET},
            "controller": {"tolerations": ANYWHERE},
        },
        schema=fields(
            images=MAP,
            credentials=fields(enabled=FLAG, secretName=TEXT, key=TEXT),
            controller=fields(replicas=COUNT, tolerations=OBJECTS, resources=MAP),
            node=fields(tolerations=OBJECTS, resources=MAP),
            storageClass=fields(create=FLAG, name=TEXT, isDefault=FLAG, type=TEXT),
        ),
    ),
)  # fmt: skip
