"""ButlerConfig: tenancy mode in lower case; ClusterCreationPolicy: `clusterWide`."""

from __future__ import annotations

from msgspec.structs import replace

from .. import units
from ..config import ButlerConfig, TenancyMode
from ..policy import ClusterCreationPolicy
from ..shared import SYSTEM_NAMESPACE
from .spellings import Spellings, in_namespace

_MODES: dict[str, TenancyMode] = {"enforced": "Enforced", "optional": "Optional", "disabled": "Disabled"}


def butler_config(config: ButlerConfig, spellings: Spellings) -> ButlerConfig:
    spec = config.spec
    if spec.platform and spec.platform.metal_lb_pool:
        spellings.parsed("spec.platform.metalLBPool", units.address_ranges, spec.platform.metal_lb_pool)
    mode = spec.multi_tenancy.mode
    ref = spec.default_provider_config_ref
    made = replace(
        spec,
        multi_tenancy=replace(spec.multi_tenancy, mode=_MODES.get(mode, mode)),
        default_provider_config_ref=in_namespace(ref, SYSTEM_NAMESPACE) if ref else None,
    )
    return replace(config, spec=made)


def cluster_creation_policy(policy: ClusterCreationPolicy, spellings: Spellings) -> ClusterCreationPolicy:
    scope = policy.spec.scope
    everyone = spellings.either(
        "spec.scope.platformWide", scope.platform_wide, "spec.scope.clusterWide", scope.cluster_wide
    )
    made = replace(scope, platform_wide=everyone, cluster_wide=None)
    return replace(policy, spec=replace(policy.spec, scope=made))
