"""A space as it is served: with its watchers, its documents, its tokens and what runs in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import msgspec

from kubekit.clock import Chance, Clock
from kubekit.model.resource import Object
from kubekit.server.access.authentication import SpaceAccess
from kubekit.server.access.identities import KeyPair
from kubekit.server.access.impersonation import Impersonator
from kubekit.server.access.pki import ROOT, SpaceKeys
from kubekit.server.access.rbac import Rbac, Stored
from kubekit.server.access.tokens import SigningKey, TokenIssuer, TokenVerifier
from kubekit.server.kinds import crds
from kubekit.server.kinds.builtin import catalogue
from kubekit.server.kinds.builtin.behaviours import behaviour_of
from kubekit.server.kinds.documents.discovery import Discovery
from kubekit.server.kinds.openapi import OpenApi
from kubekit.server.kinds.platform.usage import PODS
from kubekit.server.kinds.registry import Kinds
from kubekit.server.objects.resource import Resource
from kubekit.server.pipeline.service_addresses import ServiceAddresses
from kubekit.server.pipeline.space import Space
from kubekit.server.pipeline.watches import Hub
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.store import Store

from . import beginnings, kubernetes_service, space_record
from .background.definitions import Definitions
from .background.garbage import GarbageCollector, Item
from .background.kubernetes_service import OwnService
from .background.namespaces import Namespaces
from .background.policy_statuses import PolicyStatuses
from .background.quota_statuses import QuotaStatuses
from .background.role_aggregation import Aggregation
from .background.token_secrets import TokenSecrets
from .background.worker import Worker
from .beginnings import Contents, Pattern
from .kubernetes_service import Location
from .loading import Loading, decoded, take_in
from .product import Product
from .space_record import Record

_LIMITS, _QUOTAS = "/limitranges", "/resourcequotas"
_RBAC = "rbac.authorization.k8s.io"
_RBAC_KINDS = {
    f"{_RBAC}/clusterroles": "ClusterRole",
    f"{_RBAC}/roles": "Role",
    f"{_RBAC}/clusterrolebindings": "ClusterRoleBinding",
    f"{_RBAC}/rolebindings": "RoleBinding",
}
_WEBHOOK_KINDS = {
    "admissionregistration.k8s.io/mutatingwebhookconfigurations": "MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/validatingwebhookconfigurations": "ValidatingWebhookConfiguration",
}
_POLICIES = "admissionregistration.k8s.io/validatingadmissionpolicies"
_POLICY_KINDS = {
    _POLICIES: "ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io/validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding",
}
_DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"

Observer = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all spaces of one server share."""

    store: Store
    hub: Hub
    clock: Clock
    chance: Chance
    authority: str
    """PEM of the authority by which clients recognise the server."""
    location: Location
    product: Product
    pattern: Callable[[str], Awaitable[Pattern]]
    """What a space with Services of that family (IPv4, IPv6) begins with."""


class ServedSpace(Space):
    """One isolated API, complete."""

    def __init__(self, name: str, around: Surroundings, record: Record, keys: SpaceKeys) -> None:
        super().__init__(name, around.store, Kinds(built_in()), around.clock, around.chance)
        self.hub, self.record, self.keys, self.product = around.hub, record, keys, around.product
        if name != ROOT and self.product.most_pods:
            self.quotas.bound(PODS, self.product.most_pods, lambda: len(self.store.keys_in(name, PODS)))
        self.prefix = ""
        """What stands before every path of this API."""
        self.addresses = ServiceAddresses(record.service_network, self._stored_services)
        self.rbac = Rbac(stored=self._stored_policy)
        self.impersonator = Impersonator(self.rbac.authorize)
        self._documents: tuple[Discovery, OpenApi] | None = None
        signing = SigningKey(keys.signing_key)
        self.issuer = TokenIssuer(signing, around.clock, around.chance)
        self.access = SpaceAccess(keys.authority, TokenVerifier(signing, around.clock, self.lookup))
        family = kubernetes_service.family_of(record.service_network)
        self._namespaces = Namespaces(self, around.authority)
        self._garbage = GarbageCollector(self)
        self._definitions = Definitions(self, self._end_watches)
        self._aggregation = Aggregation(self)
        self._policy_statuses = PolicyStatuses(self)
        self._quota_statuses = QuotaStatuses(self)
        self._token_secrets = TokenSecrets(self, self.issuer, around.authority)
        self._own_service = OwnService(self, around.location, partial(around.pattern, family))
        self._furnishing: Worker[str] = Worker("furnishing", self._furnish, around.clock)
        self._observers = self._who_observes()
        self.loading = Loading()
        """Taking in what is stored. Until that is done, only what every API has can be asked for."""

    @property
    def version(self) -> str:
        """The Kubernetes version this API says it is of; empty for the one whose kinds it serves."""
        return self.record.version

    def began_with(self, contents: Contents) -> bool:
        """Whether these objects were in it from its first moment."""
        return self.record.begun is not None and self.record.begun.contents == contents.digest

    async def pass_for(self, version: str) -> None:
        """Say from now on that this API is of that version."""
        if version != self.version:
            await self._keep(msgspec.structs.replace(self.record, version=version))

    @property
    def discovery(self) -> Discovery:
        return self._described()[0]

    @property
    def openapi(self) -> OpenApi:
        return self._described()[1]

    def _described(self) -> tuple[Discovery, OpenApi]:
        if not self.kinds.has_custom:
            return _built_in_documents()
        if self._documents is None:
            self._documents = Discovery(self.kinds), OpenApi(self.kinds)
        return self._documents

    def lookup(self, plural: str, namespace: str, name: str) -> Object | None:
        """A core object, for those who check tokens."""
        resource = self.kinds.at("", "v1", plural)
        return self.find(resource, namespace, name) if resource is not None else None

    def begin(self, since: int) -> None:
        """Be ready to take in what is stored. `since` is the revision of the record."""
        self.loading = Loading(partial(self._taken_in, since))

    def _taken_in(self, since: int) -> Iterator[None]:
        """Take in some of what is stored at each step, and in the end go on with what is not finished.

        What only some requests need (rights, Services) is read when the first of them comes."""
        yield from take_in(self, "/namespaces", self._namespaces.load)
        yield from take_in(self, _DEFINITIONS, self._definitions.load)
        yield from take_in(self, "/secrets", self._token_secrets.load)
        for resource, kind in _WEBHOOK_KINDS.items():
            yield from take_in(self, resource, decoded(self, resource, partial(self.admission.configure, kind)))
        for resource, kind in _POLICY_KINDS.items():
            damaged = partial(self.admission.policies.configure_damaged, kind)
            policy = decoded(self, resource, partial(self._take_in_policy, kind), damaged)
            yield from take_in(self, resource, policy)
        yield from take_in(self, _LIMITS, decoded(self, _LIMITS, self.limits.note))
        yield from take_in(self, _QUOTAS, decoded(self, _QUOTAS, self._quota_statuses.take_in))
        if self.store.newest_in(self.name, f"{_RBAC}/clusterroles") > since:
            self._aggregation.worker.add("")
        if self.record.furnished != beginnings.fingerprint():
            self._furnishing.add("")
        self._own_service.check()

    def _take_in_policy(self, kind: str, key: str, obj: Object) -> None:
        self.admission.policies.configure(kind, key, obj)
        if kind == _POLICY_KINDS[_POLICIES]:
            self._policy_statuses.take_in(key, obj)

    def resume(self, item: Item) -> None:
        """Something was about to happen to an object when the server ended."""
        self._garbage.worker.add(item)

    def see(self, event: Event, resource: str) -> None:
        """Something in this space has changed."""
        for observer in self._observers.get(resource, ()):
            observer(event)
        if self.quotas.concern(resource, event.key):
            gone = event.change is Change.DELETED
            self.quotas.count(resource, event.key, event.revision, None if gone else event.object)
        self._garbage.see(event)
        if event.change is Change.DELETED:
            self._namespaces.see_gone(event)
            self._definitions.see_gone(resource)

    def vanish(self) -> None:
        super().vanish()
        for worker in self._workers:
            worker.cancel()

    async def stop(self) -> None:
        for worker in self._workers:
            await worker.stop()
        await self.webhook_client.close()

    def health(self, *, is_alive: bool = False) -> dict[str, str]:
        """Each check by name, with what is wrong or nothing; or only what nothing but a restart would mend."""
        stuck = [worker.name for worker in self._workers if worker.is_stuck]
        return {
            "ping": "",
            "storage": "" if is_alive and self.store.may_recover else self.store.problem(),
            "background": f"nobody works on {', '.join(stuck)}" if stuck else "",
        }

    def figures(self) -> list[tuple[str, str, str, int]]:
        """Name, type, meaning and value of each metric: the root's are of the whole server, those of others theirs."""
        if self.name != ROOT:
            resources = (one for one in self.store.resources(self.name) if one != space_record.RESOURCE)
            count = sum(len(self.store.keys_in(self.name, one)) for one in resources)
            watchers = self.hub.count(self.store.buckets_of(self.name))
            return [
                ("kubekit_server_objects", "gauge", "Objects stored in this API.", count),
                ("kubekit_server_watchers", "gauge", "Open watches of this API.", watchers),
            ]
        return [
            ("kubekit_server_objects", "gauge", "Objects stored over all APIs.", self.store.count()),
            ("kubekit_server_revision", "counter", "Newest durable revision.", self.store.committed),
            (
                "kubekit_server_compacted_revision",
                "counter",
                "Revision up to which history is gone.",
                self.store.compacted,
            ),
            ("kubekit_server_watchers", "gauge", "Open watches.", self.hub.count()),
        ]

    async def settled(self) -> None:
        """Wait until nothing is left to do in the background."""
        while not all(worker.is_idle for worker in self._workers):
            for worker in self._workers:
                await worker.idle()

    @property
    def _workers(self) -> tuple[Worker[Any], ...]:
        return (
            self._furnishing,
            self._namespaces.worker,
            self._garbage.worker,
            self._definitions.worker,
            self._aggregation.worker,
            self._policy_statuses.worker,
            self._quota_statuses.worker,
            self._token_secrets.worker,
            self._own_service.worker,
        )

    def _who_observes(self) -> dict[str, list[Observer]]:
        """Who wants to know of changes to which resource."""
        found: dict[str, list[Observer]] = {
            "/namespaces": [self._namespaces.see_namespace],
            "/configmaps": [self._namespaces.see_config_map],
            "/secrets": [self._token_secrets.see],
            "/serviceaccounts": [self._token_secrets.see_account],
            "/services": [self._see_service],
            _LIMITS: [self._see_limits],
            _QUOTAS: [self._quota_statuses.see],
            _DEFINITIONS: [self._definitions.see],
            f"{_RBAC}/clusterroles": [self._aggregation.see],
        }
        for resource, kind in _RBAC_KINDS.items():
            found.setdefault(resource, []).append(partial(self._see_role, kind))
        for resource, kind in _WEBHOOK_KINDS.items():
            found[resource] = [partial(self._see_webhooks, kind)]
        for resource, kind in _POLICY_KINDS.items():
            found[resource] = [partial(self._see_policy, kind)]
        found[_POLICIES].append(self._policy_statuses.see)
        for resource in kubernetes_service.RESOURCES:
            found.setdefault(resource, []).append(self._own_service.see)
        return found

    def _see_service(self, event: Event) -> None:
        self.addresses.note(event.key, None if event.change is Change.DELETED else event.object)

    def _see_limits(self, event: Event) -> None:
        self.limits.note(event.key, None if event.change is Change.DELETED else event.object)

    def _see_role(self, kind: str, event: Event) -> None:
        if not self.rbac.wants_changes:
            return
        if event.change is Change.DELETED:
            namespace, _, name = event.key.rpartition("/")
            self.rbac.remove(kind, namespace, name)
        else:
            self.rbac.upsert(kind, event.object)

    def _see_webhooks(self, kind: str, event: Event) -> None:
        gone = event.change is Change.DELETED
        self.admission.configure(kind, event.key, None if gone else event.object)

    def _see_policy(self, kind: str, event: Event) -> None:
        gone = event.change is Change.DELETED
        self.admission.policies.configure(kind, event.key, None if gone else event.object)

    def _stored_policy(self) -> Iterator[Stored]:
        """Some at a time: what changes meanwhile is told."""
        for resource, kind in _RBAC_KINDS.items():
            shape = self.kinds.stored_as(resource)
            assert shape is not None
            for rows in self.stored(resource):
                for row in rows:
                    namespace, _, name = row.key.rpartition("/")
                    yield Stored(kind, namespace, name, partial(self.undamaged, shape, row))

    def _stored_services(self) -> Iterator[tuple[str, Object]]:
        for row in self.store.rows(self.name, "/services"):
            yield row.key, row.decode()

    async def furnish(self) -> None:
        """Bring the system objects up to date with this version of the server, as far as that can be done at once."""
        self._furnishing.add("")
        await self._furnishing.idle()

    async def _furnish(self, _: str) -> None:
        await beginnings.bring_up_to_date(self, self.keys.authority.pair.certificate.decode())
        if self.record.furnished != beginnings.fingerprint():
            await self._keep(msgspec.structs.replace(self.record, furnished=beginnings.fingerprint()))

    def renew_admin(self, admin: KeyPair) -> None:
        """Give the administrator another certificate."""
        self.keys = replace(self.keys, admin=admin)
        # If that is lost, there will be yet another one.
        self._keep(msgspec.structs.replace(self.record, admin=admin)).add_done_callback(asyncio.Future.exception)

    def _keep(self, record: Record) -> asyncio.Future[Event]:
        """Store a changed record."""
        self.record = record
        bucket = self.store.bucket(self.name, space_record.RESOURCE)
        before = self.store.latest(bucket, space_record.KEY)
        assert before is not None
        return self.store.write(bucket, space_record.KEY, Change.MODIFIED, record.encode(), previous=before)

    def _end_watches(self, resource: Resource) -> None:
        self.hub.end(self.bucket(resource))


@cache
def built_in() -> tuple[Resource, ...]:
    """The kinds every API has. They are the same objects in all of them."""
    found = catalogue.resources()
    for resource in found:
        resource.behaviour = behaviour_of(resource.group, resource.kind, resource.version)
        if resource.kind == "CustomResourceDefinition":
            resource.behaviour = crds.CrdBehaviour()
    return found


@cache
def _built_in_documents() -> tuple[Discovery, OpenApi]:
    """Those of an API without custom kinds."""
    kinds = Kinds(built_in())
    return Discovery(kinds), OpenApi(kinds)
