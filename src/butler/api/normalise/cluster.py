"""TenantCluster: `disk` and the three places of the load balancer addresses."""

from __future__ import annotations

from msgspec.structs import replace

from kubekit.errors import InvalidConfiguration

from ..cluster import MachineTemplate, TenantCluster, TenantClusterSpec, Workers
from ..shared import Platform
from . import ranges
from .sizes import disk_size
from .spellings import Spellings


def tenant_cluster(cluster: TenantCluster, spellings: Spellings) -> TenantCluster:
    workers = _workers(cluster.spec.workers, spellings)
    return replace(cluster, spec=replace(_with_pool(cluster.spec, spellings), workers=workers))


def _workers(workers: Workers, spellings: Spellings) -> Workers:
    path = "spec.workers"
    pools = tuple(
        replace(pool, machine_template=_template(pool.machine_template, spellings, f"{path}.pools[{pool.name}]"))
        for pool in workers.pools
    )
    return replace(workers, machine_template=_template(workers.machine_template, spellings, path), pools=pools)


def _template(template: MachineTemplate, spellings: Spellings, path: str) -> MachineTemplate:
    if template.disk is None:
        return template
    path = f"{path}.machineTemplate"
    return replace(template, disk_size=disk_size(spellings, path, template), disk=None)


def load_balancer_ranges(cluster: TenantCluster) -> ranges.Ranges:
    """The addresses for LoadBalancer Services, wherever they stand; none where two places contradict each other."""
    try:
        return _ranges(cluster.spec, Spellings(f"{cluster.kind} {cluster.key}"))
    except InvalidConfiguration:
        return ()


def _with_pool(spec: TenantClusterSpec, spellings: Spellings) -> TenantClusterSpec:
    addon = spec.addons.load_balancer
    if spec.platform is None and (addon is None or addon.address_pool is None):
        return spec
    found = _ranges(spec, spellings)
    addons = replace(spec.addons, load_balancer=replace(addon, address_pool=None)) if addon else spec.addons
    networking = replace(spec.networking, load_balancer_pool=found[0] if len(found) == 1 else None)
    platform = Platform(metal_lb_pool=ranges.text_of(found)) if len(found) > 1 else None
    return replace(spec, addons=addons, networking=networking, platform=platform)


def _ranges(spec: TenantClusterSpec, spellings: Spellings) -> ranges.Ranges:
    addon = spec.addons.load_balancer
    return ranges.chosen(
        spellings,
        ("spec.networking.loadBalancerPool", spec.networking.load_balancer_pool),
        ("spec.addons.loadBalancer.addressPool", addon.address_pool if addon else None),
        ("spec.platform.metalLBPool", spec.platform.metal_lb_pool if spec.platform else None),
    )
