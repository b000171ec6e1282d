"""What nodes need to become Ready: the network of the cluster before all."""

from __future__ import annotations

from collections.abc import Sequence

from butler.addons.model import Addon

from ..addons import progress
from ..scope import Scope
from ..step import Step, Verdict
from .kubeconfig import has_kubeconfig

_ANSWERING = {"Ready", "Upgrading"}


class NodeAddons(Step):
    """Begins as soon as the control plane can be reached, and asks nothing of the workers: their nodes wait for it."""

    condition, title = "NodeAddonsReady", "Node addons"

    def addons(self, scope: Scope) -> Sequence[Addon]:
        return () if unreachable(scope) else progress.to_install(scope, _wanted(scope))

    def verdict(self, scope: Scope) -> Verdict:
        declined = [one for one in progress.declined_addons(scope) if one.for_nodes]
        return progress.verdict_on(scope, _wanted(scope), declined, unreachable(scope))


def unreachable(scope: Scope) -> str:
    """What has to come before anything can be installed; empty when it is there."""
    if scope.control_plane_state not in _ANSWERING or scope.endpoint is None:
        return "the control plane"
    return "" if has_kubeconfig(scope) else "the kubeconfig"


def _wanted(scope: Scope) -> list[Addon]:
    return [one for one in scope.addons.addons if one.for_nodes]
