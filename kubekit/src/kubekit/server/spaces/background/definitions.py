"""CustomResourceDefinitions: accepted, offered, and taken away together with their objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from kubekit.errors import NotFound
from kubekit.model.resource import Object
from kubekit.server.kinds import crds
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.request import DeleteOptions, Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import commit, deletion, writes
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.rows import Row

from .worker import Worker

_USER = UserInfo("system:apiserver", groups=("system:masters",))


class Definitions:
    """The custom kinds of one space."""

    def __init__(self, space: Space, ended: Callable[[Resource], None]) -> None:
        """`ended` is called with every resource that is no longer offered."""
        self._space, self._ended = space, ended
        self._unread: set[str] = set()
        """Definitions that are too long to be looked at while others wait."""
        self._read_ahead: dict[int, list[Resource]] = {}
        """What the long ones that are being written define, by revision: whoever sees that a kind is established may
        use it at once."""
        self.worker: Worker[str] = Worker("definitions", self._settle, space.clock)

    def load(self, row: Row) -> None:
        """Serve a definition that is stored, or go on with one that is not established or is to go."""
        definition = self._space.undamaged(self._kind, row)
        self.offer(definition)
        if "deletionTimestamp" in definition["metadata"] or not _is_established(definition):
            self.worker.add(row.key)

    def see(self, event: Event) -> None:
        name = event.key
        if event.change is Change.DELETED:
            self._offer(name, [])
        elif (resources := self._read_ahead.pop(event.revision, None)) is not None:
            self._offer(name, resources)
            self.worker.add(name)
        elif len(event.value) > LARGE:
            self._unread.add(name)
            self.worker.add(name)
        else:
            self.offer(event.object)
            self.worker.add(name)

    def see_gone(self, resource: str) -> None:
        """An object of a resource is gone: the definition of its kind may be waiting for that."""
        group, _, plural = resource.partition("/")
        if group:
            name = f"{plural}.{group}"
            found = self._space.store.get(self._space.bucket(self._kind), name)
            if found is not None and b'"deletionTimestamp"' in found.value:
                self.worker.add(name)

    def offer(self, definition: Object) -> None:
        """Serve what an established definition defines."""
        self._offer(definition["metadata"]["name"], crds.resources_of(definition))

    def _offer(self, name: str, resources: list[Resource]) -> None:
        before = self._space.kinds.replace_custom(name, resources)
        for resource in before:
            self._space.forget_checks(resource)
        now = {resource.version: resource for resource in resources}
        for resource in before:
            replacement = now.get(resource.version)
            if replacement is not None and _have_same_schema(resource, replacement):
                replacement.schema_since = resource.schema_since
            if replacement is None or replacement.conversion != resource.conversion:
                self._ended(resource)

    async def _settle(self, name: str) -> None:
        row = self._space.latest(Target(self._kind, name=name))
        if row is None:
            return
        definition = await self._space.bench.do(len(row.value), row.decode)
        if name in self._unread:
            await self._read(row, definition)
        if "deletionTimestamp" in definition["metadata"]:
            await self._remove(name, definition)
            return
        group = definition["spec"]["group"]
        taken = crds.taken_names(group, self._of_group(group), self._built_in())
        status = crds.established_status(definition, taken, self._space.timestamp())
        if status != definition.get("status"):
            await self._write(name, status)

    async def _read(self, row: Row, definition: Object) -> None:
        """Offer what a long definition defines, unless it has changed meanwhile."""
        self._unread.discard(row.key)
        resources = await self._space.bench.do(len(row.value), crds.resources_of, definition)
        if self._is_newest(row):
            self._offer(row.key, resources)

    def _is_newest(self, row: Row) -> bool:
        now = self._space.latest(Target(self._kind, name=row.key))
        return now is not None and now.revision == row.revision

    async def _remove(self, name: str, definition: Object) -> None:
        """Delete every object of the kind before the kind itself goes."""
        if crds.CLEANUP_FINALIZER not in (definition["metadata"].get("finalizers") or ()):
            return
        resource = self._space.kinds.stored_as(f"{definition['spec']['group']}/{definition['spec']['names']['plural']}")
        left = await self._delete_instances(resource) if resource is not None else 0
        status = crds.terminating_status(definition, left == 0, self._space.timestamp())
        await self._write(name, status, is_clean=left == 0)

    async def _delete_instances(self, resource: Resource) -> int:
        bucket = self._space.bucket(resource)
        for key in self._space.store.keys(bucket):
            namespace, _, name = key.rpartition("/")
            row = self._space.store.latest(bucket, key)
            if row is None or b'"deletionTimestamp"' in row.value:
                continue
            try:
                target = Target(resource, namespace, name)
                await deletion.delete(self._space, target, DeleteOptions(propagation="Background"), WriteOptions(_USER))
            except NotFound:
                continue
        return len(self._space.store.keys(bucket))

    async def _write(self, name: str, status: Object, *, is_clean: bool = False) -> None:
        target = Target(self._kind, name=name)
        row = self._space.latest(target)
        if row is None:
            return
        size = len(row.value)
        changed = await self._space.bench.do(size, self._changed, row, status, is_clean)
        if changed is None:
            return
        resources = await self._space.bench.do(size, crds.resources_of, changed) if size > LARGE else None
        if not self._is_newest(row):
            # Whoever changed it meanwhile has brought it back here.
            return
        change = Change.DELETED if deletion.is_finished(self._kind, changed) else Change.MODIFIED
        revision = self._space.store.next_revision()
        if resources is not None and change is Change.MODIFIED:
            self._read_ahead[revision] = resources
        try:
            await commit.stage(self._space, target, change, changed, row)
        finally:
            self._read_ahead.pop(revision, None)

    def _changed(self, row: Row, status: Object, is_clean: bool) -> Object | None:
        obj, old = row.decode(), row.decode()
        obj["status"] = status
        if is_clean:
            others = [one for one in obj["metadata"].pop("finalizers", ()) if one != crds.CLEANUP_FINALIZER]
            obj["metadata"].update({"finalizers": others} if others else {})
        if obj == old:
            return None
        writes.record(self._space, Target(self._kind, "", row.key, "status"), obj, old, "kube-apiserver")
        return obj

    def _of_group(self, group: str) -> list[Object]:
        """The names of the definitions of a group. They are named after it, so that no others need be looked at."""
        store, bucket = self._space.store, self._space.bucket(self._kind)
        rows = [store.get(bucket, key) for key in store.keys(bucket) if key.partition(".")[2] == group]
        found = [_names_in(row.value) for row in rows if row is not None]
        return [{"spec": {"group": group}, "status": {"acceptedNames": names}} for names in found]

    def _built_in(self) -> list[Resource]:
        return [resource for resource in self._space.kinds if not resource.is_custom]

    @property
    def _kind(self) -> Resource:
        found = self._space.kinds.at("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        assert found is not None
        return found


class _Status(msgspec.Struct, rename={"names": "acceptedNames"}):
    names: dict[str, Any] | None = None


class _Head(msgspec.Struct):
    """What one definition wants to know of the others: they may be long."""

    status: _Status = msgspec.field(default_factory=_Status)


_head = msgspec.json.Decoder(_Head)


def _names_in(value: bytes) -> dict[str, Any] | None:
    try:
        return _head.decode(value).status.names
    except msgspec.ValidationError:
        # It was damaged, and is not offered.
        return None


def _is_established(definition: Object) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any((one.get("type"), one.get("status")) == ("Established", "True") for one in conditions)


def _have_same_schema(one: Resource, other: Resource) -> bool:
    assert isinstance(one.schema, crds.CustomSchema)
    assert isinstance(other.schema, crds.CustomSchema)
    return one.schema.fingerprint == other.schema.fingerprint
