"""The flags that describe a cluster, and the change of a TenantCluster that they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import click

from butler.api.model import GROUP

from .. import completion
from ..merge_patch import Change, put

F = TypeVar("F", bound=Callable[..., Any])

_TEMPLATE = "spec.workers.machineTemplate"
_COMPONENTS = {"apiserver": "apiServer", "controller-manager": "controllerManager", "scheduler": "scheduler"}
FIELDS = {
    "provider": "spec.providerConfigRef.name",
    "team": "spec.teamRef.name",
    "environment": "metadata.labels",
    "k8s_version": "spec.kubernetesVersion",
    "workers": "spec.workers.replicas",
    "cpu": f"{_TEMPLATE}.cpu",
    "memory": f"{_TEMPLATE}.memory",
    "disk": f"{_TEMPLATE}.diskSize",
    "image": f"{_TEMPLATE}.os.imageRef",
    "schematic_id": f"{_TEMPLATE}.os.schematicID",
    "pod_cidr": "spec.networking.podCIDR",
    "service_cidr": "spec.networking.serviceCIDR",
    "lb_pool": "spec.networking.loadBalancerPool",
    "lb_pool_start": "spec.networking.loadBalancerPool.start",
    "lb_pool_end": "spec.networking.loadBalancerPool.end",
    **{
        f"cp_{component.replace('-', '_')}_{amount}_{bound}": f"spec.controlPlane.resources.{part}.{bound}s.{amount}"
        for component, part in _COMPONENTS.items()
        for amount in ("cpu", "memory")
        for bound in ("request", "limit")
    },
}
"""Where each flag is written."""
_ENVIRONMENT = f"{GROUP}/environment"
_NUMBER = re.compile(r"\d+(\.\d+)?")


class Size(click.ParamType[str]):
    """An amount such as 8Gi; a bare number is in the unit people mean."""

    name = "size"

    def __init__(self, unit: str) -> None:
        self._unit = unit

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return f"{value}{self._unit}" if _NUMBER.fullmatch(value) else str(value)


def filename_option(function: F) -> F:
    return click.option(
        "-f", "--filename", metavar="FILE", help="A TenantCluster as YAML, - for stdin; flags win over it."
    )(function)


_OPTIONS = (
    click.option(
        "-p", "--provider", shell_complete=completion.providers, show_default="the platform's", help="ProviderConfig."
    ),
    click.option("--team", help="The team that owns the cluster."),
    click.option("--environment", help="The environment it is for, such as prod."),
    click.option(
        "--k8s-version",
        shell_complete=completion.versions,
        show_default="the platform's",
        help="Kubernetes version, such as v1.32.2.",
    ),
    click.option("-w", "--workers", type=int, show_default="the team's, or 1", help="How many workers."),
    click.option("--cpu", type=int, show_default="the team's, or 4", help="Cores of a worker."),
    click.option(
        "--memory", type=Size("Mi"), show_default="the team's, or 8Gi", help="Memory of a worker; a bare number is MB."
    ),
    click.option(
        "--disk",
        type=Size("Gi"),
        show_default="the team's, or 40Gi",
        help="Root disk of a worker; a bare number is GB.",
    ),
    click.option("--image", help="Image of the provider for the workers."),
    click.option("--schematic-id", help="Image Factory schematic for the workers."),
    click.option("--pod-cidr", show_default="10.244.0.0/16", help="Addresses of pods."),
    click.option("--service-cidr", show_default="10.96.0.0/12", help="Addresses of Services."),
    click.option("--lb-pool", metavar="IP|IP-IP", help="Addresses for LoadBalancer Services."),
    click.option("--lb-pool-start", metavar="IP", help="The first of them."),
    click.option("--lb-pool-end", metavar="IP", help="The last of them."),
)


def cluster_flags(function: F) -> F:
    """All flags that describe a cluster; the command takes them as `**flags`."""
    for option in (*reversed([*_resource_options()]), *reversed(_OPTIONS)):
        function = option(function)
    return function


def _resource_options() -> Iterator[Callable[[F], F]]:
    for component in _COMPONENTS:
        for amount, example in (("cpu", "500m"), ("memory", "1Gi")):
            for bound in ("request", "limit"):
                meaning = (
                    f"{amount.upper() if amount == 'cpu' else amount} {bound} of the {component}, such as {example}."
                )
                yield click.option(f"--cp-{component}-{amount}-{bound}", help=meaning[0].upper() + meaning[1:])


def change_of(flags: Mapping[str, Any]) -> Change:
    """What the flags that were given change. Raises UsageError when they contradict each other."""
    change: Change = {}
    for path, value in _settings({name: value for name, value in flags.items() if value is not None}):
        put(change, path, value)
    return change


def _settings(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if name in ("lb_pool", "lb_pool_start", "lb_pool_end"):
            continue
        if name == "environment":
            yield "metadata.labels", {_ENVIRONMENT: value}
        elif name == "provider":
            yield from _provider(value)
        else:
            yield FIELDS[name], value
        if name == "disk":
            # Another name for the same field, which a file may have used.
            yield f"{_TEMPLATE}.disk", None
    if pool := _pool(given):
        yield "spec.networking.loadBalancerPool", pool


def _provider(value: str) -> Iterator[tuple[str, Any]]:
    namespace, _, name = value.rpartition("/")
    yield "spec.providerConfigRef", {"name": name, "namespace": namespace or None}


def _pool(given: Mapping[str, Any]) -> dict[str, str] | None:
    ends = [given.get("lb_pool_start"), given.get("lb_pool_end")]
    if given.get("lb_pool"):
        if any(ends):
            raise click.UsageError("--lb-pool and --lb-pool-start/--lb-pool-end say the same; use one of them")
        start, _, end = given["lb_pool"].partition("-")
        return {"start": start.strip(), "end": (end or start).strip()}
    if any(ends) and not all(ends):
        raise click.UsageError("--lb-pool-start and --lb-pool-end go together")
    return {"start": str(ends[0]), "end": str(ends[1])} if all(ends) else None


def flag_for(path: str) -> str:
    """The flag that writes a field; empty when there is none."""
    path = re.sub(r"\[.*?\]", "", path)
    found = next((flag for flag, field in FIELDS.items() if path in (field, field.removesuffix(".name"))), "")
    return f"--{found.replace('_', '-')}" if found else ""
