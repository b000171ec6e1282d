"""ClusterBootstrap: older names of its network, sizes, endpoint and addons."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import wire_name

from ..bootstrap import (
    NO_NETWORK,
    BootstrapNetwork,
    BootstrapPlatform,
    ClusterBootstrap,
    ClusterBootstrapSpec,
    ClusterShape,
    NodePool,
)
from ..bootstrap.addons import BootstrapAddons, BootstrapCni, BootstrapLoadBalancer, BootstrapStorage, GitOpsTool
from ..shared import IPv4Range, ProviderType, TemplateSize
from . import ranges, sizes
from .sizes import Written
from .spellings import Spellings, in_namespace

P = TypeVar("P", bound=NodePool)

API_SERVER_PORT = 6443
_VIP_INTERFACES = {ProviderType.NUTANIX: "ens3", ProviderType.HARVESTER: "enp1s0", ProviderType.GCP: "ens4"}
_FLUX = {"flux", "fluxcd"}


def cluster_bootstrap(bootstrap: ClusterBootstrap, spellings: Spellings) -> ClusterBootstrap:
    spec = bootstrap.spec
    named = None if spec.network == NO_NETWORK else spec.network
    network = spellings.needed("spec.network", named, "spec.networking", spec.networking)
    found = _ranges(spec, network, spellings)
    pool = IPv4Range(start=found[0].start, end=found[0].end) if len(found) == 1 else None
    made = replace(
        spec,
        provider_ref=in_namespace(spec.provider_ref, bootstrap.metadata.namespace),
        cluster=_cluster(spec.cluster, spellings),
        network=replace(_with_vip(network, spec, spellings), load_balancer_pool=pool),
        networking=None,
        addons=_addons(spec, spellings),
        platform=BootstrapPlatform(metal_lb_pool=ranges.text_of(found)) if len(found) > 1 else None,
        gitops=_git_source(spec),
    )
    return replace(bootstrap, spec=made)


def _ranges(spec: ClusterBootstrapSpec, network: BootstrapNetwork, spellings: Spellings) -> ranges.Ranges:
    addon = spec.addons.load_balancer
    return ranges.chosen(
        spellings,
        ("spec.network.loadBalancerPool", network.load_balancer_pool),
        ("spec.addons.loadBalancer.addressPool", addon.address_pool if addon else None),
        ("spec.platform.metalLBPool", spec.platform.metal_lb_pool if spec.platform else None),
    )


def _cluster(cluster: ClusterShape, spellings: Spellings) -> ClusterShape:
    endpoint = cluster.control_plane_endpoint
    _, port = _host_and_port(endpoint, spellings)
    return replace(
        cluster,
        control_plane=_node_pool(cluster.control_plane, spellings, "spec.cluster.controlPlane"),
        workers=_node_pool(cluster.workers, spellings, "spec.cluster.workers") if cluster.workers else None,
        # No other field has room for a port that is not the usual one, so the endpoint keeps it.
        control_plane_endpoint=endpoint if port not in (None, API_SERVER_PORT) else None,
    )


def _node_pool(pool: P, spellings: Spellings, path: str) -> P:
    template = pool.machine_template or TemplateSize()
    other = f"{path}.machineTemplate"
    disk = sizes.disk_size(spellings, other, template)
    size = sizes.chosen(
        spellings,
        Written(f"{path}.cpu", pool.cpu, f"{other}.cpu", template.cpu),
        Written(f"{path}.memoryMB", pool.memory_mb, f"{other}.memory", template.memory),
        Written(f"{path}.diskGB", pool.disk_gb, f"{other}.diskSize", disk),
    )
    return replace(pool, machine_template=None, **size)


def _with_vip(network: BootstrapNetwork, spec: ClusterBootstrapSpec, spellings: Spellings) -> BootstrapNetwork:
    host, _ = _host_and_port(spec.cluster.control_plane_endpoint, spellings)
    vip = spellings.either("spec.network.vip", network.vip or None, "spec.cluster.controlPlaneEndpoint", host)
    interface = network.vip_interface
    if vip and not interface:
        interface = _VIP_INTERFACES.get(spec.provider, "eth0")
    return replace(network, vip=vip, vip_interface=interface)


def _host_and_port(endpoint: str | None, spellings: Spellings) -> tuple[str | None, int | None]:
    if endpoint is None:
        return None, None
    host, colon, port = endpoint.partition(":")
    if not colon:
        return host, None
    return host, spellings.parsed("spec.cluster.controlPlaneEndpoint", int, port)


_CHOICES = {"cni": BootstrapCni, "storage": BootstrapStorage, "load_balancer": BootstrapLoadBalancer}


def _addons(spec: ClusterBootstrapSpec, spellings: Spellings) -> BootstrapAddons:
    """The addons, with what `platform` and `gitops` say about them."""
    made: dict[str, Any] = {}
    for name, kind in _CHOICES.items():
        addon: Any = getattr(spec.addons, name)
        other = getattr(spec.platform, name, None)
        path, other_path = f"spec.addons.{wire_name(name)}.type", f"spec.platform.{wire_name(name)}"
        if spellings.either(path, addon.type if addon else None, other_path, other) and addon is None:
            addon = _addon(kind, other, spellings, other_path)
        made[name] = addon
    if balancer := made["load_balancer"]:
        made["load_balancer"] = replace(balancer, address_pool=None)
    return replace(spec.addons, git_ops=_git_ops(spec, spellings), **made)


def _addon(kind: type, choice: str | None, spellings: Spellings, path: str) -> Any:
    try:
        return msgspec.convert({"type": choice}, kind)
    except msgspec.ValidationError as error:
        raise InvalidConfiguration(spellings.subject, path, f"{choice!r} is not one of the addons there are") from error


def _git_ops(spec: ClusterBootstrapSpec, spellings: Spellings) -> GitOpsTool | None:
    older = spec.gitops
    if older is None or (older.enabled is None and older.provider is None):
        return spec.addons.git_ops
    if older.provider and older.provider not in _FLUX:
        raise InvalidConfiguration(spellings.subject, "spec.gitops.provider", f"{older.provider!r} is not flux")
    meant = GitOpsTool(enabled=older.enabled is not False, type="flux")
    return spellings.either("spec.addons.gitOps", spec.addons.git_ops, "spec.gitops", meant)


def _git_source(spec: ClusterBootstrapSpec) -> Any:
    """What `gitops` says beyond addons.gitOps, for which there is no other place."""
    if spec.gitops is None or spec.gitops.repository is None:
        return None
    return replace(spec.gitops, enabled=None, provider=None)
