"""KamajiControlPlane and Cluster → the TenantControlPlane that Kamaji is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec import structs

from butler.engines.capi.kinds import CidrBlocks, Cluster, ClusterNetwork
from butler.engines.kamaji.kinds import (
    API_PATH,
    Hosting,
    HostingDeployment,
    HostingService,
    KamajiControlPlane,
    KamajiControlPlaneSpec,
    NetworkProfile,
    TenantAddons,
    TenantControlPlane,
    TenantControlPlaneSpec,
    TenantKubernetes,
)
from kubekit.model.resource import ObjectMeta, OwnerReference
from kubekit.runtime.objects import wire
from kubekit.server.spaces.addresses import SPACES

from .control_planes import FINALIZER

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_PASSED_ON = {
    "nodeSelector": "node_selector",
    "runtimeClassName": "runtime_class_name",
    "serviceAccountName": "service_account_name",
    "additionalMetadata": "additional_metadata",
    "podAdditionalMetadata": "pod_additional_metadata",
    "strategy": "strategy",
    "affinity": "affinity",
    "tolerations": "tolerations",
    "topologySpreadConstraints": "topology_spread_constraints",
    "extraInitContainers": "additional_init_containers",
    "extraContainers": "additional_containers",
    "extraVolumes": "additional_volumes",
}
"""What the deployment section of a KamajiControlPlane says, and what that is called here."""
_COMPONENTS = ("api_server", "controller_manager", "scheduler", "kine")
_WIRE = {"api_server": "apiServer", "controller_manager": "controllerManager", "scheduler": "scheduler", "kine": "kine"}
_IMAGES = {
    "api_server": "apiServerImage",
    "controller_manager": "controllerManagerImage",
    "scheduler": "schedulerImage",
}


def tenant_control_plane(control_plane: KamajiControlPlane, cluster: Cluster) -> TenantControlPlane:
    """What Kamaji is asked for. It begins with Kamaji's finalizer, which saves Kamaji a write."""
    meta, spec = control_plane.metadata, control_plane.spec
    version = spec.version if spec.version.startswith("v") else f"v{spec.version}"
    return TenantControlPlane(
        metadata=ObjectMeta(
            name=meta.name,
            namespace=meta.namespace,
            labels=meta.labels,
            annotations={
                **{name: text for name, text in meta.annotations.items() if name != _LAST_APPLIED},
                API_PATH: f"/{SPACES}/{quote(meta.namespace)}",
            },
            finalizers=(FINALIZER,),
            owner_references=(_owner(control_plane),),
        ),
        spec=TenantControlPlaneSpec(
            data_store=spec.data_store_name,
            data_store_schema=spec.data_store_schema,
            data_store_username=spec.data_store_username,
            data_store_overrides=spec.data_store_overrides,
            control_plane=_hosting(spec),
            kubernetes=TenantKubernetes(
                version=version, kubelet=spec.kubelet, admission_controllers=spec.admission_controllers
            ),
            network_profile=_network(spec, cluster.spec.cluster_network or ClusterNetwork()),
            addons=_addons(spec),
        ),
    )


def passed_on(plane: TenantControlPlane) -> dict[str, Any]:
    """The part of a TenantControlPlane that its KamajiControlPlane decides."""
    return {"metadata": {"labels": dict(plane.metadata.labels)}, "spec": wire(plane.spec)}


def _owner(control_plane: KamajiControlPlane) -> OwnerReference:
    return OwnerReference(
        api_version=control_plane.api_version,
        kind=control_plane.kind,
        name=control_plane.metadata.name,
        uid=control_plane.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def _hosting(spec: KamajiControlPlaneSpec) -> Hosting:
    network = spec.network
    service_meta = _present(labels=network.service_labels, annotations=network.service_annotations)
    return Hosting(
        deployment=_deployment(spec),
        service=HostingService(
            service_type=network.service_type,
            additional_metadata=service_meta,
            additional_ports=network.additional_service_ports,
        ),
        ingress=_ingress(network.ingress),
        gateway=_gateway(network.gateway),
    )


def _deployment(spec: KamajiControlPlaneSpec) -> HostingDeployment:
    parts: dict[str, Mapping[str, Any]] = {name: getattr(spec, name) for name in _COMPONENTS}
    given = {ours: spec.deployment[theirs] for theirs, ours in _PASSED_ON.items() if theirs in spec.deployment}
    images = {_IMAGES[name]: parts[name].get("containerImageName") for name in _IMAGES}
    plain = HostingDeployment(
        replicas=spec.replicas,
        registry_settings=_present(registry=spec.registry, **images),
        resources=_each(parts, "resources"),
        extra_args=_each(parts, "extraArgs"),
        additional_volume_mounts=_each(parts, "extraVolumeMounts"),
    )
    return structs.replace(plain, **given)


def _each(parts: Mapping[str, Mapping[str, Any]], setting: str) -> dict[str, Any]:
    """One setting of every component that has it."""
    return _present(**{_WIRE[name]: part.get(setting) for name, part in parts.items()})


def _network(spec: KamajiControlPlaneSpec, cluster: ClusterNetwork) -> NetworkProfile:
    network, dns = spec.network, spec.addons.get("coreDNS")
    names = [*network.cert_sans, *(_host(one.get("hostname", "")) for one in (network.gateway, network.ingress) if one)]
    balancer = network.load_balancer_config
    given = {
        "port": cluster.api_server_port,
        "cluster_domain": cluster.service_domain,
        "service_cidr": _first(cluster.services),
        "pod_cidr": _first(cluster.pods),
    }
    plain = NetworkProfile(
        address=network.service_address,
        advertise_address=network.advertise_address,
        dns_service_ips=tuple((dns or {}).get("dnsServiceIPs") or ()) or network.dns_service_ips,
        cert_sans=tuple(names),
        load_balancer_class=balancer.get("loadBalancerClass"),
        load_balancer_source_ranges=tuple(balancer.get("loadBalancerSourceRanges") or ()),
    )
    return structs.replace(plain, **{name: value for name, value in given.items() if value})


def _addons(spec: KamajiControlPlaneSpec) -> TenantAddons:
    dns = spec.addons.get("coreDNS")
    return TenantAddons(
        core_dns=None if dns is None else {name: value for name, value in dns.items() if name != "dnsServiceIPs"},
        kube_proxy=spec.addons.get("kubeProxy"),
        konnectivity=spec.addons.get("konnectivity"),
    )


def _ingress(given: Mapping[str, Any]) -> dict[str, Any]:
    extra = _present(labels=given.get("extraLabels"), annotations=given.get("extraAnnotations"))
    return _present(ingressClassName=given.get("className"), hostname=given.get("hostname"), additionalMetadata=extra)


def _gateway(given: Mapping[str, Any]) -> dict[str, Any]:
    if not given:
        return {}
    parent = _present(**{name: given.get(name) for name in ("name", "namespace", "sectionName", "port")})
    extra = _present(labels=given.get("extraLabels"), annotations=given.get("extraAnnotations"))
    host = _host(given.get("hostname", ""))
    return _present(hostname=host, parentRefs=[parent], additionalMetadata=extra)


def _host(name: str) -> str:
    return name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name


def _first(blocks: CidrBlocks | None) -> str:
    return blocks.cidr_blocks[0] if blocks is not None and blocks.cidr_blocks else ""


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}
