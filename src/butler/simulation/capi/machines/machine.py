"""Machine → its place in a cluster: from bootstrap data and infrastructure to a node, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from msgspec import structs

from butler.engines.capi.kinds import (
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
    Cluster,
    Machine,
    MachineDeployment,
    MachineStatus,
    Ref,
)
from kubekit.errors import KubeError
from kubekit.model.resource import Address
from kubekit.runtime.conditions import merged
from kubekit.runtime.objects import key, owners_of
from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch

from .. import names, templates
from ..conditions import find
from ..external import External
from ..shared import BY_CLUSTER, BY_DEPLOYMENT, WAITING, Shared, owned_by, pause_of, paused
from ..workload_clusters import PROVIDER_ID
from . import nodes
from .deletion import SOURCE, Deletion
from .nodes import Node
from .status import MachineView, status_of, waits_until_available

MANAGER = "capi-machine"
_MADE = timedelta(seconds=5)
"""In which whoever makes a machine has made its parts too."""
_AT_ONCE = timedelta(milliseconds=1)
_ON_THE_WAY = ("Pending", "Provisioning", "Provisioned")


class Machines(Reconciler[Machine]):
    """Machine → bootstrap data, infrastructure, node."""

    kind = Machine
    finalizer = names.MACHINE_FINALIZER
    tells_conditions = False
    source = SOURCE

    def __init__(self, shared: Shared, drain_takes: float = 0.0, parts: Iterable[Address] = ()) -> None:
        """`parts` are kinds of objects that clusters and machines are made of."""
        self._shared = shared
        everything = ("get", "list", "watch", "create", "patch", "delete")
        self.permissions = (Permission(Machine, ("patch",)), *(Permission(one, everything) for one in parts))
        self._deletion = Deletion(shared, drain_takes)
        self.watches = (
            Watch(Cluster, self._of_cluster, matters=_state_of_cluster),
            Watch(MachineDeployment, self._of_deployment, matters=_template_of),
        )

    def _of_cluster(self, cluster: Cluster) -> Iterable[str]:
        return self._shared.machines.keys_by(BY_CLUSTER, cluster.key)

    def _of_deployment(self, deployment: MachineDeployment) -> Iterable[str]:
        return self._shared.machines.keys_by(BY_DEPLOYMENT, deployment.key)

    async def reconcile(self, machine: Machine) -> Outcome:
        cluster = self._shared.cluster_of(machine.metadata.namespace, machine.spec.cluster_name)
        if cluster is None:
            return Outcome()
        if why := pause_of(cluster, machine):
            return Outcome(_paused(machine, why))
        sight = await self._look(machine, cluster)
        if _is_being_made(sight) and (left := self._shared.too_young(machine.metadata, max(self._shared.hold, _MADE))):
            return Outcome(again=left)
        await self._adopt(sight)
        if change := _completion(sight):
            if self._is_unseen(sight):
                return Outcome(status_of(sight, self._shared.clock.now()), again=_AT_ONCE)
            meta = machine.metadata
            await self._shared.client.patch(Machine, meta.name, {"spec": change}, meta.namespace, manager=MANAGER)
            # That changed the machine, and so wakes it.
            return Outcome()
        return await self._observed(sight)

    async def finalize(self, machine: Machine) -> Outcome:
        cluster = self._shared.cluster_of(machine.metadata.namespace, machine.spec.cluster_name)
        if why := pause_of(cluster, machine):
            return Outcome(_paused(machine, why), again=WAITING)
        if cluster is not None and machine.status.node_ref is not None and not cluster.deleting:
            # Whether there is a node decides what happens to its pods: better to know than to guess.
            await self._shared.workloads.connect(machine.metadata.namespace, machine.spec.cluster_name)
        return await self._deletion.advance(await self._look(machine, cluster))

    async def _observed(self, sight: MachineView) -> Outcome:
        machine, now = sight.machine, self._shared.clock.now()
        status = status_of(sight, now)
        if self._is_about_to_change(sight, status) and (left := self._shared.held_back(machine.metadata)):
            return Outcome(again=left)
        found = status.node_ref is not None and machine.status.node_ref is None
        notes = (Note("SuccessfulSetNodeRef", status.node_ref.name),) if found and status.node_ref else ()
        error = await self._mark_node(sight) if sight.node is not None else None
        ready = next((one for one in status.conditions if one.type == "Ready"), None)
        wait = waits_until_available(machine, ready, now)
        return Outcome(status, again=timedelta(seconds=wait) if wait else None, notes=notes, error=error)

    def _is_unseen(self, sight: MachineView) -> bool:
        """Whether nobody has seen the machine yet, and there is time for it: it begins as Pending."""
        return not self._shared.hold and sight.machine.status.phase is None

    def _is_about_to_change(self, sight: MachineView, status: MachineStatus) -> bool:
        """Whether a machine was never seen yet, is on its way, and nothing is in it."""
        told = find(sight.infrastructure.status.conditions, "Ready") if sight.infrastructure is not None else None
        return sight.machine.status.phase is None and status.phase in _ON_THE_WAY and told is None

    async def _mark_node(self, sight: MachineView) -> KubeError | None:
        """Give the node what it is to have from its machine. The machine's status does not wait for that."""
        machine, node = sight.machine, sight.node
        assert node is not None
        change = nodes.change_for(node, machine, is_outdated=bool(sight.outdated))
        if not change:
            return None
        try:
            client = await self._shared.workloads.client(machine.metadata.namespace, machine.spec.cluster_name)
            if client is not None:
                await client.patch(Node, node.metadata.name, change, manager=MANAGER)
        except KubeError as error:
            return error
        return None

    async def _adopt(self, sight: MachineView) -> None:
        """Whatever the machine refers to belongs to it; so it is from the start, unless someone else made it."""
        owner = owned_by(sight.machine, controls=True)
        labels = {CLUSTER_NAME: sight.machine.spec.cluster_name}
        for one in (sight.config, sight.infrastructure):
            if one is not None and not one.deleting:
                await self._shared.externals.adopt(one, owner, labels, MANAGER)

    async def _look(self, machine: Machine, cluster: Cluster | None) -> MachineView:
        known = None if cluster is None else self._shared.workloads.nodes(cluster.key)
        provider_id = machine.spec.provider_id
        found = known.by(PROVIDER_ID, provider_id) if known is not None and provider_id else []
        return MachineView(
            machine,
            cluster,
            await self._find(machine, machine.spec.bootstrap.config_ref),
            await self._find(machine, machine.spec.infrastructure_ref),
            found[0] if found else None,
            known is not None,
            self._outdated(machine),
        )

    async def _find(self, machine: Machine, ref: Ref | None) -> External | None:
        return None if ref is None else await self._shared.externals.find(machine.metadata.namespace, ref)

    def _outdated(self, machine: Machine) -> Sequence[str] | None:
        """Why it is not what its deployment asks for; None when it has none."""
        namespace = machine.metadata.namespace
        deployment = self._shared.deployments.get(key(namespace, machine.metadata.labels.get(DEPLOYMENT_NAME, "")))
        owner = next((one.name for one in owners_of(machine) if one.controls and one.kind == "MachineSet"), "")
        machines = self._shared.sets.get(key(namespace, owner))
        if deployment is None or machines is None:
            return None
        return templates.differences(machines, deployment, self._shared.clock.now())


def _completion(sight: MachineView) -> dict[str, Any]:
    """What the machine's spec lacks of what its bootstrap and infrastructure have reported."""
    spec, change = sight.machine.spec, dict[str, Any]()
    if not spec.bootstrap.data_secret_name and sight.config is not None and sight.config.data_secret:
        change["bootstrap"] = {"dataSecretName": sight.config.data_secret}
    infrastructure = sight.infrastructure
    if infrastructure is not None and infrastructure.provisioned and infrastructure.spec.provider_id:
        if spec.provider_id != infrastructure.spec.provider_id:
            change["providerID"] = infrastructure.spec.provider_id
        domain = infrastructure.spec.failure_domain
        if isinstance(domain, str) and domain and not spec.failure_domain:
            change["failureDomain"] = domain
    return change


def _is_being_made(sight: MachineView) -> bool:
    """Whether a machine is without its parts because they come after it."""
    spec = sight.machine.spec
    lacks = (spec.bootstrap.config_ref is not None and sight.config is None) or sight.infrastructure is None
    return sight.machine.status.phase is None and lacks


def _paused(machine: Machine, why: str) -> MachineStatus:
    return structs.replace(machine.status, conditions=merged(machine.status.conditions, paused(why)))


def _state_of_cluster(cluster: Cluster) -> tuple[Any, ...]:
    return cluster.spec.paused, cluster.status.initialization, cluster.deleting, _connection(cluster)


def _connection(cluster: Cluster) -> str:
    probe = cluster.status.condition("RemoteConnectionProbe")
    return probe.status if probe is not None else ""


def _template_of(deployment: MachineDeployment) -> tuple[Any, ...]:
    return templates.lasting(deployment.spec.template.spec), deployment.spec.rollout
