"""Both spellings of an object → the one form controllers read.

The stored object is never rewritten: what a person or a Git repository wrote stays as it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..bootstrap import ClusterBootstrap
from ..cluster import TenantCluster
from ..config import ButlerConfig
from ..identity import User
from ..machine import ImageSync, LoadBalancerRequest, MachineRequest
from ..model import Resource
from ..policy import ClusterCreationPolicy
from ..provider import ProviderConfig
from ..team import Team
from . import bootstrap, cluster, machine, people, platform, provider
from .spellings import Spellings

R = TypeVar("R", bound=Resource)

_RULES: dict[type[Resource], Callable[[Any, Spellings], Resource]] = {
    TenantCluster: cluster.tenant_cluster,
    ProviderConfig: provider.provider_config,
    MachineRequest: machine.machine_request,
    LoadBalancerRequest: machine.load_balancer_request,
    ImageSync: machine.image_sync,
    ClusterBootstrap: bootstrap.cluster_bootstrap,
    ButlerConfig: platform.butler_config,
    Team: people.team,
    User: people.user,
    ClusterCreationPolicy: platform.cluster_creation_policy,
}


def normalise(obj: R) -> R:
    """The canonical form of an object: pure, idempotent, the same object when there is nothing to do.

    Raises InvalidConfiguration when two spellings of one field contradict each other, or a needed one is missing.
    """
    rule = _RULES.get(type(obj))
    if rule is None:
        return obj
    made = cast(R, rule(obj, Spellings(f"{obj.kind} {obj.key}")))
    return obj if made == obj else made
