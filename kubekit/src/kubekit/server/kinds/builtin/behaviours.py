"""Which built-in kind does what: the one place to ask."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from kubekit.model.resource import Object

from ..network import endpoint_slices, ingress, network_policies, service_networks, services
from ..platform import admission, certificate_requests, cluster, config, core, device_slices, devices, quotas, rbac
from ..pods import pods
from ..storage import claims, csi, persistent_volumes
from ..workloads import autoscaling, jobs, workloads
from .behaviour import PLAIN, BuiltIn, NameRule, part_of
from .go_shape import Shape, shape_of_kind

_THEMES = (
    config,
    core,
    quotas,
    pods,
    workloads,
    jobs,
    services,
    ingress,
    network_policies,
    endpoint_slices,
    service_networks,
    claims,
    persistent_volumes,
    csi,
    rbac,
    autoscaling,
    admission,
    certificate_requests,
    cluster,
    devices,
    device_slices,
)
_NEWEST_FIRST = ("v2", "v1")
_KINDS: dict[tuple[str, str], BuiltIn] = {key: kind for theme in _THEMES for key, kind in theme.KINDS.items()}


@cache
def behaviour_of(group: str, kind: str, version: str = "") -> BuiltIn:
    """The behaviour of a built-in kind; one that only tidies up when the kind has nothing special.

    `version` matters only for kinds with several, such as HorizontalPodAutoscaler; the newest is meant without it.
    """
    found = _KINDS.get((group, kind), PLAIN)
    if (group, kind, version) == ("autoscaling", "HorizontalPodAutoscaler", "v1"):
        found = autoscaling.FIRST_VERSION
    return replace(found, shape=_shape(group, kind, version))


def _shape(group: str, kind: str, version: str) -> Shape | None:
    prefix = f"{group}/" if group else ""
    versions = (version,) if version else _NEWEST_FIRST
    shapes = (shape_of_kind(f"{prefix}{one}", kind) for one in versions)
    return next((shape for shape in shapes if shape is not None), None)


def name_rule(group: str, kind: str) -> NameRule:
    """What objects of a kind may be called."""
    return behaviour_of(group, kind).name_rule


def has_generation(group: str, kind: str) -> bool:
    """Whether new objects of a kind begin to count their changes in `metadata.generation`."""
    behaviour = behaviour_of(group, kind)
    return bool(behaviour.generation) and not behaviour.counts_from_zero


def changes_generation(group: str, kind: str, obj: Object, old: Object) -> bool:
    """Whether an update is one that counts, such as a change of the spec."""
    return any(part_of(obj, path) != part_of(old, path) for path in behaviour_of(group, kind).generation)
