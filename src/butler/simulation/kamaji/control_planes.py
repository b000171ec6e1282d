"""Stand-in for Kamaji: TenantControlPlane → an API of its own, and the Secrets that open it."""

from __future__ import annotations

import ipaddress
from datetime import datetime, timedelta

from msgspec import structs

from butler.engines.core import Secret
from butler.engines.kamaji.kinds import (
    ADMIN_CONF,
    AddonState,
    Certificates,
    KubeconfigSecrets,
    ServiceStatus,
    StoredSecret,
    TenantAddonStates,
    TenantControlPlane,
    TenantControlPlaneStatus,
    TenantStorage,
)
from kubekit.clock import Clock
from kubekit.errors import InvalidConfiguration
from kubekit.runtime.manager import Manager
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, Watch

from ..delays import Delays
from ..tenant_apis import TenantApi, TenantApis
from . import addons, kubeadm, tenant_contents
from .progress import Progress, left, progress
from .secrets import COMPONENT, LIFECYCLE, NAME, OURS, PROJECT, Secrets, made_from, meta_for, owner_keys
from .secrets import Secret as SecretHead
from .tenant_contents import Change

FINALIZER = "finalizer.kamaji.clastix.io"
REGISTRY = "registry.k8s.io"
MANAGER = "kamaji"

_KUBECONFIGS = (ADMIN_CONF, "admin.svc", "super-admin.conf", "super-admin.svc")
_DNS_HOST = 10
"""Which address of the Services' network is that of the DNS, unless it is said."""


class TenantControlPlanes(Reconciler[TenantControlPlane]):
    """TenantControlPlane → an API, named like the namespace it is in."""

    kind = TenantControlPlane
    finalizer = FINALIZER
    source = MANAGER
    watches = (Watch(SecretHead, owner_keys("TenantControlPlane"), OURS),)
    permissions = (Permission(Secret, ("create", "patch")),)

    def __init__(self, manager: Manager, tenants: TenantApis, delays: Delays, clock: Clock) -> None:
        self._tenants, self._delays, self._clock = tenants, delays, clock
        self._secrets = Secrets(manager)
        self._planes = manager.informers.of(TenantControlPlane)
        self._planes.index("namespace", _namespace_of)

    async def reconcile(self, plane: TenantControlPlane) -> Outcome:
        if not self._has_namespace(plane):
            message = "there is a control plane in this namespace already; it has room for one"
            raise InvalidConfiguration(f"TenantControlPlane {plane.key}", "metadata.namespace", message)
        now = progress(plane, self._delays, self._clock.now())
        endpoint = self._tenants.endpoint
        status = await self._run(plane, now) if now.is_running else plane.status
        resources = structs.replace(now.resources(), service=_service(plane, endpoint))
        status = structs.replace(status, control_plane_endpoint=endpoint, kubernetes_resources=resources)
        again = timedelta(seconds=now.wait) if now.wait else None
        return Outcome(status, again, error=_refused(plane, now.refused) if now.refused else None)

    async def finalize(self, plane: TenantControlPlane) -> Outcome:
        wait = left(plane.metadata.deletion_timestamp, self._delays.removal, self._clock.now())
        if wait:
            return Outcome(again=timedelta(seconds=wait))
        if self._has_namespace(plane):
            when = f"{self._clock.now():%Y-%m-%d %H:%M} UTC"
            words = f"cluster {plane.metadata.name} was destroyed on {when}, and this kubeconfig with it"
            await self._tenants.close(plane.metadata.namespace, words)
        return Outcome()

    def _has_namespace(self, plane: TenantControlPlane) -> bool:
        """Whether the API of the namespace is this control plane's: the one that runs, else the one that was first."""
        rivals: list[TenantControlPlane] = [plane, *self._planes.by("namespace", plane.metadata.namespace)]
        return min(rivals, key=_rank).metadata.uid == plane.metadata.uid

    async def _run(self, plane: TenantControlPlane, now: Progress) -> TenantControlPlaneStatus:
        """Let it run that version. Idempotent, and repeated from the start when it is interrupted."""
        api, wanted = await self._open(plane), plane.spec.addons
        checksum = _checksum(api)
        await tenant_contents.fill(api.client, _cluster(plane, api, now.version), _change(plane, now, api))
        await api.pass_for(now.version)
        kubeconfig = await self._put(plane, "admin-kubeconfig", checksum, api)
        authority = await self._put(plane, "ca", checksum, api)
        return structs.replace(
            plane.status,
            kubeconfig=KubeconfigSecrets(admin=kubeconfig),
            certificates=Certificates(ca=authority),
            storage=TenantStorage(driver="etcd", data_store_name=plane.spec.data_store or "default"),
            addons=TenantAddonStates(
                core_dns=AddonState(enabled=wanted.core_dns is not None),
                kube_proxy=AddonState(enabled=wanted.kube_proxy is not None),
                konnectivity=AddonState(enabled=wanted.konnectivity is not None),
            ),
        )

    async def _open(self, plane: TenantControlPlane) -> TenantApi:
        try:
            network = ipaddress.ip_network(plane.spec.network_profile.service_cidr, strict=False)
            contents = tenant_contents.beginning(addons.asked_for(plane.spec.addons))
            return await self._tenants.open(plane.metadata.namespace, str(network), contents)
        except ValueError as error:
            subject, path = f"TenantControlPlane {plane.key}", "spec.networkProfile.serviceCidr"
            raise InvalidConfiguration(subject, path, str(error)) from error

    async def _put(self, plane: TenantControlPlane, component: str, checksum: str, api: TenantApi) -> StoredSecret:
        name = f"{plane.metadata.name}-{component}"
        if self._secrets.checksum(plane.metadata.namespace, name) != checksum:
            labels = {PROJECT: "kamaji", NAME: plane.metadata.name, COMPONENT: component}
            if component != "ca":
                labels[LIFECYCLE] = "kubeconfig"
            meta = meta_for(plane, TenantControlPlane, name, labels, checksum)
            data = _authority(api) if component == "ca" else dict.fromkeys(_KUBECONFIGS, api.kubeconfig())
            await self._secrets.put(Secret(metadata=meta, data=data))
        return StoredSecret(secret_name=name, checksum=checksum)


def _rank(plane: TenantControlPlane) -> tuple[bool, datetime, str]:
    created = plane.metadata.creation_timestamp
    assert created is not None
    return not _running(plane), created, plane.metadata.uid


def _namespace_of(plane: TenantControlPlane) -> tuple[str]:
    return (plane.metadata.namespace,)


def _running(plane: TenantControlPlane) -> str:
    """The version that runs; empty while none does."""
    resources = plane.status.kubernetes_resources
    return (resources.version.version or "") if resources and resources.version else ""


def _checksum(api: TenantApi) -> str:
    """Changes when the tenant's API is reached elsewhere, or by other credentials."""
    return made_from(api.url.encode(), api.authority, api.client_authority.certificate, api.admin.certificate)


def _change(plane: TenantControlPlane, now: Progress, api: TenantApi) -> Change:
    stored, running = plane.status.kubeconfig, _running(plane)
    is_elsewhere = stored is None or stored.admin is None or stored.admin.checksum != _checksum(api)
    asked, there = addons.asked_for(plane.spec.addons), addons.there(plane.status.addons)
    has_rights = not running and api.began_with(tenant_contents.beginning(asked))
    return Change(not running, is_elsewhere or running != now.version, asked, there, has_rights)


def _refused(plane: TenantControlPlane, message: str) -> InvalidConfiguration:
    return InvalidConfiguration(f"TenantControlPlane {plane.key}", "spec.kubernetes.version", message)


def _service(plane: TenantControlPlane, endpoint: str) -> ServiceStatus:
    host, _, port = endpoint.rpartition(":")
    meta, service = plane.metadata, plane.spec.control_plane.service
    balancer = {"ingress": [{"ip": host}]} if service.service_type == "LoadBalancer" else {}
    return ServiceStatus(name=meta.name, namespace=meta.namespace, port=int(port), load_balancer=balancer)


def _authority(api: TenantApi) -> dict[str, bytes]:
    """The authority that signs the tenant's certificates, first; then the one that signed the server's, which is
    another here, so that the bundle serves both purposes. The keys are Kamaji's and those of Cluster API."""
    own = api.client_authority
    bundle = own.certificate.rstrip(b"\n") + b"\n" + api.authority
    return {"ca.crt": bundle, "ca.key": own.key, "tls.crt": bundle, "tls.key": own.key}


def _cluster(plane: TenantControlPlane, api: TenantApi, version: str) -> kubeadm.Cluster:
    network, deployment = plane.spec.network_profile, plane.spec.control_plane.deployment
    addresses = network.dns_service_ips or (str(ipaddress.ip_network(network.service_cidr, strict=False)[_DNS_HOST]),)
    return kubeadm.Cluster(
        name=plane.metadata.name,
        version=version,
        url=api.url,
        authority=api.authority,
        endpoint=api.endpoint,
        registry=str(deployment.registry_settings.get("registry") or REGISTRY),
        cgroup_driver=str(plane.spec.kubernetes.kubelet.get("cgroupfs") or "systemd"),
        network=network,
        dns_address=addresses[0],
    )
