"""The Cluster API provider of the simulated data centre: SimulatedCluster, and SimulatedMachine → VM → Node."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from msgspec import structs

from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.sections.simulated import SimulatedSection
from butler.api.shared import SYSTEM_NAMESPACE
from butler.engines.capi.kinds import CLUSTER_NAME, Cluster, KubeadmConfig, Machine
from butler.engines.core import Secret
from butler.engines.tenants import VALUE, Connect
from butler.errors import CapacityExhausted, ProviderError
from butler.providers.contract import Machine as Vm
from butler.providers.contract import MachineOrder, Power
from butler.providers.simulated.datacentre import DataCentre
from butler.providers.simulated.provider import Simulated
from kubekit.client.protocol import Client
from kubekit.errors import ApiError, InvalidConfiguration, NotFound
from kubekit.runtime.conditions import condition, merged
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key, key_of, owners_of
from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch

from ..delays import Delays
from ..reached_tenants import ReachedTenants
from . import machine_status as shown
from . import nodes
from .kinds import MACHINE_FINALIZER, FailureDomain, Initialization, SimulatedCluster, SimulatedMachine

SOURCE = "simulated-infrastructure"
"""Who the events are from."""

_LINGER = timedelta(seconds=2)
"""How long something may be waited for before the waiting itself is worth a write."""
_MISSING = timedelta(seconds=5)
"""When to look again for what should be there and is not."""
_READ = ("get", "list", "watch")


def add_infrastructure(manager: Manager, datacentre: DataCentre, connect: Connect, delays: Delays) -> None:
    """Run the reconcilers of the simulated infrastructure too."""
    machines = SimulatedMachines(manager, datacentre, connect, delays)
    controller = manager.add(machines)
    manager.add(SimulatedClusters(manager))

    def look_at(token: str) -> None:
        for each in machines.keys_of(token):
            controller.queue.add(each)

    datacentre.listen(lambda vm: look_at(vm.token))


class SimulatedClusters(Reconciler[SimulatedCluster]):
    """SimulatedCluster: provisioned once it knows its endpoint."""

    kind = SimulatedCluster
    tells_conditions = False
    source = SOURCE
    permissions = (Permission(ProviderConfig, _READ),)

    def __init__(self, manager: Manager) -> None:
        self._configs: Informer[ProviderConfig] = manager.informers.of(ProviderConfig)

    async def reconcile(self, obj: SimulatedCluster) -> Outcome:
        endpoint = obj.spec.control_plane_endpoint
        if endpoint is None or not endpoint.host:
            return Outcome()
        config = self._configs.get(_config_key(obj))
        section = config.spec.simulated if config is not None else None
        status = structs.replace(
            obj.status,
            initialization=Initialization(provisioned=True),
            failure_domains=tuple(FailureDomain(name=name) for name in section.failure_domains) if section else (),
            conditions=merged(
                obj.status.conditions,
                condition("Ready", True, "Ready"),
                condition("Paused", False, "NotPaused"),
            ),
        )
        return Outcome(status)


@dataclass(frozen=True, slots=True)
class Account:
    """Where the machines of a ProviderConfig are."""

    name: str
    generation: int
    provider: Simulated


class SimulatedMachines(Reconciler[SimulatedMachine]):
    """SimulatedMachine → one VM, and the Node that its kubelet registers.

    A VM that is lost or stopped is shown, and never replaced: that is for whoever owns the Machine."""

    kind = SimulatedMachine
    finalizer = MACHINE_FINALIZER
    tells_conditions = False
    source = SOURCE
    workers = 16
    permissions = (
        Permission(Secret, ("get",)),
        *(Permission(kind, _READ) for kind in (Cluster, KubeadmConfig)),
    )

    def __init__(self, manager: Manager, datacentre: DataCentre, connect: Connect, delays: Delays) -> None:
        self._client, self._datacentre, self._delays = manager.client, datacentre, delays
        self._tenants, self._pods = ReachedTenants(manager, connect), nodes.PodNetworks()
        self._simulated: Informer[SimulatedMachine] = manager.informers.of(SimulatedMachine)
        self._simulated.index("uid", _uid)
        self._simulated.index("config", _config_of)
        self._simulated.index("cluster", _cluster_of)
        self._machines: Informer[Machine] = manager.informers.of(Machine)
        self._clusters: Informer[Cluster] = manager.informers.of(Cluster)
        self._bootstrap: Informer[KubeadmConfig] = manager.informers.of(KubeadmConfig)
        self._configs: Informer[ProviderConfig] = manager.informers.of(ProviderConfig)
        self._accounts: dict[str, Account] = {}
        self.watches = (Watch(Machine, self._of_machine), Watch(ProviderConfig, self._of_config))

    def keys_of(self, token: str) -> list[str]:
        """Whose VM has this token."""
        return self._simulated.keys_by("uid", token)

    def _of_machine(self, machine: Machine) -> Iterable[str]:
        """The one that waits for something its Machine may say."""
        ref = machine.spec.infrastructure_ref
        if ref is None or ref.kind != SimulatedMachine.address.kind:
            return ()
        place = key(machine.metadata.namespace, ref.name)
        known = self._simulated.get(place)
        return () if known is not None and known.spec.provider_id is not None else (place,)

    def _of_config(self, config: ProviderConfig) -> Iterable[str]:
        """Those that have no VM yet: they may get one under other settings."""
        waiting = self._simulated.by("config", key_of(config))
        return [key_of(one) for one in waiting if one.spec.provider_id is None]

    async def reconcile(self, obj: SimulatedMachine) -> Outcome:
        machine = self._owner(obj)
        if machine is None:
            return Outcome()
        try:
            account = self._account(obj)
            if account is None:
                absent = shown.Fact(False, "ProviderConfigNotFound", f"There is no ProviderConfig {_config_key(obj)}.")
                return Outcome(shown.with_facts(obj, absent, shown.NO_MACHINE))
            vm = await account.provider.find(obj.metadata.name, obj.metadata.uid)
            if vm is None and obj.spec.provider_id is None:
                return await self._ordered(obj, machine, account)
            return await self._progress(obj, machine, account, vm)
        except (ProviderError, InvalidConfiguration) as error:
            if error.retryable and not isinstance(error, CapacityExhausted):
                raise
            refused = shown.Fact(False, error.reason, str(error))
            return Outcome(shown.with_facts(obj, refused, shown.NO_MACHINE), error=error if error.retryable else None)

    async def finalize(self, obj: SimulatedMachine) -> Outcome:
        name, token = obj.metadata.name, obj.metadata.uid
        account = self._account_for_removal(obj)
        await account.provider.delete(name, token)
        if await account.provider.find(name, token) is not None:
            return Outcome(again=self._next_change(account, obj) or _MISSING)
        await self._forget_node(obj)
        return Outcome()

    async def _ordered(self, obj: SimulatedMachine, machine: Machine, account: Account) -> Outcome:
        """Ask for the VM once it is known what it boots with."""
        data = await self._bootstrap_data(machine)
        if data is None:
            return self._waiting(obj, machine)
        spec = obj.spec
        order = MachineOrder(
            name=obj.metadata.name,
            token=obj.metadata.uid,
            cpu=spec.cpu,
            memory_mb=spec.memory_mb,
            disk_gb=spec.disk_gb,
            user_data=data,
            labels={CLUSTER_NAME: machine.spec.cluster_name},
        )
        return await self._progress(obj, machine, account, await account.provider.create(order))

    async def _bootstrap_data(self, machine: Machine) -> str | None:
        name = machine.spec.bootstrap.data_secret_name
        if not name:
            return None
        try:
            secret = await self._client.get(Secret, name, machine.metadata.namespace)
        except NotFound:
            return None
        return secret.data[VALUE].decode() if VALUE in secret.data else None

    def _waiting(self, obj: SimulatedMachine, machine: Machine) -> Outcome:
        """Nothing to do until the Machine says more; worth saying only if that takes a while."""
        again = _MISSING if machine.spec.bootstrap.data_secret_name else None
        created = obj.metadata.creation_timestamp
        age = self._datacentre.clock.now() - created if created is not None else _LINGER
        if age < _LINGER:
            return Outcome(again=_LINGER - age)
        return Outcome(shown.with_facts(obj, shown.NO_DATA, shown.NO_MACHINE), again=again)

    async def _progress(self, obj: SimulatedMachine, machine: Machine, account: Account, vm: Vm | None) -> Outcome:
        coming = self._next_change(account, obj)
        if vm is None and coming is not None:
            # An infrastructure may show a machine later than it has it.
            return Outcome(again=coming)
        if vm is None or vm.power in shown.NOT_RUNNING:
            return await self._down(obj, machine, None if vm is None else vm.power, coming)
        if vm.power is Power.STARTING:
            return Outcome(shown.with_facts(obj, shown.BOOTING, shown.NO_MACHINE), again=coming)
        if obj.spec.provider_id is None:
            # Wakes this controller again, with the object as it is then.
            change = {"spec": {"providerID": vm.id}}
            await self._client.patch(
                SimulatedMachine, obj.metadata.name, change, obj.metadata.namespace, manager=SOURCE
            )
            return Outcome()
        if shown.holds(obj, shown.NODE_PROVISIONED):
            return Outcome(shown.running(obj, vm, shown.PROVISIONED), again=coming)
        return await self._joining(nodes.Joining(obj, machine, vm, self._config_of(machine)), account, coming)

    async def _joining(self, joining: nodes.Joining, account: Account, coming: timedelta | None) -> Outcome:
        obj = joining.simulated
        rest = self._delays.join - self._datacentre.uptime(account.name, obj.metadata.uid)
        if rest > 0:
            return Outcome(shown.running(obj, joining.vm, shown.JOINING), again=_sooner(_timer(rest), coming))
        cluster = joining.machine.spec.cluster_name
        tenant = await self._tenants.reach(obj.metadata.namespace, cluster)
        if tenant is None:
            return Outcome(shown.running(obj, joining.vm, shown.NO_TENANT), again=_MISSING)
        try:
            await self._join(joining, key(obj.metadata.namespace, cluster), tenant)
        except ApiError as error:
            if error.retryable:
                raise
            # A kubelet tries for ever: the control plane may be about to get another kubeconfig.
            return Outcome(shown.running(obj, joining.vm, shown.NO_TENANT), again=_MISSING)
        return Outcome(shown.running(obj, joining.vm, shown.PROVISIONED), again=coming)

    async def _join(self, joining: nodes.Joining, cluster: str, tenant: Client) -> None:
        now = self._datacentre.clock.now()
        pod_cidr = await self._pods.assign(cluster, self._pod_network(cluster), joining.name, tenant)
        if not await nodes.register(tenant, nodes.node_for(joining, pod_cidr, now)):
            await nodes.report(tenant, joining.name, True, now)

    async def _down(
        self, obj: SimulatedMachine, machine: Machine, power: Power | None, coming: timedelta | None
    ) -> Outcome:
        """A machine that ran does no longer; after a while that is seen at its node, too."""
        fact, now = shown.NOT_RUNNING[power], self._datacentre.clock.now()
        if not shown.holds(obj, shown.NODE_PROVISIONED):
            before = obj.status.condition(shown.NODE_PROVISIONED)
            is_silent = before is not None and before.reason == shown.SILENT.reason
            node = shown.SILENT if is_silent else shown.NO_MACHINE
            return Outcome(shown.with_facts(obj, fact, node), again=coming)
        seen = obj.status.condition(shown.VM_PROVISIONED)
        since = seen.last_transition_time if seen is not None and seen.status == "False" else None
        rest = self._delays.silence - (now - since).total_seconds() if since else self._delays.silence
        if rest > 0:
            return Outcome(shown.with_facts(obj, fact, shown.PROVISIONED), again=_sooner(_timer(rest), coming))
        tenant = await self._tenants.reach(obj.metadata.namespace, machine.spec.cluster_name)
        if tenant is not None:
            await nodes.report(tenant, obj.metadata.name, False, now)
        return Outcome(
            shown.with_facts(obj, fact, shown.SILENT), again=coming, notes=(Note(fact.reason, fact.message, "Warning"),)
        )

    async def _forget_node(self, obj: SimulatedMachine) -> None:
        """Remove the Node, unless its whole API goes anyway."""
        cluster = next(iter(_cluster_of(obj)), "")
        known = self._clusters.get(cluster)
        namespace, name = obj.metadata.namespace, cluster.rpartition("/")[2]
        if known is not None and not known.deleting and obj.spec.provider_id:
            tenant = await self._tenants.reach(namespace, name)
            if tenant is not None:
                await nodes.remove(tenant, obj.metadata.name, obj.spec.provider_id)
        self._pods.release(cluster, obj.metadata.name)
        if len(self._simulated.keys_by("cluster", cluster)) <= 1:
            self._pods.forget(cluster)
            await self._tenants.forget(namespace, name)

    def _owner(self, obj: SimulatedMachine) -> Machine | None:
        names = [owner.name for owner in owners_of(obj) if owner.kind == Machine.address.kind]
        return self._machines.get(key(obj.metadata.namespace, names[0])) if names else None

    def _account(self, obj: SimulatedMachine) -> Account | None:
        name = _config_key(obj)
        config = self._configs.get(name)
        if config is None:
            return None
        known = self._accounts.get(name)
        if known is None or known.generation != config.metadata.generation:
            section = normalise(config).spec.simulated or SimulatedSection()
            known = Account(name, config.metadata.generation, Simulated(self._datacentre, name, section))
            self._accounts[name] = known
        return known

    def _account_for_removal(self, obj: SimulatedMachine) -> Account:
        """The account also of a ProviderConfig that is gone or wrong: what it left can still be removed."""
        try:
            known = self._account(obj)
        except InvalidConfiguration:
            known = None
        name = _config_key(obj)
        return known or Account(name, 0, Simulated(self._datacentre, name, SimulatedSection()))

    def _config_of(self, machine: Machine) -> KubeadmConfig | None:
        ref = machine.spec.bootstrap.config_ref
        return self._bootstrap.get(key(machine.metadata.namespace, ref.name)) if ref is not None else None

    def _pod_network(self, cluster: str) -> str:
        known = self._clusters.get(cluster)
        network = known.spec.cluster_network if known is not None else None
        blocks = network.pods.cidr_blocks if network is not None and network.pods is not None else ()
        return blocks[0] if blocks else ""

    def _next_change(self, account: Account, obj: SimulatedMachine) -> timedelta | None:
        rest = self._datacentre.next_change(account.name, obj.metadata.uid)
        return None if rest is None else _timer(rest)


def _timer(seconds: float) -> timedelta:
    """Never a moment too early: that would be another visit for nothing."""
    return timedelta(milliseconds=math.ceil(seconds * 1000))


def _sooner(one: timedelta, other: timedelta | None) -> timedelta:
    return one if other is None else min(one, other)


def _uid(obj: SimulatedMachine) -> Iterable[str]:
    return (obj.metadata.uid,)


def _config_key(obj: SimulatedMachine | SimulatedCluster) -> str:
    ref = obj.spec.provider_config_ref
    return key(ref.namespace or SYSTEM_NAMESPACE, ref.name) if ref is not None else ""


def _config_of(obj: SimulatedMachine) -> Iterable[str]:
    return (_config_key(obj),)


def _cluster_of(obj: SimulatedMachine) -> Iterable[str]:
    name = obj.metadata.labels.get(CLUSTER_NAME)
    return (key(obj.metadata.namespace, name),) if name else ()
