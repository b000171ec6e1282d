"""The Cluster of Cluster API, the infrastructure behind it, and the endpoint that joins them to the control plane."""

from __future__ import annotations

from collections.abc import Sequence

from butler.engines.capi.kinds import CONTROL_PLANE
from butler.providers.contract import KeptByButler

from .. import kinds
from ..manifests import Manifest, Object
from ..scope import Scope
from ..step import Step, Verdict, Whose


class Infrastructure(Step):
    """Kamaji's Cluster API provider tells some infrastructures where the API server is; to the others Butler does."""

    condition, title = "InfrastructureReady", "Infrastructure"

    def manifests(self, scope: Scope) -> Sequence[Manifest]:
        templates = scope.templates
        extras = [
            scope.wanted(
                kind, extra["metadata"]["name"], **{key: value for key, value in extra.items() if key != "metadata"}
            )
            for kind, extra in templates.extras(scope.blueprint)
        ]
        infrastructure = {**templates.cluster(scope.blueprint), **_endpoint(scope)}
        return (
            *extras,
            scope.wanted(
                templates.cluster_kind,
                scope.name,
                spec=infrastructure,
                annotations=_annotations(scope),
                **_status(scope),
            ),
            scope.wanted(kinds.CLUSTER, scope.name, spec=_cluster(scope)),
        )

    def verdict(self, scope: Scope) -> Verdict:
        live = scope.live(kinds.CLUSTER, scope.name)
        status = (live or {}).get("status") or {}
        reached = status.get("initialization") or {}
        if not reached.get("infrastructureProvisioned"):
            return Verdict(False, "InfrastructureProvisioning", _waiting(scope, status), _whose(status), changing=True)
        if not reached.get("controlPlaneInitialized"):
            return Verdict(
                False, "InfrastructureProvisioning", "Cluster API reaches for the control plane", changing=True
            )
        return Verdict(True, "InfrastructureReady", "Cluster API reaches the control plane")


def _cluster(scope: Scope) -> Object:
    networking, infrastructure = scope.cluster.spec.networking, scope.templates.cluster_kind
    return {
        "clusterNetwork": {
            "pods": {"cidrBlocks": [networking.pod_cidr]},
            "services": {"cidrBlocks": [networking.service_cidr]},
        },
        "controlPlaneRef": {
            "apiGroup": CONTROL_PLANE,
            "kind": kinds.KAMAJI_CONTROL_PLANE.kind,
            "name": scope.name,
        },
        "infrastructureRef": {"apiGroup": infrastructure.group, "kind": infrastructure.kind, "name": scope.name},
        **_endpoint(scope),
    }


def _annotations(scope: Scope) -> Object:
    """Few infrastructures need some, so templates may do without."""
    return dict(getattr(scope.templates, "cluster_annotations", {}))


def _endpoint(scope: Scope) -> Object:
    if scope.templates.endpoint_is_handed_over or scope.endpoint is None:
        return {}
    host, port = scope.endpoint
    return {"controlPlaneEndpoint": {"host": host, "port": port}}


def _status(scope: Scope) -> Object:
    """What the infrastructure's own controller would say, where it has to leave the cluster object alone."""
    if not isinstance(scope.templates, KeptByButler) or scope.endpoint is None:
        return {}
    return {"status": scope.templates.cluster_status(scope.blueprint)}


def _waiting(scope: Scope, status: Object) -> str:
    if scope.endpoint is None:
        return "waits for the address of the control plane"
    said = _infrastructure_condition(status)
    if said and said.get("message"):
        kind, message = scope.templates.cluster_kind.kind, str(said["message"])
        return message if message.startswith(kind) else f"{kind}: {message}"
    return f"{scope.templates.cluster_kind.kind} is being provisioned"


def _whose(status: Object) -> Whose:
    said = _infrastructure_condition(status)
    return Whose.INFRASTRUCTURE if said and said.get("reason") not in (None, "NotReady") else Whose.NOBODY


def _infrastructure_condition(status: Object) -> Object | None:
    return next((one for one in status.get("conditions") or () if one["type"] == "InfrastructureReady"), None)
