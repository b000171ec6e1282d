"""What clusters on Proxmox VE can have where the ProviderConfig has an account for clusters, a token."""

from __future__ import annotations

from .entry import ANYWHERE, DEFAULT_CLASS, EVERYWHERE, FLAG, MAP, OBJECTS, TEXT, TEXTS, Entry, fields

CONTROLLER, STORAGE = "proxmox-cloud-controller-manager", "proxmox-csi-plugin"
SECRET, KEY = "proxmox-cloud-config", "config.yaml"
STORAGE_NAMESPACE = "csi-proxmox"
_PROVIDERS = ("proxmox",)
_CHARTS = "oci://ghcr.io/sergelogvinov/charts"
_FEATURES = {"features": {"provider": "capmox"}}
"""Nodes are known by the UUIDs of their VMs, as Cluster API knows them."""

ENTRIES = (
    Entry(
        CONTROLLER, "Proxmox cloud controller", "other", "0.2.28", _CHARTS,
        "Tells nodes on which host of Proxmox VE they are. Services get their addresses from others.",
        namespace="kube-system", providers=_PROVIDERS, for_nodes=True, tier="infrastructure",
        source="https://github.com/sergelogvinov/proxmox-cloud-controller-manager",
        values={
            # On the network of its host, so that it is there before the pod network is.
            "useDaemonSet": True,
            "tolerations": EVERYWHERE,
            "enabledControllers": ["cloud-node", "cloud-node-lifecycle"],
            "config": _FEATURES,
            "existingConfigSecret": SECRET,
            "existingConfigSecretKey": KEY,
        },
        schema=fields(
            useDaemonSet=FLAG, enabledControllers=TEXTS, config=fields(features=MAP, clusters=OBJECTS),
            existingConfigSecret=TEXT, existingConfigSecretKey=TEXT, nodeSelector=MAP, tolerations=OBJECTS,
        ),
    ),
    Entry(
        STORAGE, "Proxmox CSI driver", "storage", "0.5.9", _CHARTS,
        "Volumes on storages of Proxmox VE.",
        namespace=STORAGE_NAMESPACE, providers=_PROVIDERS, depends_on=(CONTROLLER,), tier="infrastructure",
        source="https://github.com/sergelogvinov/proxmox-csi-plugin",
        values={
            "config": _FEATURES,
            "existingConfigSecret": SECRET,
            "existingConfigSecretKey": KEY,
            "controller": {"tolerations": ANYWHERE},
            "storageClass": [
                {
                    "name": "proxmox",
                    "storage": "$(provider.storage)",
                    "reclaimPolicy": "Delete",
                    "fstype": "ext4",
                    "annotations": DEFAULT_CLASS,
                }
            ],
        },
        schema=fields(
            config=fields(features=MAP, clusters=OBJECTS), existingConfigSecret=TEXT, existingConfigSecretKey=TEXT,
            storageClass={
                "type": "array",
                "items": {**fields(name=TEXT, storage=TEXT, fstype=TEXT), "required": ["name", "storage"]},
            },
            controller=MAP, node=MAP,
        ),
    ),
)  # fmt: skip
