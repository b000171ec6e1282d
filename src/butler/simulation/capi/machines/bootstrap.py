"""KubeadmConfig → the Secret a machine boots from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from butler.engines.capi.kinds import (
    CLUSTER_NAME,
    SECRET_TYPE,
    Cluster,
    DataInitialization,
    KubeadmConfig,
    KubeadmConfigStatus,
)
from butler.engines.core import Secret
from kubekit.errors import AlreadyExists
from kubekit.model.resource import ObjectMeta
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition, merged
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, Watch

from .. import names
from ..conditions import completed
from ..shared import BY_CLUSTER, Shared, has_controller, owned_by, pause_of, paused

MANAGER = "capi-kubeadm-bootstrap"
_FORMAT = "cloud-config"
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


class KubeadmConfigs(Reconciler[KubeadmConfig]):
    """KubeadmConfig → Secret, once there is a control plane to join."""

    kind = KubeadmConfig
    tells_conditions = False
    source = "kubeadmconfig-controller"
    permissions = (Permission(Secret, ("create",)),)

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.watches = (Watch(Cluster, self._of_cluster, matters=_state_of_cluster),)

    def _of_cluster(self, cluster: Cluster) -> Iterable[str]:
        return self._shared.configs.keys_by(BY_CLUSTER, cluster.key)

    async def reconcile(self, config: KubeadmConfig) -> Outcome:
        cluster = self._shared.cluster_of(config.metadata.namespace, config.metadata.labels.get(CLUSTER_NAME, ""))
        if cluster is None or not has_controller(config):
            return Outcome()
        if why := pause_of(cluster, config):
            return Outcome(_status(config, merged(config.status.conditions, paused(why))))
        if config.status.data_secret_name:
            return Outcome(self._written(config, config.status.data_secret_name))
        if waits_for := _obstacle(cluster):
            if left := self._shared.held_back(config.metadata):
                return Outcome(again=left)
            return Outcome(_status(config, _waiting(config, waits_for)))
        await self._write_secret(config, cluster)
        return Outcome(self._written(config, config.metadata.name))

    async def _write_secret(self, config: KubeadmConfig, cluster: Cluster) -> None:
        meta = config.metadata
        secret = Secret(
            metadata=ObjectMeta(
                name=meta.name,
                namespace=meta.namespace,
                labels={CLUSTER_NAME: cluster.metadata.name},
                owner_references=(structs.replace(owned_by(config, controls=True), block_owner_deletion=None),),
            ),
            type=SECRET_TYPE,
            data={"value": self._user_data(config, cluster), "format": _FORMAT.encode()},
        )
        try:
            await self._shared.client.create(secret, manager=MANAGER)
        except AlreadyExists:
            return

    def _user_data(self, config: KubeadmConfig, cluster: Cluster) -> bytes:
        """What a simulated machine boots from: it says so, and whom it may join. Never logged."""
        endpoint = cluster.spec.control_plane_endpoint
        address = f"{endpoint.host}:{endpoint.port or 6443}" if endpoint is not None else ""
        return (
            "## template: jinja\n"
            "#cloud-config\n"
            "# simulated: nothing ever executes this\n"
            f"hostname: {config.metadata.name}\n"
            f"{_ntp(config)}"
            "runcmd:\n"
            f"- kubeadm join {address} --token {self._token()}\n"
        ).encode()

    def _token(self) -> str:
        """A bootstrap token: six letters and sixteen more."""
        letters = "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in self._shared.chance.bytes(22))
        return f"{letters[:6]}.{letters[6:]}"

    def _written(self, config: KubeadmConfig, name: str) -> KubeadmConfigStatus:
        conditions = [
            condition("Ready", True, "Ready"),
            condition("CertificatesAvailable", True, "Available"),
            condition("DataSecretAvailable", True, "Available"),
            paused(""),
        ]
        status = _status(config, completed(config.status.conditions, conditions, config.metadata.generation))
        return structs.replace(
            status, data_secret_name=name, initialization=DataInitialization(data_secret_created=True)
        )


def _ntp(config: KubeadmConfig) -> str:
    """Where the machine asks for the time."""
    servers = (config.spec.get("ntp") or {}).get("servers") or ()
    return "".join(("ntp:\n  enabled: true\n  servers:\n", *(f"  - {one}\n" for one in servers))) if servers else ""


def _obstacle(cluster: Cluster) -> str:
    """What has to be there before a machine can join; empty when all is."""
    done = cluster.status.initialization
    if done is None or not done.infrastructure_provisioned:
        return "Waiting for the infrastructure of the Cluster to be provisioned"
    return "" if done.control_plane_initialized else "Waiting for the control plane of the Cluster to be initialized"


def _waiting(config: KubeadmConfig, message: str) -> tuple[Condition, ...]:
    conditions = [
        condition("Ready", False, "NotReady", f"* DataSecretAvailable: {message}"),
        condition("DataSecretAvailable", False, "NotAvailable", message),
        paused(""),
    ]
    return completed(config.status.conditions, conditions, config.metadata.generation)


def _status(config: KubeadmConfig, conditions: tuple[Condition, ...]) -> KubeadmConfigStatus:
    return structs.replace(config.status, conditions=conditions)


def _state_of_cluster(cluster: Cluster) -> tuple[Any, ...]:
    return cluster.status.initialization, cluster.spec.paused, names.PAUSED in cluster.metadata.annotations
