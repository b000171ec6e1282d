"""TenantCluster → a running Kubernetes cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from butler.addons.model import Installer
from butler.api.addon import AddonDefinition
from butler.api.cluster import CLUSTER_DELETED, TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import CREDENTIALS_VALID, ProviderConfig
from butler.api.references import ALLOWED_NAMESPACES
from butler.api.team import Team
from butler.engines.tenants import Tenants
from butler.providers import registry
from butler.providers.contract import KeptByButler
from kubekit.client.protocol import Selection
from kubekit.clock import Chance, Clock, SystemClock
from kubekit.errors import FieldError, FieldProblem, KubeError, NotFound
from kubekit.model.resource import Address
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import Kind, identity_of, key
from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch

from . import deletion, kinds, names
from .acceptance import Accepted, Refused, accept, as_last_accepted
from .addons.caretaker import Caretaker
from .addons.installations import Installations
from .addons.resolved import Resolver
from .lookup import BY_NAMESPACE, Caches
from .manifests import ensure
from .scope import Scope
from .status import Report, deleting_status, failed_status, notes_for, refused_status, status_after
from .step import Step, Verdict, Whose
from .steps import GATES, WORK
from .steps.quota import Quota
from .steps.workers import outdated, stray

_KUBECONFIGS = Selection(labels="kamaji.clastix.io/component=admin-kubeconfig")
_OURS = Selection(labels=f"{names.MANAGED_BY}=butler,{names.SOURCE_NAME}")
_LOOK_AGAIN = timedelta(minutes=10)
"""When to ask again for something whose end no watch tells, such as the end of a deletion."""
_SHORT_OF_QUOTA = "short of quota"
"""Index of the clusters whose quota does not suffice, by namespace."""

_SELECTIONS: dict[Kind, Selection] = {kinds.NAMESPACE: _OURS, kinds.SecretSeen: _KUBECONFIGS}


class TenantClusters(Reconciler[TenantCluster]):
    """Goes through the steps: makes what should exist, then says how far it is."""

    kind = TenantCluster
    finalizer = names.FINALIZER
    tells_conditions = False
    workers = 16
    journal = logging.getLogger("butler.clusters")

    def __init__(
        self,
        manager: Manager,
        tenants: Tenants,
        installer: Installer | None,
        providers: Iterable[str],
        clock: Clock | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._client, self._tenants = manager.client, tenants
        self._clock = clock or SystemClock()
        self.installations = Installations(self._clock, chance)
        self._resolver = Resolver()
        self._caretaker = Caretaker(manager.client, tenants, installer, self.installations)
        self._informers, self._recorder = manager.informers, manager.recorder
        self._sight = Caches(manager.informers, _SELECTIONS)
        self._providers = frozenset(providers)
        templates = [registry.templates(name) for name in sorted(self._providers)]
        made: list[Address] = [
            kinds.CLUSTER,
            kinds.MACHINE_DEPLOYMENT,
            kinds.KUBEADM_CONFIG_TEMPLATE,
            kinds.KAMAJI_CONTROL_PLANE,
            *(kind for one in templates for kind in (one.cluster_kind, one.machine_template_kind)),
        ]
        inside: list[Kind] = [*made, kinds.TenantControlPlane, kinds.MachineSeen, kinds.SecretSeen]
        self.watches = (
            Watch(kinds.NAMESPACE, _by_labels, _OURS),
            *(Watch(kind, self._by_namespace, _SELECTIONS.get(kind, Selection())) for kind in inside),
            Watch(kinds.MachineSetSeen, self._by_namespace, matters=_whether_machines),
            *(Watch(kind, self._everyone, matters=_spec_of) for kind in (ButlerConfig, Team, AddonDefinition)),
            Watch(ProviderConfig, self._everyone, matters=_whether_usable),
            Watch(TenantCluster, self._short_of_quota, matters=_what_counts),
        )
        self.permissions = (
            *(Permission(kind, ("patch", "create", "delete", "get")) for kind in (kinds.NAMESPACE, *made)),
            Permission(kinds.SECRET, ("get",)),
            *(Permission(one.cluster_kind, ("patch",), "status") for one in templates if isinstance(one, KeptByButler)),
        )
        for kind in (*inside, kinds.MachineSetSeen):
            manager.informers.of(kind, _SELECTIONS.get(kind)).index(BY_NAMESPACE, _namespace_of)
        manager.informers.of(TenantCluster).index(BY_NAMESPACE, _namespace_of)
        manager.informers.of(TenantCluster).index(_SHORT_OF_QUOTA, _where_quota_lacks)
        manager.informers.of(ProviderConfig).index(BY_NAMESPACE, _namespace_of)

    async def reconcile(self, obj: TenantCluster) -> Outcome:
        gates, scope = self._judged(obj)
        if scope is not None and _is_admitted(gates) and _is_uncounted(obj):
            await self._count_workers(scope)
            return Outcome()
        if obj.status.phase is None:
            self.journal.info("%s ClusterRequested: somebody asks for it", obj.key)
        if scope is None:
            status = refused_status(obj.status, gates, self._clock.now())
            return Outcome(status, notes=notes_for(obj.status, status))
        try:
            scope = await self._caretaker.look(await self._caretaker.hear(scope))
            work, scope = await self._go_through(scope)
        except KubeError as error:
            if error.retryable:
                raise
            status = failed_status(obj.status, str(error), self._clock.now())
            return Outcome(status, notes=notes_for(obj.status, status), error=error)
        status = status_after(scope, [*gates, *work], self._clock.now())
        again, untried = self.installations.again(obj.key), self.installations.take_error(obj.key)
        notes = (*notes_for(obj.status, status), *self.installations.take_notes(obj.key))
        return Outcome(status, again, notes=notes, error=untried)

    def _judged(self, obj: TenantCluster) -> tuple[Report, Scope | None]:
        """What is said of what is asked for, and what to do: what is asked for, or else what was before, if that can
        be done."""
        try:
            scope = self._scope(obj)
            gates = [(step, step.verdict(scope)) for step in GATES]
            if all(verdict.done for _, verdict in gates):
                return gates, scope
        except Refused as refused:
            verdict = Verdict(False, refused.condition_reason, str(refused), Whose.OWNER)
            gates = [(GATES[0], verdict)]
        before = as_last_accepted(obj, self._sight)
        try:
            return gates, replace(self._scope(before), is_kept=True) if before is not None else None
        except Refused:
            return gates, None

    async def _count_workers(self, scope: Scope) -> None:
        """Write down the number of workers that nobody named: `kubectl scale` needs one to be there, and it stays
        whatever becomes of the defaults."""
        meta = scope.cluster.metadata
        change = {
            "metadata": {"resourceVersion": meta.resource_version},
            "spec": {"workers": {"replicas": scope.settings.workers}},
        }
        await self._client.patch(TenantCluster, meta.name, change, meta.namespace, manager=names.MANAGER)

    def _refuse_absent(self, accepted: Accepted) -> None:
        """Raises Refused where the kinds of the infrastructure were not there when this process began."""
        name = accepted.provider.spec.infrastructure
        if name not in self._providers:
            detail = (
                f"the Cluster API provider for {name} is not installed here"
                f" ({accepted.templates.cluster_kind.name}); install it and start Butler's controllers again"
            )
            error = FieldError(FieldProblem.INVALID, "spec.providerConfigRef.name", detail, accepted.provider.key)
            raise Refused("ProviderNotInstalled", [error])

    async def finalize(self, obj: TenantCluster) -> Outcome:
        await self.installations.stop(obj.key)
        self._resolver.forget(obj.key)
        waiting = await deletion.take_down(self._client, obj)
        namespace = obj.status.tenant_namespace
        if not waiting:
            if namespace:
                await self._tenants.forget(namespace, obj.metadata.name)
            self._tell_end(obj)
            return Outcome(obj.status)
        status = deleting_status(obj.status, waiting, self._clock.now())
        return Outcome(status, again=_LOOK_AGAIN, notes=notes_for(obj.status, status))

    def _tell_end(self, obj: TenantCluster) -> None:
        """What the end of an object would swallow."""
        note = Note(CLUSTER_DELETED, "nothing is left of it")
        self.journal.info("%s %s: %s", obj.key, note.reason, note.message)
        self._recorder.record(obj, self.kind, note, self.source)

    def _scope(self, cluster: TenantCluster) -> Scope:
        """Raises Refused."""
        accepted = accept(cluster, self._sight)
        self._refuse_absent(accepted)
        meta = accepted.cluster.metadata
        namespace = accepted.cluster.status.tenant_namespace or names.tenant_namespace(meta.name, meta.uid)
        return Scope(accepted, namespace, self._sight, resolver=self._resolver)

    async def _go_through(self, scope: Scope) -> tuple[Report, Scope]:
        """Answers how far each step is, and what is known then."""
        report: list[tuple[Step, Verdict]] = []
        for step in WORK:
            changed = await self._make(step, scope)
            if addons := step.addons(scope):
                scope = await self._caretaker.install(scope, addons)
            if unwanted := step.unwanted(scope):
                scope = await self._caretaker.remove(scope, unwanted)
            verdict = step.verdict(scope)
            if changed and verdict.done and not step.holds:
                verdict = Verdict(False, "Reconciling", f"what follows from the change of {changed}", changing=True)
            report.append((step, verdict))
            if step.holds and not verdict.done:
                return report, scope
        await self._prune(scope)
        return report, scope

    async def _make(self, step: Step, scope: Scope) -> str:
        """Make what should exist. Answers the kind of what had to be changed: what others said of it before says
        nothing of how it is to be now."""
        changed = ""
        for wanted in step.manifests(scope):
            live = self._sight.get(wanted.kind, wanted.key)
            if await ensure(self._client, live, wanted) and live is not None:
                changed = wanted.kind.kind
        return changed

    async def _prune(self, scope: Scope) -> None:
        """Remove what an earlier form of the cluster needed."""
        for name in stray(scope):
            await self._remove(kinds.MACHINE_DEPLOYMENT, name, scope.namespace)
        for kind, name in outdated(scope):
            await self._remove(kind, name, scope.namespace)

    async def _remove(self, kind: Any, name: str, namespace: str) -> None:
        live = self._sight.get(kind, key(namespace, name))
        if live is None or live["metadata"].get("deletionTimestamp"):
            return
        try:
            await self._client.delete(kind, name, namespace, uid=live["metadata"]["uid"])
        except NotFound:
            # The cache will say so too.
            return

    def _by_namespace(self, obj: Any) -> Iterable[str]:
        """Whose namespace an object is in."""
        namespace = self._informers.of(kinds.NAMESPACE, _OURS).get(identity_of(obj).namespace)
        return _by_labels(namespace) if namespace is not None else ()

    def _everyone(self, obj: Any) -> Iterable[str]:
        return self._informers.of(TenantCluster).keys()

    def _short_of_quota(self, obj: TenantCluster) -> Iterable[str]:
        """Those that may get now what another has given up."""
        waiting = self._informers.of(TenantCluster).by(_SHORT_OF_QUOTA, obj.metadata.namespace)
        return [one.key for one in waiting]


def add_clusters(
    manager: Manager,
    tenants: Tenants,
    installer: Installer | None,
    providers: Iterable[str],
    clock: Clock | None = None,
    chance: Chance | None = None,
) -> None:
    """Have a manager run the controller, and its work on addons beside it."""
    clusters = TenantClusters(manager, tenants, installer, providers, clock, chance)
    clusters.installations.errands.wake = manager.add(clusters).wake
    manager.accompany(clusters.installations.run)


def _is_uncounted(cluster: TenantCluster) -> bool:
    """Whether a cluster has no number of workers anywhere."""
    return cluster.spec.workers.replicas is None and not cluster.spec.workers.pools


def _is_admitted(report: Report) -> bool:
    return all(verdict.done for step, verdict in report if step in GATES)


def _by_labels(obj: Any) -> Iterable[str]:
    labels = obj["metadata"].get("labels") or {}
    return (key(labels.get(names.SOURCE_NAMESPACE, ""), labels[names.SOURCE_NAME]),)


def _namespace_of(obj: Any) -> Iterable[str]:
    return (identity_of(obj).namespace,)


def _where_quota_lacks(cluster: TenantCluster) -> Iterable[str]:
    said = cluster.status.condition(Quota.condition)
    return (cluster.metadata.namespace,) if said is not None and said.status == "False" else ()


def _what_counts(cluster: TenantCluster) -> Any:
    return cluster.deleting, cluster.spec, cluster.metadata.labels, cluster.status.accepted_spec


def _whether_machines(machines: kinds.MachineSetSeen) -> Any:
    return machines.machines, machines.spec.template


def _spec_of(obj: Any) -> Any:
    return obj.spec


def _whether_usable(config: ProviderConfig) -> Any:
    told = config.status.condition(CREDENTIALS_VALID)
    allowed = config.metadata.annotations.get(ALLOWED_NAMESPACES)
    return config.spec, allowed, told.status if told is not None else "", config.status.observed_generation
