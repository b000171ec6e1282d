"""The hosted control plane: Kamaji runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from butler.api.shared import ComponentResources

from .. import kinds
from ..manifests import Manifest, Object
from ..scope import Scope
from ..step import Step, Verdict, Whose

_FRESH = {"", "Provisioning"}


class ControlPlane(Step):
    """Ready when Kamaji says that the API server answers in the wanted version."""

    condition, title = "ControlPlaneReady", "Control plane"

    def manifests(self, scope: Scope) -> Sequence[Manifest]:
        return (scope.wanted(kinds.KAMAJI_CONTROL_PLANE, scope.name, spec=_spec(scope)),)

    def verdict(self, scope: Scope) -> Verdict:
        status, wanted = scope.control_plane_state, scope.settings.version
        if status in _FRESH:
            return Verdict(False, "ControlPlaneProvisioning", _waiting(scope), changing=True)
        if scope.running_version != wanted or status == "Upgrading":
            old = scope.running_version or "an unknown version"
            return Verdict(False, "ControlPlaneUpgrading", f"Kamaji takes it from {old} to {wanted}", changing=True)
        if status != "Ready":
            return Verdict(False, "ControlPlaneNotReady", f"Kamaji says {status}", Whose.PLATFORM)
        return Verdict(True, "ControlPlaneReady", f"Kubernetes {wanted} answers")


def _waiting(scope: Scope) -> str:
    live = scope.live(kinds.KAMAJI_CONTROL_PLANE, scope.name)
    for condition in ((live or {}).get("status") or {}).get("conditions") or ():
        if condition["status"] == "False" and condition.get("message"):
            return f"Kamaji: {condition['message']}"
    return "Kamaji starts the API server"


def _spec(scope: Scope) -> Object:
    spec = scope.cluster.spec.control_plane
    network: Object = {"serviceType": spec.service_type or "LoadBalancer"}
    if spec.cert_sans:
        network["certSANs"] = list(spec.cert_sans)
    made: Object = {
        "version": scope.settings.version,
        "dataStoreName": spec.data_store_ref.name if spec.data_store_ref else "default",
        # Cilium takes the place of kube-proxy.
        "addons": {"coreDNS": {}, "konnectivity": _component(scope, "konnectivity", "server")},
        "kubelet": {"cgroupfs": "systemd", "preferredAddressTypes": ["InternalIP", "ExternalIP", "Hostname"]},
        "network": network,
    }
    if spec.replicas is not None:
        made["replicas"] = spec.replicas
    for name, field in (
        ("apiServer", "api_server"),
        ("controllerManager", "controller_manager"),
        ("scheduler", "scheduler"),
    ):
        if found := _component(scope, field):
            made[name] = found
    return made


def _component(scope: Scope, field: str, inside: str = "") -> dict[str, Any]:
    resources = scope.settings.control_plane_resources
    component: ComponentResources | None = getattr(resources, field) if resources else None
    if component is None:
        return {}
    found = {"resources": msgspec.to_builtins(component)}
    return {inside: found} if inside else found
