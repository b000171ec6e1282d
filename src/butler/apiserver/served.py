"""A space as it is served: with its watchers, its documents, its tokens and what runs in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from butler.runtime.clock import Chance, Clock

from . import crds
from .auth import bootstrap_policy
from .auth.authentication import SpaceAccess
from .auth.impersonation import Impersonator
from .auth.pki import Pki
from .auth.tokens import SigningKey, TokenIssuer, TokenVerifier
from .auth.users import UserInfo
from .background.definitions import Definitions
from .background.garbage import GarbageCollector
from .background.namespaces import Namespaces
from .background.policy import Aggregation, TokenSecrets
from .background.worker import Worker
from .builtins import catalogue
from .builtins.behaviours import behaviour_of
from .builtins.pods import SYSTEM_PRIORITIES
from .discovery import Discovery
from .kinds import Kinds
from .openapi import OpenApi
from .requests import Target, WriteOptions
from .resources import Object, Resource
from .space import Space
from .storage.changes import Change
from .storage.store import Event, Store
from .watching import Hub
from .writing import create, rebuild

_SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_RBAC_KINDS = ("clusterroles", "roles", "clusterrolebindings", "rolebindings")
_RBAC = "rbac.authorization.k8s.io"
_WEBHOOK_KINDS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


class ServedSpace(Space):
    """One isolated API, complete."""

    def __init__(self, name: str, store: Store, hub: Hub, pki: Pki, clock: Clock, chance: Chance) -> None:
        super().__init__(name, store, Kinds(_built_in()), clock, chance)
        self.hub = hub
        self.prefix = ""
        """What stands before every path of this API."""
        self.discovery, self.openapi = Discovery(self.kinds), OpenApi(self.kinds)
        self.impersonator = Impersonator(self.rbac.authorize)
        keys = pki.space(name)
        signing = SigningKey(keys.signing_key)
        authority = pki.server_authority.decode()
        self.issuer = TokenIssuer(signing, clock, chance)
        self.access = SpaceAccess(keys.authority, TokenVerifier(signing, clock, self.lookup))
        self._namespaces = Namespaces(self, authority)
        self._garbage = GarbageCollector(self)
        self._definitions = Definitions(self, self._end_watches)
        self._aggregation = Aggregation(self)
        self._token_secrets = TokenSecrets(self, self.issuer, authority)
        self._workers: list[Worker[Any]] = [
            self._namespaces.worker,
            self._garbage.worker,
            self._definitions.worker,
            self._aggregation.worker,
            self._token_secrets.worker,
        ]
        self._observers: dict[int, list[Callable[[Event], None]]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stop_listening: Callable[[], None] = lambda: None

    def lookup(self, plural: str, namespace: str, name: str) -> Object | None:
        """A core object, for those who check tokens."""
        resource = self.kinds.at("", "v1", plural)
        return self.find(resource, namespace, name) if resource is not None else None

    async def start(self) -> None:
        """Take in what is stored, make what every API has, and begin to work."""
        self._observe()
        self._load()
        self._stop_listening = self.store.listen(self._see)
        self._tasks = [asyncio.create_task(worker.run()) for worker in self._workers]
        await self._furnish()

    async def stop(self) -> None:
        self._stop_listening()
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self.callouts.close()

    def health(self) -> dict[str, str]:
        """Each check by name, with what is wrong or nothing."""
        dead = [task for task in self._tasks if task.done()]
        return {
            "ping": "",
            "storage": self.store.problem(),
            "background": f"{len(dead)} of {len(self._tasks)} tasks have ended" if dead else "",
        }

    def figures(self) -> list[tuple[str, str, str, int]]:
        """Name, type, meaning and value of each metric."""
        return [
            ("butler_apiserver_objects", "gauge", "Objects stored over all APIs.", self.store.count()),
            ("butler_apiserver_revision", "counter", "Newest durable revision.", self.store.committed),
            (
                "butler_apiserver_compacted_revision",
                "counter",
                "Revision up to which history is gone.",
                self.store.compacted,
            ),
            ("butler_apiserver_watchers", "gauge", "Open watches.", self.hub.count()),
        ]

    async def settled(self) -> None:
        """Wait until nothing is left to do in the background."""
        for worker in self._workers:
            await worker.idle()

    def _observe(self) -> None:
        """Who wants to know of changes to which resource."""
        self._on(self._kind("", "namespaces"), self._namespaces.see_namespace)
        self._on(self._kind("apiextensions.k8s.io", "customresourcedefinitions"), self._definitions.see)
        self._on(self._kind("", "secrets"), self._token_secrets.see)
        self._on(self._kind("", "services"), self._see_service)
        self._on(self._kind(_RBAC, "clusterroles"), self._aggregation.see)
        for plural in _RBAC_KINDS:
            self._on(self._kind(_RBAC, plural), self._see_role(self._kind(_RBAC, plural)))
        for plural in _WEBHOOK_KINDS:
            kind = self._kind("admissionregistration.k8s.io", plural)
            self._on(kind, self._see_webhooks(kind))

    def _on(self, resource: Resource, observer: Callable[[Event], None]) -> None:
        self._observers.setdefault(self.bucket(resource), []).append(observer)

    def _see(self, event: Event) -> None:
        space, resource = self.store.names_of(event.bucket)
        if space != self.name:
            return
        for observer in self._observers.get(event.bucket, ()):
            observer(event)
        self._namespaces.see(event)
        self._garbage.see(event)
        self._definitions.see_instance(event, resource)

    def _see_service(self, event: Event) -> None:
        self.addresses.note(event.key, None if event.change is Change.DELETED else event.object)

    def _see_role(self, resource: Resource) -> Callable[[Event], None]:
        def see(event: Event) -> None:
            if event.change is Change.DELETED:
                namespace, _, name = event.key.rpartition("/")
                self.rbac.remove(resource.kind, namespace, name)
            else:
                self.rbac.upsert(resource.kind, event.object)

        return see

    def _see_webhooks(self, resource: Resource) -> Callable[[Event], None]:
        def see(event: Event) -> None:
            gone = event.change is Change.DELETED
            self.admission.configure(resource.kind, event.key, None if gone else event.object)

        return see

    def _load(self) -> None:
        """Learn what earlier runs stored, as if it had just been added."""
        for bucket, observers in self._observers.items():
            for row in self.store.page(bucket).rows:
                event = Event(row.revision, bucket, row.key, Change.ADDED, row.value, None)
                for observer in observers:
                    observer(event)

    async def _furnish(self) -> None:
        options = WriteOptions(UserInfo("system:apiserver", groups=("system:masters",)), manager="kube-apiserver")
        for name in _SYSTEM_NAMESPACES:
            if name not in self.namespaces:
                await create(self, Target(self._kind("", "namespaces")), {"metadata": {"name": name}}, options)
        for default in bootstrap_policy.bootstrap_objects():
            await self._reconcile_policy(default, options)
        classes = self._kind("scheduling.k8s.io", "priorityclasses")
        for name, value in SYSTEM_PRIORITIES.items():
            if self.find(classes, "", name) is None:
                await create(self, Target(classes), {"metadata": {"name": name}, "value": value}, options)

    async def _reconcile_policy(self, default: Object, options: WriteOptions) -> None:
        """Bring a default role up to date unless someone said not to."""
        kind = self.kinds.of_api_version(default["apiVersion"], default["kind"])
        assert kind is not None
        meta = default["metadata"]
        target = Target(kind, meta.get("namespace", ""), meta["name"])
        existing = self.find(kind, target.namespace, target.name)
        if existing is None:
            await create(self, Target(kind, target.namespace), default, options)
            return
        wanted = bootstrap_policy.reconciled(existing, default)
        if wanted is not None:
            wanted = {key: value for key, value in wanted.items() if key not in ("apiVersion", "kind")}
            await rebuild(self, target, lambda _: wanted, options)

    def _end_watches(self, resource: Resource) -> None:
        self.hub.end(self.bucket(resource))

    def _kind(self, group: str, plural: str) -> Resource:
        found = self.kinds.at(group, "v1", plural)
        assert found is not None, plural
        return found


def _built_in() -> tuple[Resource, ...]:
    found = catalogue.resources()
    for resource in found:
        resource.behaviour = behaviour_of(resource.group, resource.kind, resource.version)
        if resource.kind == "CustomResourceDefinition":
            resource.behaviour = crds.CrdBehaviour()
    return found
