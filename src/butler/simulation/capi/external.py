"""Objects of any provider, seen through Cluster API's contract, and followed from the first time they are met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import new_class
from typing import Any, ClassVar

from butler.engines.capi.kinds import Endpoint, MachineAddress, Ref
from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.model.resource import Address, Model, ObjectMeta, OwnerReference
from kubekit.runtime.informer import Informer, Informers
from kubekit.runtime.objects import key

_CONTRACTS = ("cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta1")
"""Labels by which a definition says which of its versions keep which contract, the best first."""


class Reported(Model):
    """A condition as its provider reports it; older ones give no reason."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


class ContractSpec(Model):
    """What the contract says about specs. Fields that mean something else elsewhere are taken as they come."""

    provider_id: str | None = None
    failure_domain: Any = None
    control_plane_endpoint: Any = None
    version: Any = None
    replicas: Any = None


class ContractInitialization(Model):
    """What was reached once and stays true."""

    provisioned: bool | None = None
    control_plane_initialized: bool | None = None
    data_secret_created: bool | None = None


class ContractStatus(Model):
    """What the contract says about statuses, with what older providers say instead."""

    initialization: ContractInitialization = ContractInitialization()
    ready: Any = None
    initialized: Any = None
    conditions: tuple[Reported, ...] = ()
    addresses: Any = None
    data_secret_name: Any = None
    failure_reason: Any = None
    failure_message: Any = None
    version: Any = None
    replicas: Any = None
    ready_replicas: Any = None
    available_replicas: Any = None
    up_to_date_replicas: Any = None


class External(Model):
    """An object of a provider."""

    address: ClassVar[Address]

    metadata: ObjectMeta
    spec: ContractSpec = ContractSpec()
    status: ContractStatus = ContractStatus()

    @property
    def provisioned(self) -> bool:
        return self.status.initialization.provisioned is True or self.status.ready is True

    @property
    def initialized(self) -> bool:
        return self.status.initialization.control_plane_initialized is True or self.status.initialized is True

    @property
    def data_secret(self) -> str:
        """The Secret with the bootstrap data; empty until it is written."""
        created = self.status.initialization.data_secret_created is True or self.status.ready is True
        return _text(self.status.data_secret_name) if created else ""

    @property
    def failure(self) -> tuple[str, str]:
        """The reason and the message of a failure that no repetition mends; both empty when there is none."""
        return _text(self.status.failure_reason), _text(self.status.failure_message)

    @property
    def endpoint(self) -> Endpoint | None:
        given = self.spec.control_plane_endpoint
        if not isinstance(given, dict) or not given.get("host"):
            return None
        return Endpoint(host=given["host"], port=given.get("port"))

    @property
    def addresses(self) -> tuple[MachineAddress, ...]:
        given = self.status.addresses
        if not isinstance(given, list):
            return ()
        pairs = [(one.get("type"), one.get("address")) for one in given if isinstance(one, dict)]
        return tuple(MachineAddress(type=kind, address=address) for kind, address in pairs if kind and address)

    @property
    def version(self) -> str:
        """The version that is wanted; empty when it has none."""
        return _text(self.spec.version)

    @property
    def running_version(self) -> str:
        return _text(self.status.version)

    @property
    def deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@cache
def _view(group: str, version: str, kind: str, plural: str, namespaced: bool) -> type[External]:
    address = Address(group, version, kind, plural, namespaced)
    made = new_class(kind, (External,), {}, lambda namespace: namespace.update(address=address))
    assert issubclass(made, External)
    return made


def view(address: Address) -> type[External]:
    """The class of an address's objects, always the same one."""
    return _view(address.group, address.version, address.kind, address.plural, address.namespaced)


def place_of(namespace: str, group: str, kind: str, name: str) -> str:
    """Under which an object that refers to another is found."""
    return f"{namespace}/{group}/{kind}/{name}"


def places_of(namespace: str, refs: Iterable[Ref | None]) -> list[str]:
    return [place_of(namespace, ref.api_group, ref.kind, ref.name) for ref in refs if ref is not None]


def essence(obj: External) -> tuple[Any, ...]:
    """What of an external object matters to those who refer to it."""
    return obj.spec, obj.status, obj.deleting, obj.metadata.owner_references


Heard = Callable[[External | None, External | None, bool], None]
"""Called with an external object as it was and as it is, and whether that is news."""


class _Names(Model):
    kind: str
    plural: str


class _Version(Model):
    name: str
    storage: bool | None = None


class _DefinitionSpec(Model):
    group: str
    names: _Names
    scope: str
    versions: tuple[_Version, ...]


class Definition(Model):
    """A CustomResourceDefinition, as far as it says where its objects are."""

    address: ClassVar[Address] = Address(
        "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False
    )

    metadata: ObjectMeta
    spec: _DefinitionSpec

    def located(self) -> Address:
        spec = self.spec
        return Address(spec.group, self._version(), spec.names.kind, spec.names.plural, spec.scope == "Namespaced")

    def _version(self) -> str:
        labels = self.metadata.labels
        kept = next((labels[name] for name in _CONTRACTS if labels.get(name)), "")
        stored = next((one.name for one in self.spec.versions if one.storage), "")
        return kept.rpartition("_")[2] or stored


class Externals:
    """Finds objects by the references of Cluster API, whatever kind they are of."""

    def __init__(self, client: Client, informers: Informers, known: Iterable[Address] = ()) -> None:
        self._client, self._informers = client, informers
        self._known = {(address.group, address.kind): address for address in known}
        """Where kinds are that no definition tells of."""
        self._found: dict[tuple[str, str], Address] = {}
        self._heard: list[Heard] = []
        self._followed: set[type[External]] = set()

    def on_change(self, heard: Heard) -> None:
        """Tell of every change that matters to those who refer to the object."""
        self._heard.append(heard)

    async def find(self, namespace: str, ref: Ref) -> External | None:
        """The object as the cache shows it; None when there is none, or no such kind."""
        informer = await self._followed_kind(ref.api_group, ref.kind)
        return None if informer is None else informer.get(key(namespace, ref.name))

    async def exists(self, namespace: str, ref: Ref) -> bool:
        """Whether the object is there, by the API and not by a cache."""
        address = await self.locate(ref.api_group, ref.kind)
        if address is None:
            return False
        try:
            await self._client.get(view(address), ref.name, namespace)
        except NotFound:
            return False
        return True

    async def template(self, namespace: str, ref: Ref) -> dict[str, Any]:
        """A template as it stands in the API. Raises NotFound."""
        address = await self._needed(ref.api_group, ref.kind)
        return await self._client.get(address, ref.name, namespace)

    async def create(self, obj: dict[str, Any], group: str, kind: str, manager: str) -> None:
        """Store a new object. Raises AlreadyExists, NotFound (no such kind)."""
        await self._client.create(obj, await self._needed(group, kind), manager=manager)

    async def adopt(self, obj: External, owner: OwnerReference, labels: Mapping[str, str], manager: str) -> None:
        """Make it belong to the owner too, unless it does; `labels` go with that."""
        meta = obj.metadata
        owned = any(one.uid == owner.uid and one.controller == owner.controller for one in meta.owner_references)
        if owned and all(meta.labels.get(name) == value for name, value in labels.items()):
            return
        others = [one for one in meta.owner_references if one.uid != owner.uid]
        change = {
            "resourceVersion": meta.resource_version,
            "labels": dict(labels),
            "ownerReferences": [*others, owner],
        }
        await self._client.patch(type(obj), meta.name, {"metadata": change}, meta.namespace, manager=manager)

    async def patch(self, obj: External, change: dict[str, Any], manager: str) -> None:
        """Change an object."""
        await self._client.patch(type(obj), obj.metadata.name, change, obj.metadata.namespace, manager=manager)

    async def delete(self, obj: External) -> None:
        """Mark it for deletion, unless it is marked."""
        if obj.deleting:
            return
        meta = obj.metadata
        try:
            await self._client.delete(type(obj), meta.name, meta.namespace, uid=meta.uid)
        except NotFound:
            return

    async def locate(self, group: str, kind: str) -> Address | None:
        """Where objects of a kind are; None when there is no such kind. Asks the API once for each."""
        found = self._found.get((group, kind))
        if found is None:
            for one in (await self._client.list(Definition)).items:
                self._found[one.spec.group, one.spec.names.kind] = one.located()
            found = self._found.get((group, kind)) or self._known.get((group, kind))
            if found is not None:
                self._found[group, kind] = found
        return found

    async def _needed(self, group: str, kind: str) -> Address:
        address = await self.locate(group, kind)
        if address is None:
            raise NotFound(f"there is no kind {kind} in {group}")
        return address

    async def _followed_kind(self, group: str, kind: str) -> Informer[External] | None:
        address = await self.locate(group, kind)
        if address is None:
            return None
        seen = view(address)
        informer: Informer[External] = self._informers.of(seen)
        if seen not in self._followed:
            self._followed.add(seen)
            informer.handle(self._tell)
        await informer.wait_synced()
        return informer

    def _tell(self, old: Any | None, new: Any | None, news: bool) -> None:
        if old is not None and new is not None and essence(old) == essence(new):
            return
        for heard in self._heard:
            heard(old, new, news)
