"""MachineRequest: older names of its fields; for all requests, the namespace of the provider."""

from __future__ import annotations

from msgspec.structs import replace

from ..machine import (
    NO_PROVIDER,
    ImageSync,
    LoadBalancerRequest,
    MachineRequest,
    MachineResources,
    MachineRole,
    MachineSpec,
)
from . import sizes
from .sizes import Size, Written
from .spellings import Spellings, in_namespace


def machine_request(request: MachineRequest, spellings: Spellings) -> MachineRequest:
    spec, namespace = request.spec, request.metadata.namespace
    named = None if spec.provider_ref == NO_PROVIDER else in_namespace(spec.provider_ref, namespace)
    other = in_namespace(spec.provider_config_ref, namespace) if spec.provider_config_ref else None
    made = replace(
        spec,
        provider_ref=spellings.needed("spec.providerRef", named, "spec.providerConfigRef", other),
        provider_config_ref=None,
        role=MachineRole.CONTROL_PLANE if spec.role is MachineRole.CONTROLPLANE else spec.role,
        resources=None,
        **_size(spec, spellings),
    )
    return replace(request, spec=made)


def _size(spec: MachineSpec, spellings: Spellings) -> Size:
    resources = spec.resources or MachineResources()
    return sizes.chosen(
        spellings,
        Written("spec.cpu", spec.cpu, "spec.resources.cpu", resources.cpu),
        Written("spec.memoryMB", spec.memory_mb, "spec.resources.memory", resources.memory),
        Written("spec.diskGB", spec.disk_gb, "spec.resources.disk", resources.disk),
    )


def load_balancer_request(request: LoadBalancerRequest, _: Spellings) -> LoadBalancerRequest:
    ref = in_namespace(request.spec.provider_config_ref, request.metadata.namespace)
    return replace(request, spec=replace(request.spec, provider_config_ref=ref))


def image_sync(sync: ImageSync, _: Spellings) -> ImageSync:
    ref = in_namespace(sync.spec.provider_config_ref, sync.metadata.namespace)
    return replace(sync, spec=replace(sync.spec, provider_config_ref=ref))
