"""Addons of simulated clusters: written down in the cluster, and that is all."""

from __future__ import annotations

from collections.abc import Sequence

from butler.api.model import GROUP
from butler.engines.addons import Addon, Installed
from kubekit.client.protocol import Client
from kubekit.errors import AlreadyExists
from kubekit.model.resource import Address

CONFIG_MAP = Address("", "v1", "ConfigMap", "configmaps", True)
MANAGER = "butler-simulation"
NAME, NAMESPACE = "butler-addons", "kube-system"
"""Where it stands, in the tenant's API: each addon with its version."""

REMARK = "only recorded, since the cluster is simulated"


class RecordingInstaller:
    """`butler.engines.addons.Installer` for clusters in which nothing could run."""

    async def install(self, tenant: Client, addons: Sequence[Addon]) -> tuple[Installed, ...]:
        versions = {addon.name: addon.version for addon in addons}
        metadata = {"name": NAME, "namespace": NAMESPACE, "labels": {f"{GROUP}/simulated": "true"}}
        record = {"apiVersion": "v1", "kind": CONFIG_MAP.kind, "metadata": metadata, "data": versions}
        try:
            await tenant.create(record, CONFIG_MAP, manager=MANAGER)
        except AlreadyExists:
            # Only what is missing is asked for, so what stands there already stays.
            await tenant.patch(CONFIG_MAP, NAME, {"data": versions}, NAMESPACE, manager=MANAGER)
        return tuple(Installed(addon.name, addon.version, remark=REMARK) for addon in addons)
