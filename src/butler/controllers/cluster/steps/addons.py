"""What is installed inside the cluster."""

from __future__ import annotations

from collections.abc import Sequence

from butler.addons.model import Addon
from butler.api.cluster import ObservedAddon

from ..addons import progress
from ..scope import Scope
from ..step import Step, Verdict
from .node_addons import unreachable
from .workers import counts_of


class Addons(Step):
    """Those that nodes need have a step of their own before; the others have to run on a node. Speaks of all."""

    condition, title = progress.READY, "Addons"

    def addons(self, scope: Scope) -> Sequence[Addon]:
        others = [one for one in scope.addons.addons if not one.for_nodes]
        return () if _hindrance(scope) else progress.to_install(scope, others)

    def unwanted(self, scope: Scope) -> Sequence[ObservedAddon]:
        return () if unreachable(scope) else progress.to_remove(scope)

    def verdict(self, scope: Scope) -> Verdict:
        return progress.verdict_on_all(scope, _hindrance(scope))


def _hindrance(scope: Scope) -> str:
    """What has to come before; empty when it is there."""
    if what := unreachable(scope):
        return what
    wanted, ready = counts_of(scope)
    return "the first worker" if wanted and not ready else ""
