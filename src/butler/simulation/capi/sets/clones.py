"""A machine and what it is made of, out of the templates of its set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import structs

from butler.engines.capi.kinds import (
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
    INFRASTRUCTURE,
    SET_NAME,
    Machine,
    MachineDeletion,
    MachineSet,
    Ref,
)
from kubekit.errors import AlreadyExists
from kubekit.model.resource import ObjectMeta
from kubekit.runtime.objects import owners_of

from .. import names
from ..shared import Shared, owned_by

MANAGER = "capi-machineset"
_NODE_DELETION_SECONDS = 10
_TEMPLATE = "Template"
_FINALIZERS = {(INFRASTRUCTURE, "SimulatedMachine"): f"simulatedmachine.{INFRASTRUCTURE}"}
"""What a kind's own controller would write as soon as it sees the object: put there at once, it saves a write."""


@dataclass(frozen=True, slots=True)
class Template:
    """A template of a provider, and what refers to it."""

    ref: Ref
    body: dict[str, Any]

    @property
    def made(self) -> str:
        """The kind of what is made from it."""
        return self.ref.kind.removesuffix(_TEMPLATE)


async def templates_of(shared: Shared, machines: MachineSet) -> tuple[Template, ...]:
    """The templates for bootstrap, if there is one, and infrastructure. Raises NotFound."""
    spec, namespace = machines.spec.template.spec, machines.metadata.namespace
    refs = [ref for ref in (spec.bootstrap.config_ref, spec.infrastructure_ref) if ref is not None]
    return tuple([Template(ref, await shared.externals.template(namespace, ref)) for ref in refs])


async def create_machine(shared: Shared, machines: MachineSet, templates: tuple[Template, ...]) -> Machine:
    """A new machine with a new name. It comes before its parts, so that they belong to it from the start."""
    made: Machine = await shared.client.create(
        machine_for(machines, names.suffixed(machines.metadata.name, names.suffix(shared.chance))), manager=MANAGER
    )
    await create_parts(shared, machines, made, templates)
    return made


async def create_parts(shared: Shared, machines: MachineSet, machine: Machine, templates: tuple[Template, ...]) -> None:
    """What a machine refers to, as far as it is not there."""
    for template in templates:
        try:
            await shared.externals.create(clone(template, machine), template.ref.api_group, template.made, MANAGER)
        except AlreadyExists:
            continue


async def lacks_parts(shared: Shared, machine: Machine) -> bool:
    """Whether something is missing that a machine refers to and that was never seen to work: if whoever made the
    machine was stopped half-way."""
    done = machine.status.initialization
    if machine.deleting or (done is not None and done.infrastructure_provisioned):
        return False
    namespace = machine.metadata.namespace
    for ref in (machine.spec.bootstrap.config_ref, machine.spec.infrastructure_ref):
        if ref is None or await shared.externals.find(namespace, ref) is not None:
            continue
        if not await shared.externals.exists(namespace, ref):
            return True
    return False


async def mark(
    shared: Shared, machine: Machine, labels: Mapping[str, str | None], annotations: Mapping[str, str | None]
) -> None:
    """Give a machine and its parts labels and annotations, or take them away where there is None."""
    meta = machine.metadata
    if meta.deletion_timestamp is not None:
        return
    if change := differing(meta, labels, annotations):
        await shared.client.patch(Machine, meta.name, {"metadata": change}, meta.namespace, manager=MANAGER)
    for ref in (machine.spec.bootstrap.config_ref, machine.spec.infrastructure_ref):
        part = None if ref is None else await shared.externals.find(meta.namespace, ref)
        if part is not None and not part.deleting and (change := differing(part.metadata, labels, annotations)):
            await shared.externals.patch(part, {"metadata": change}, MANAGER)


def differing(
    meta: ObjectMeta, labels: Mapping[str, str | None], annotations: Mapping[str, str | None]
) -> dict[str, Any]:
    """The part of labels and annotations that is something else in an object's metadata."""
    found = {
        "labels": {name: value for name, value in labels.items() if meta.labels.get(name) != value},
        "annotations": {name: value for name, value in annotations.items() if meta.annotations.get(name) != value},
    }
    return {field: values for field, values in found.items() if values}


def machine_for(machines: MachineSet, name: str) -> Machine:
    template, meta = machines.spec.template, machines.metadata
    spec = template.spec
    deletion = spec.deletion or MachineDeletion()
    if deletion.node_deletion_timeout_seconds is None:
        deletion = structs.replace(deletion, node_deletion_timeout_seconds=_NODE_DELETION_SECONDS)
    return Machine(
        metadata=ObjectMeta(
            name=name,
            namespace=meta.namespace,
            labels=labels_of(machines),
            annotations=template.metadata.annotations,
            finalizers=(names.MACHINE_FINALIZER,),
            owner_references=(owned_by(machines, controls=True),),
        ),
        spec=structs.replace(
            spec,
            bootstrap=structs.replace(spec.bootstrap, config_ref=_instance(spec.bootstrap.config_ref, name)),
            infrastructure_ref=_instance(spec.infrastructure_ref, name),
            deletion=deletion,
        ),
    )


def labels_of(machines: MachineSet) -> dict[str, str]:
    """The labels of a set's machines."""
    deployment = next((one.name for one in owners_of(machines) if one.controls), "")
    return {
        **machines.spec.template.metadata.labels,
        CLUSTER_NAME: machines.spec.cluster_name,
        SET_NAME: machines.metadata.name,
        **({DEPLOYMENT_NAME: deployment} if deployment else {}),
    }


def clone(template: Template, machine: Machine) -> dict[str, Any]:
    """One object from a template, for a machine."""
    inner = template.body.get("spec", {}).get("template") or {}
    meta, group = inner.get("metadata") or {}, template.ref.api_group
    finalizer = _FINALIZERS.get((group, template.made))
    return {
        "metadata": {
            "name": machine.metadata.name,
            "namespace": machine.metadata.namespace,
            "labels": {**(meta.get("labels") or {}), **machine.metadata.labels},
            "annotations": {
                **(meta.get("annotations") or {}),
                **machine.metadata.annotations,
                names.CLONED_FROM_NAME: template.ref.name,
                names.CLONED_FROM_KIND: f"{template.ref.kind}.{group}",
            },
            **({"finalizers": [finalizer]} if finalizer else {}),
            "ownerReferences": [msgspec.to_builtins(owned_by(machine, controls=True))],
        },
        "spec": inner.get("spec") or {},
    }


def _instance(ref: Ref | None, name: str) -> Ref | None:
    """The object that is made from a template."""
    return None if ref is None else structs.replace(ref, kind=ref.kind.removesuffix(_TEMPLATE), name=name)
