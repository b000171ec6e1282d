"""Whether a cluster can be what it says, before anything is made for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import msgspec

from butler.api.cluster import TenantCluster, WorkerPool
from butler.api.units import GIB, amount
from kubekit.errors import FieldError, FieldProblem

from . import names, versions
from .node_labels import label_problems, taint_problems

_LABEL = re.compile(r"^[a-z]([-a-z0-9]*[a-z0-9])?$")
TIB = 1024 * GIB
_LEAST_MEMORY, _LEAST_DISK = 1 * GIB, 10 * GIB
_MOST_MEMORY, _MOST_DISK = 32 * TIB, 64 * TIB
"""More than any infrastructure gives a machine."""
MOST_WORKERS = 1000
"""Workers of one pool; beyond that clusters should be more, not larger."""
MOST_CORES = 128

Network = IPv4Network | IPv6Network


def problems(cluster: TenantCluster) -> tuple[FieldError, ...]:
    """Everything about a normalised cluster that can never work, whatever else there is."""
    return (
        *_name(cluster.metadata.name),
        *_version(cluster),
        *_control_plane(cluster),
        *_management(cluster),
        *_networks(cluster),
        *_workers(cluster),
    )


def _name(name: str) -> Iterator[FieldError]:
    path = "metadata.name"
    if len(name) > names.LONGEST:
        yield _bad(path, name, f"must have at most {names.LONGEST} letters, because names of machines are made from it")
    elif not _LABEL.match(name):
        yield _bad(path, name, "must be lower case letters, digits and '-', beginning with a letter, such as web-prod")


def _version(cluster: TenantCluster) -> Iterator[FieldError]:
    asked = cluster.spec.kubernetes_version
    if asked is not None and (wrong := versions.unsupported(asked)):
        yield _bad("spec.kubernetesVersion", asked, wrong)


def _control_plane(cluster: TenantCluster) -> Iterator[FieldError]:
    if cluster.spec.control_plane.type == "Standalone":
        yield FieldError(
            FieldProblem.NOT_SUPPORTED, "spec.controlPlane.type", 'supported values: "Hosted"', "Standalone"
        )
    for component, resources in (msgspec.to_builtins(cluster.spec.control_plane.resources) or {}).items():
        yield from _component(f"spec.controlPlane.resources.{component}", resources or {})


def _management(cluster: TenantCluster) -> Iterator[FieldError]:
    if cluster.spec.management_policy.mode == "GitOps":
        supported = 'supported values: "Active", "Observe"'
        yield FieldError(FieldProblem.NOT_SUPPORTED, "spec.managementPolicy.mode", supported, "GitOps")


def _component(path: str, resources: Mapping[str, Mapping[str, str | int | None] | None]) -> Iterator[FieldError]:
    """What one component reserves, and what it never exceeds."""
    reserved: dict[str, Decimal] = {}
    for bound in ("requests", "limits"):
        for name, quantity in (resources.get(bound) or {}).items():
            if quantity is None:
                continue
            try:
                found = amount(quantity)
            except ValueError as error:
                yield _bad(f"{path}.{bound}.{name}", quantity, str(error))
                continue
            if found <= 0:
                yield _bad(f"{path}.{bound}.{name}", quantity, "must be more than 0")
            elif found < reserved.setdefault(name, found):
                yield _bad(f"{path}.{bound}.{name}", quantity, "must not be less than what is requested")


def _networks(cluster: TenantCluster) -> Iterator[FieldError]:
    networking = cluster.spec.networking
    found: list[tuple[str, str, Network]] = []
    for path, text, longest in (
        ("spec.networking.podCIDR", networking.pod_cidr, 24),
        ("spec.networking.serviceCIDR", networking.service_cidr, 24),
    ):
        try:
            network = ip_network(text)
        except ValueError as error:
            yield _bad(path, text, _cidr_advice(text, error))
            continue
        if network.version == 4 and network.prefixlen > longest:
            yield _bad(path, text, f"is too small: at most /{longest}, such as 10.244.0.0/16")
        found.append((path, text, network))
    if len(found) == 2 and found[0][2].version == found[1][2].version and found[0][2].overlaps(found[1][2]):
        (other, other_text, _), (path, text, _) = found
        yield _bad(path, text, f"overlaps {other} ({other_text}): the two must have no address in common")
    yield from _load_balancer_pool(cluster, found)


def _cidr_advice(text: str, error: ValueError) -> str:
    if "host bits" in str(error):
        return f"has bits beyond its mask: did you mean {ip_network(text, strict=False)}?"
    return "must be a range such as 10.244.0.0/16"


def _load_balancer_pool(cluster: TenantCluster, inside: Iterable[tuple[str, str, Network]]) -> Iterator[FieldError]:
    pool = cluster.spec.networking.load_balancer_pool
    if pool is None:
        return
    path = "spec.networking.loadBalancerPool"
    ends = []
    for name, text in (("start", pool.start), ("end", pool.end)):
        try:
            ends.append(ip_address(text))
        except ValueError:
            yield _bad(f"{path}.{name}", text, "must be an address such as 10.0.0.10")
    if len(ends) != 2:
        return
    if ends[0].version != ends[1].version or int(ends[0]) > int(ends[1]):
        yield _bad(f"{path}.end", pool.end, f"must not be before start ({pool.start})")
    for other, text, network in inside:
        if ends[0] in network or ends[1] in network:
            yield _bad(path, f"{pool.start}-{pool.end}", f"overlaps {other} ({text})")


def _workers(cluster: TenantCluster) -> Iterator[FieldError]:
    workers = cluster.spec.workers
    unnamed = WorkerPool(name="", replicas=workers.replicas, machine_template=workers.machine_template)
    yield from _pool("spec.workers", unnamed)
    if workers.pools:
        yield from _pools(cluster)


def _pools(cluster: TenantCluster) -> Iterator[FieldError]:
    taken = {names.deployment(cluster.metadata.name, ""): "the workers without a pool"}
    for index, pool in enumerate(cluster.spec.workers.pools):
        path = f"spec.workers.pools[{index}]"
        yield from _pool(path, pool)
        name = names.deployment(cluster.metadata.name, pool.name)
        if name in taken:
            yield _bad(f"{path}.name", pool.name, f"is taken by {taken[name]}")
        if len(name) > 63:
            room = 62 - len(cluster.metadata.name)
            yield _bad(f"{path}.name", pool.name, f"must have at most {room} letters together with this cluster's name")
        taken[name] = f"pool {pool.name!r}"


def _pool(path: str, pool: WorkerPool) -> Iterator[FieldError]:
    for field, count in (("replicas", pool.replicas), ("maxReplicas", pool.max_replicas)):
        if count is not None and count > MOST_WORKERS:
            yield _bad(f"{path}.{field}", count, f"must be at most {MOST_WORKERS}")
    template = pool.machine_template
    if template.cpu is not None and template.cpu > MOST_CORES:
        yield _bad(f"{path}.machineTemplate.cpu", template.cpu, f"must be between 1 and {MOST_CORES}")
    for field, quantity, least, most in (
        ("memory", template.memory, _LEAST_MEMORY, _MOST_MEMORY),
        ("diskSize", template.disk_size, _LEAST_DISK, _MOST_DISK),
    ):
        if quantity is None:
            continue
        try:
            found = amount(quantity)
        except ValueError as error:
            yield _bad(f"{path}.machineTemplate.{field}", quantity, str(error))
            continue
        if found < least:
            yield _bad(f"{path}.machineTemplate.{field}", quantity, f"must be at least {least // GIB}Gi")
        elif found > most:
            yield _bad(f"{path}.machineTemplate.{field}", quantity, f"must be at most {most // TIB}Ti")
    yield from _marks(path, pool)


def _marks(path: str, pool: WorkerPool) -> Iterator[FieldError]:
    """What the nodes of a pool are known by."""
    for name, value in pool.labels.items():
        for problem in label_problems(name, value):
            yield _bad(f"{path}.labels[{name}]", f"{name}={value}", problem)
    for index, taint in enumerate(pool.taints):
        for problem in taint_problems(taint):
            yield _bad(f"{path}.taints[{index}]", f"{taint.key}={taint.value or ''}", problem)


def _bad(path: str, value: object, detail: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, value)
