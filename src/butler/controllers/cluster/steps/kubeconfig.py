"""The kubeconfig with which people and Butler reach the cluster."""

from __future__ import annotations

from butler.engines.tenants import admin_kubeconfig_secret

from .. import kinds
from ..scope import Scope
from ..step import Step, Verdict


class Kubeconfig(Step):
    """Kamaji writes it; it stays in the tenant's namespace."""

    condition, title, holds = "KubeconfigReady", "Kubeconfig", True

    def verdict(self, scope: Scope) -> Verdict:
        name = admin_kubeconfig_secret(scope.name)
        if scope.sight.get(kinds.SecretSeen, f"{scope.namespace}/{name}") is None:
            return Verdict(False, "WaitingForDependencies", f"Kamaji has not written Secret {name} yet", changing=True)
        return Verdict(True, "KubeconfigReady", f"Secret {name} has it")
