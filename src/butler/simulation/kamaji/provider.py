"""Stand-in for Kamaji's Cluster API provider: KamajiControlPlane → TenantControlPlane, and back into its status."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from msgspec import structs

from butler.engines.capi.kinds import CLUSTER_NAME, SECRET_TYPE, Cluster
from butler.engines.core import Secret
from butler.engines.kamaji.kinds import (
    ADMIN_CONF,
    ControlPlaneInitialization,
    DeploymentStatus,
    KamajiControlPlane,
    KamajiControlPlaneStatus,
    KubernetesResources,
    TenantControlPlane,
)
from butler.engines.tenants import VALUE, admin_kubeconfig_secret, kubeconfig_secret
from kubekit.errors import AlreadyExists, NotFound
from kubekit.model.status import Condition
from kubekit.runtime import status_writes
from kubekit.runtime.conditions import condition, merged, without
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, Watch, children

from .progress import READY, UPGRADING, refusal
from .secrets import COMPONENT, OURS, Secrets, meta_for, owner_keys
from .secrets import Secret as SecretHead
from .translation import passed_on, tenant_control_plane

MANAGER = "kamaji-control-plane-provider"
PAUSED = "cluster.x-k8s.io/paused"

CREATED = "TenantControlPlaneCreated"
ADDRESS_READY = "TenantControlPlaneAddressReady"
INITIALIZED = "KamajiControlPlaneIsInitialized"
RESOURCES_CREATED = "KubeadmResourcesCreated"
IS_READY = "KamajiControlPlaneIsReady"
AVAILABLE = "Available"


def _concerned(cluster: Cluster) -> Iterable[str]:
    """The control plane of a Cluster."""
    ref = cluster.spec.control_plane_ref
    return (key(cluster.metadata.namespace, ref.name),) if ref and ref.kind == "KamajiControlPlane" else ()


class KamajiControlPlanes(Reconciler[KamajiControlPlane]):
    """KamajiControlPlane → TenantControlPlane of the same name, as soon as its Cluster has taken it over.

    It needs no finalizer: whatever it makes is owned by the KamajiControlPlane and goes with it."""

    kind = KamajiControlPlane
    source = MANAGER
    tells_conditions = False
    watches = (
        Watch(Cluster, _concerned),
        children(TenantControlPlane, of=KamajiControlPlane),
        # Kamaji's own are of a TenantControlPlane, which has the name of the KamajiControlPlane.
        Watch(SecretHead, owner_keys("KamajiControlPlane", "TenantControlPlane"), OURS),
    )
    permissions = (
        Permission(TenantControlPlane, ("create", "patch")),
        Permission(Secret, ("get", "create", "patch")),
    )

    def __init__(self, manager: Manager) -> None:
        self._client, self._secrets = manager.client, Secrets(manager)
        self._clusters = manager.informers.of(Cluster)
        self._planes = manager.informers.of(TenantControlPlane)

    async def reconcile(self, control_plane: KamajiControlPlane) -> Outcome:
        cluster = self._cluster_of(control_plane)
        if cluster is None:
            return Outcome()
        if cluster.spec.paused or PAUSED in control_plane.metadata.annotations:
            return Outcome(_with(control_plane.status, condition("Paused", True, "Paused")))
        plane: TenantControlPlane | None = self._planes.get(control_plane.key)
        wanted = tenant_control_plane(control_plane, cluster)
        version = wanted.spec.kubernetes.version
        if refused := refusal(plane.spec.kubernetes.version if plane is not None else version, version):
            problem = f"Kamaji was not asked for this: {refused}"
            return Outcome(_with(_begun(control_plane.status), _pending(CREATED, problem)))
        if plane is None:
            with suppress(AlreadyExists):
                await self._client.create(wanted, manager=MANAGER)
            return Outcome()
        await self._update(plane, wanted)
        return Outcome(await self._report(control_plane, cluster, plane))

    def _cluster_of(self, control_plane: KamajiControlPlane) -> Cluster | None:
        """The Cluster that owns it; none until Cluster API has said so."""
        owners = control_plane.metadata.owner_references
        names = [owner.name for owner in owners if owner.kind == "Cluster"]
        found: Cluster | None = self._clusters.get(key(control_plane.metadata.namespace, names[0])) if names else None
        return found

    async def _update(self, plane: TenantControlPlane, wanted: TenantControlPlane) -> None:
        """Pass on what was changed."""
        change = status_writes.difference(passed_on(plane), passed_on(wanted))
        if change and not plane.deleting:
            meta = plane.metadata
            await self._client.patch(TenantControlPlane, meta.name, change, meta.namespace, manager=MANAGER)

    async def _report(
        self, control_plane: KamajiControlPlane, cluster: Cluster, plane: TenantControlPlane
    ) -> KamajiControlPlaneStatus | None:
        """What the control plane shows; None when nothing is known of it yet."""
        resources = plane.status.kubernetes_resources
        if resources is None:
            return None
        status = _with(_begun(control_plane.status), _succeeded(CREATED))
        if not plane.status.control_plane_endpoint:
            return _with(status, _pending(ADDRESS_READY, "Kamaji has not given it an endpoint yet"))
        status = _with(status, _succeeded(ADDRESS_READY))
        if not _may_begin(control_plane, cluster, resources):
            return status
        if not await self._hand_over(control_plane, cluster, plane):
            return _with(status, _pending(RESOURCES_CREATED, "Kamaji's Secrets are not there yet"))
        return _finished(status, resources)

    async def _hand_over(self, control_plane: KamajiControlPlane, cluster: Cluster, plane: TenantControlPlane) -> bool:
        """Copy the kubeconfig, and the authority unless Kamaji's own has the right name, to where Cluster API looks
        for them. Answers whether they are there."""
        name, tenant, stored = cluster.metadata.name, plane.metadata.name, plane.status.kubeconfig
        checksum = stored.admin.checksum if stored is not None and stored.admin is not None else None
        if not checksum:
            return False
        copies = [(kubeconfig_secret(name), admin_kubeconfig_secret(tenant))]
        if name != tenant:
            copies.append((f"{name}-ca", f"{tenant}-ca"))
        for target, source in copies:
            if self._secrets.checksum(plane.metadata.namespace, target) != checksum:
                try:
                    found = await self._client.get(Secret, source, plane.metadata.namespace)
                except NotFound:
                    # Kamaji makes it anew, and that wakes us.
                    return False
                await self._secrets.put(_copy(control_plane, name, found, target, checksum))
        return True


def _copy(control_plane: KamajiControlPlane, cluster: str, source: Secret, target: str, checksum: str) -> Secret:
    """A Secret of Kamaji in the form of Cluster API."""
    labels = {
        CLUSTER_NAME: cluster,
        COMPONENT: "capi",
        "kamaji.clastix.io/secret": target.removeprefix(f"{cluster}-"),
        "kamaji.clastix.io/cluster": cluster,
        "kamaji.clastix.io/tcp": control_plane.metadata.name,
    }
    if ADMIN_CONF in source.data:
        data = {VALUE: source.data[ADMIN_CONF]}
    else:
        data = {"tls.crt": source.data["ca.crt"], "tls.key": source.data["ca.key"]}
    meta = meta_for(control_plane, KamajiControlPlane, target, labels, checksum)
    return Secret(metadata=meta, type=SECRET_TYPE, data=data)


def _may_begin(control_plane: KamajiControlPlane, cluster: Cluster, resources: KubernetesResources) -> bool:
    """Whether the control plane counts as initialized: from when the Cluster has an endpoint and infrastructure, and
    the API answers; and then for ever."""
    initialization, reached = control_plane.status.initialization, cluster.status.initialization
    if initialization is not None and initialization.control_plane_initialized:
        return True
    endpoint = cluster.spec.control_plane_endpoint
    has_place = endpoint is not None and bool(endpoint.host)
    has_infrastructure = reached is not None and bool(reached.infrastructure_provisioned)
    return has_place and has_infrastructure and _state(resources) == READY


def _finished(status: KamajiControlPlaneStatus, resources: KubernetesResources) -> KamajiControlPlaneStatus:
    deployment, state = resources.deployment or DeploymentStatus(), _state(resources)
    is_ready = state in (READY, UPGRADING)
    told = condition(IS_READY, False, "Failed", f"the TenantControlPlane is {state}")
    status = _with(
        status,
        _succeeded(INITIALIZED),
        _succeeded(RESOURCES_CREATED),
        _succeeded(IS_READY) if is_ready else told,
        condition(AVAILABLE, is_ready, AVAILABLE if is_ready else "NotAvailable"),
    )
    return structs.replace(
        status,
        initialization=ControlPlaneInitialization(control_plane_initialized=True),
        ready=is_ready,
        version=resources.version.version if resources.version else "",
        selector=deployment.selector,
        replicas=deployment.replicas,
        ready_replicas=deployment.ready_replicas,
        available_replicas=deployment.available_replicas,
        up_to_date_replicas=deployment.updated_replicas,
    )


def _begun(status: KamajiControlPlaneStatus) -> KamajiControlPlaneStatus:
    """With everything that must be there from the first time on."""
    return structs.replace(
        status,
        conditions=without(status.conditions, "Paused"),
        ready=status.ready or False,
        version=status.version or "",
        external_managed_control_plane=True,
    )


def _state(resources: KubernetesResources) -> str:
    return (resources.version.status or "") if resources.version else ""


def _with(status: KamajiControlPlaneStatus, *conditions: Condition) -> KamajiControlPlaneStatus:
    return structs.replace(status, conditions=merged(status.conditions, *conditions))


def _succeeded(type: str) -> Condition:  # noqa: A002 -- its name
    return condition(type, True, "Succeeded")


def _pending(type: str, message: str) -> Condition:  # noqa: A002 -- its name
    return condition(type, False, "Pending", message)
