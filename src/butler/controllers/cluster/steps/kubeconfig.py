"""The kubeconfig with which people and Butler reach the cluster."""

from __future__ import annotations

from butler.engines.tenants import admin_kubeconfig_secret

from .. import kinds
from ..scope import Scope
from ..step import Step, Verdict


class Kubeconfig(Step):
    """Kamaji writes it; it stays in the tenant's namespace."""

    condition, title = "KubeconfigReady", "Kubeconfig"

    def verdict(self, scope: Scope) -> Verdict:
        name = admin_kubeconfig_secret(scope.name)
        if not has_kubeconfig(scope):
            return Verdict(False, "WaitingForDependencies", f"Kamaji has not written Secret {name} yet", changing=True)
        return Verdict(True, "KubeconfigReady", f"Secret {name} has it")


def has_kubeconfig(scope: Scope) -> bool:
    """Whether the cluster can be reached by those who may."""
    key = f"{scope.namespace}/{admin_kubeconfig_secret(scope.name)}"
    return scope.sight.get(kinds.SecretSeen, key) is not None
