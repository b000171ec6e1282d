"""All APIs of one server. A stored one costs nothing but its name until somebody asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from weakref import WeakValueDictionary

import msgspec

from kubekit.clock import Chance, Clock
from kubekit.errors import DataDamaged
from kubekit.model.resource import Object
from kubekit.server.access import default_roles
from kubekit.server.access.authentication import SpaceAccess
from kubekit.server.access.identities import KeyPair
from kubekit.server.access.pki import ADMIN, CERTIFICATE_DAYS, ROOT, Pki, is_due, new_space_keys
from kubekit.server.access.rbac import GROUP as RBAC
from kubekit.server.access.tokens import SigningKey, TokenVerifier
from kubekit.server.kinds.registry import Kinds
from kubekit.server.objects.user import MASTERS
from kubekit.server.pipeline.service_addresses import SERVICE_NETWORK
from kubekit.server.pipeline.space import Space
from kubekit.server.pipeline.watches import Hub
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.ground import Base, Ground
from kubekit.server.store.store import Store

from . import addresses, beginnings, kubernetes_service, space_record
from .background import namespaces
from .beginnings import NOTHING_ELSE, Contents, Filling, Pattern, StoredBase, draw_pattern
from .kubernetes_service import Location
from .product import Product
from .served_space import ServedSpace, Surroundings, built_in
from .space_record import Begun, Record
from .tombstones import Tombstone, Tombstones

_NOWHERE = ""
"""The name of no API."""
_BASES = "base"
"""Where the root keeps the bases of all spaces; no kind can ever be kept in the same place."""

_MANY, _MUCH = 500, 1024 * 1024
"""Roles and bindings, and bytes of each kind, that are looked through on behalf of strangers."""


class Spaces(Mapping[str, ServedSpace]):
    """The APIs by name. To take one out of it is to wake it."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        pki: Pki,
        location: Location,
        clock: Clock,
        chance: Chance,
        product: Product | None = None,
    ) -> None:
        self._store, self._hub, self._pki = store, hub, pki
        authority = pki.server_authority.decode()
        self._around = Surroundings(store, hub, clock, chance, authority, location, product or Product(), self._pattern)
        self._names: set[str] = set()
        self._awake: dict[str, ServedSpace] = {}
        self._patterns: dict[tuple[str, str], Pattern] = {}
        self._bases: dict[str, Base] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._doors: dict[str, SpaceAccess] = {}
        """What opens the APIs that sleep, as far as somebody has knocked."""
        self._generous: dict[str, bool] = {}
        """Whether one that sleeps grants something to strangers."""
        self.tombstones = Tombstones(store, pki)
        self._stop_listening = store.listen(self._see)

    async def open(self) -> None:
        """Offer what is stored, with the root in working order, and go on with what was not finished."""
        authorities: dict[str, bytes] = {}
        self._names = self._store.spaces()
        for name in self._names:
            if (record := self._stored_record(name)) is not None:
                self._lay(name, record)
                if record.authority is not None:
                    authorities[name] = record.authority.certificate
        self._pki.trust(authorities)
        self.tombstones.load()
        await (await self.add(ROOT)).furnish()
        for name in self._names:
            if self._has_bare_namespace(name):
                # It furnishes them by itself.
                await self.wake(name)
        for item in self._store.unfinished():
            (await self.wake(self._store.names_of(item[0])[0])).resume(item)

    async def stop(self) -> None:
        self._stop_listening()
        for space in list(self._awake.values()):
            await space.stop()

    async def add(
        self, name: str, service_network: str = SERVICE_NETWORK, contents: Contents = NOTHING_ELSE
    ) -> ServedSpace:
        """The API of that name, made with these addresses for its Services and these objects when there is none.

        Raises ValueError for what is no network."""
        async with self._turn(name):
            if name not in self._names:
                await self._make(name, service_network, contents)
            return await self.wake(name)

    async def remove(self, name: str, words: str = "") -> None:
        """Forget an API with everything in it; nothing happens when there is none. With `words`, whoever could use it
        is told these from then on."""
        if name == ROOT:
            raise ValueError("the root space cannot be removed")
        async with self._turn(name):
            if name not in self._names:
                return
            if words and (record := self._record(name)[0]).authority is not None:
                self.tombstones.put(name, Tombstone(words, record.authority.certificate))
            self._names.discard(name)
            self._forget_door(name)
            self._pki.forget(name)
            space = self._awake.pop(name, None)
            if space is not None:
                space.vanish()
            for bucket in self._store.buckets_of(name):
                self._hub.end(bucket)
            # Nothing is awaited before this, so a removal that was begun is also finished.
            deleted = self._store.delete_space(name)
            if space is not None:
                await space.stop()
            await deleted

    def admin(self, name: str) -> KeyPair:
        """The credentials of an API's administrator: the same at every call, until they have to be renewed."""
        if name == ROOT:
            return self._pki.admin
        space, now = self.find(name), self._around.clock.now()
        if is_due(space.keys.admin.certificate, now):
            key = space.keys.admin.key
            certificate = space.keys.authority.renew_client_certificate(key, ADMIN, [MASTERS], CERTIFICATE_DAYS, now)
            space.renew_admin(KeyPair(certificate, key))
        return space.keys.admin

    def access(self, name: str) -> SpaceAccess:
        """What opens an API, without waking it; for one that does not exist, what opens nothing."""
        if (space := self._awake.get(name)) is not None:
            return space.access
        if name not in self._names:
            return self.tombstones.access(name, self.elsewhere.access.tokens) or self.elsewhere.access
        if name not in self._doors:
            keys = self._record(name)[0].keys(name) or self._pki.keys
            verifier = TokenVerifier(SigningKey(keys.signing_key), self._around.clock, partial(self._lookup, name))
            self._doors[name] = SpaceAccess(keys.authority, verifier)
        return self._doors[name]

    def for_strangers(self, name: str) -> ServedSpace:
        """The API that answers who proves nothing. It is woken only if it grants them more than others do."""
        if name in self._awake or (name in self._names and self._grants_to_strangers(name)):
            return self.find(name)
        return self.elsewhere

    @cached_property
    def elsewhere(self) -> ServedSpace:
        """An API that nobody has, with what every API begins with. It answers strangers for all that do not exist, or
        sleep, so that nobody can tell which do."""
        keys = new_space_keys(_NOWHERE, self._around.clock.now())
        space = ServedSpace(_NOWHERE, self._around, Record.of(beginnings.fingerprint(), SERVICE_NETWORK, keys), keys)
        for obj in default_roles.bootstrap_objects():
            space.rbac.upsert(obj["kind"], obj)
        return space

    @property
    def awake(self) -> frozenset[str]:
        """Names of those that somebody has asked for."""
        return frozenset(self._awake)

    def find(self, name: str) -> ServedSpace:
        """An API that may still have to take in what is stored. Raises KeyError."""
        space = self._awake.get(name)
        if space is None:
            if name not in self._names:
                raise KeyError(name)
            space = self._begin(name)
        return space

    async def wake(self, name: str) -> ServedSpace:
        """An API, which others need not wait for. Raises KeyError."""
        space = self.find(name)
        await space.loading.finish()
        return space

    def __getitem__(self, name: str) -> ServedSpace:
        space = self.find(name)
        space.loading.finish_at_once()
        return space

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _see(self, event: Event) -> None:
        name, resource = self._store.names_of(event.bucket)
        if name in self._names:
            self[name].see(event, resource)

    async def _make(self, name: str, service_network: str, contents: Contents) -> None:
        """Store a complete API in one step."""
        address = kubernetes_service.first_address(service_network)
        pattern = await self._pattern(kubernetes_service.family_of(service_network), contents)
        now, store = self._around.clock.now(), self._store
        keys = None if name == ROOT else new_space_keys(name, now)
        space = Space(name, store, Kinds(built_in()), self._around.clock, self._around.chance)
        added = self._missing_base(pattern)
        seed, time = self._around.chance.bytes(16), space.timestamp()
        begun = Begun(pattern.name, store.next_revision(), seed, time, contents.digest)
        filling = Filling(begun.time, address)
        added += [
            (store.bucket(name, template.resource), template.key, value)
            for template, value in pattern.written(filling, space.new_uid, begun.revision + len(added))
        ]
        record = Record.of(beginnings.fingerprint(), service_network, keys, begun)
        added.append((store.bucket(name, space_record.RESOURCE), space_record.KEY, record.encode()))
        done = store.add_all(added)
        # Also when nobody waits for it any more.
        done.add_done_callback(lambda done: self._appear(name, record) if done.exception() is None else None)
        await asyncio.shield(done)

    def _missing_base(self, pattern: Pattern) -> list[tuple[int, str, bytes]]:
        """What there is to add so that the base of a pattern is stored: nothing, but for the first space."""
        bucket = self._store.bucket(ROOT, _BASES)
        is_stored = self._store.latest(bucket, pattern.name) is not None
        return [] if is_stored else [(bucket, pattern.name, pattern.shared)]

    def _base(self, name: str) -> Base:
        if name not in self._bases:
            row = self._store.get(self._store.bucket(ROOT, _BASES), name)
            if row is None:
                raise DataDamaged(f"the base {name} is missing, which spaces stand on; restore a backup")
            self._bases[name] = msgspec.json.decode(row.value, type=StoredBase).base()
        return self._bases[name]

    def _lay(self, name: str, record: Record) -> None:
        """Put the base of a space under it."""
        if (begun := record.begun) is None:
            return
        pair = record.authority or self._pki.keys.authority.pair
        address = kubernetes_service.first_address(record.service_network)
        gaps = Filling(begun.time, address, pair.certificate.decode()).gaps()
        self._store.lay(name, Ground(self._base(begun.base), begun.revision, begun.seed, gaps))

    def _appear(self, name: str, record: Record) -> None:
        self._lay(name, record)
        self._names.add(name)
        self.tombstones.drop(name)
        if record.authority is not None:
            self._pki.trust({name: record.authority.certificate})

    def _begin(self, name: str) -> ServedSpace:
        record, revision = self._record(name)
        keys = record.keys(name) or self._pki.keys
        space = self._awake[name] = ServedSpace(name, self._around, record, keys)
        self._forget_door(name)
        space.prefix = f"/{addresses.SPACES}/{name}" if name != ROOT else ""
        space.begin(revision)
        return space

    def _forget_door(self, name: str) -> None:
        self._doors.pop(name, None)
        self._generous.pop(name, None)

    def _lookup(self, space: str, plural: str, namespace: str, name: str) -> Object | None:
        return self.find(space).lookup(plural, namespace, name)

    def _grants_to_strangers(self, name: str) -> bool:
        if name not in self._generous:
            pages = [
                self._store.page(self._store.bucket(name, f"{RBAC}/{plural}"), limit=_MANY, size=_MUCH, count=False)
                for plural in ("clusterrolebindings", "rolebindings", "clusterroles")
            ]
            rows = (row for page in pages for row in page.rows)
            # Nobody waits until very many are read; where there are, the API itself reads them in turns.
            self._generous[name] = any(page.more for page in pages) or default_roles.grant_to_strangers(
                row.decode() for row in rows if default_roles.may_concern_strangers(row.value)
            )
        return self._generous[name]

    def _record(self, name: str) -> tuple[Record, int]:
        """What is known of an API, and since which revision; begun for one that was made before there were records."""
        bucket = self._store.bucket(name, space_record.RESOURCE)
        row = self._store.latest(bucket, space_record.KEY)
        if row is not None:
            return space_record.decode(row.value), row.revision
        keys = None if name == ROOT else new_space_keys(name, self._around.clock.now())
        record = Record.of("", SERVICE_NETWORK, keys)
        written = self._store.write(bucket, space_record.KEY, Change.ADDED, record.encode())
        written.add_done_callback(asyncio.Future.exception)
        self._appear(name, record)
        return record, 0

    def _stored_record(self, name: str) -> Record | None:
        row = self._store.get(self._store.bucket(name, space_record.RESOURCE), space_record.KEY)
        return space_record.decode(row.value) if row is not None else None

    def _has_bare_namespace(self, name: str) -> bool:
        found = self._store.keys_in(name, "/namespaces")
        return not all(namespaces.is_furnished(self._store, name, one) for one in found)

    def _turn(self, name: str) -> asyncio.Lock:
        """One at a time may make or remove an API."""
        return self._turns.setdefault(name, asyncio.Lock())

    async def _pattern(self, family: str, contents: Contents = NOTHING_ELSE) -> Pattern:
        key, around = (family, contents.digest), self._around
        async with self._turn(""):
            if key not in self._patterns:
                self._patterns[key] = await draw_pattern(
                    Kinds(built_in()), around.authority, around.location, family, contents
                )
        return self._patterns[key]
