"""What things are: every kind of Butler as a frozen Struct."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .model import GROUP, VERSION

if TYPE_CHECKING:
    from .model import Resource

    KINDS: tuple[type[Resource], ...]

__all__ = ["GROUP", "KINDS", "VERSION"]

_HOMES = {
    "TenantCluster": "cluster",
    "TenantAddon": "addon",
    "ProviderConfig": "provider",
    "MachineRequest": "machine",
    "LoadBalancerRequest": "machine",
    "ImageSync": "machine",
    "ClusterBootstrap": "bootstrap",
    "ButlerConfig": "config",
    "Team": "team",
    "User": "identity",
    "IdentityProvider": "identity",
    "AddonDefinition": "addon",
    "ManagementAddon": "addon",
    "AddonProfile": "addon_profile",
    "NetworkPool": "network",
    "IPAllocation": "network",
    "Workspace": "workspace",
    "WorkspaceTemplate": "workspace",
    "ClusterCreationPolicy": "policy",
}


def __getattr__(name: str) -> Any:
    """KINDS is made when it is first asked for, so that importing this package stays cheap."""
    if name != "KINDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kinds = tuple(getattr(import_module(f".{home}", __name__), kind) for kind, home in _HOMES.items())
    globals()["KINDS"] = kinds
    return kinds
