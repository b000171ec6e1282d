"""The namespace that holds the control plane and the Cluster API objects."""

from __future__ import annotations

from collections.abc import Sequence

from butler.api.model import GROUP

from .. import kinds, names
from ..manifests import Manifest, manifest
from ..scope import Scope
from ..step import Step, Verdict

_PRIVILEGED = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}


class Namespace(Step):
    """It is no child of the cluster, since it is in no namespace itself: labels say whose it is."""

    condition, title, holds = "NamespaceReady", "Namespace", True

    def manifests(self, scope: Scope) -> Sequence[Manifest]:
        labels = {**names.namespace_labels(scope.cluster), **_PRIVILEGED}
        about = {f"{GROUP}/description": f"tenant cluster {scope.cluster.key}"}
        return (manifest(kinds.NAMESPACE, scope.namespace, "", labels, annotations=about),)

    def verdict(self, scope: Scope) -> Verdict:
        # Asked only once the namespace was made, whatever the cache shows yet.
        live = scope.sight.get(kinds.NAMESPACE, scope.namespace)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            return Verdict(
                False, "NamespaceTerminating", f"namespace {scope.namespace} is being deleted by someone else"
            )
        return Verdict(True, "NamespaceReady", f"namespace {scope.namespace} is there")
