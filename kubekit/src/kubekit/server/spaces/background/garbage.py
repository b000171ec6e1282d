"""Garbage collection: what belongs to an object goes when it goes, or is set free, as the deletion asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubekit.errors import NotFound
from kubekit.model.resource import Object
from kubekit.server.objects.request import DeleteOptions, Target, WriteOptions, object_key
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import deletion, writes
from kubekit.server.pipeline.deletion import FOREGROUND, ORPHAN
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event

from .worker import Worker

_USER = UserInfo("system:serviceaccount:kube-system:generic-garbage-collector", groups=("system:masters",))

_LARGEST_CIRCLE = 1000
"""How many objects are looked at to find out whether they wait for each other."""

Item = tuple[int, str]
"""Bucket and key of an object."""
_AT_ONCE = 500
"""Owners that are looked up before others get their turn."""


class GarbageCollector:
    """Follows ownerReferences within one space."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.worker: Worker[Item] = Worker("garbage collection", self._examine, space.clock)

    def see(self, event: Event) -> None:
        """Notice what may have to be collected; cheap for objects that neither own nor are owned."""
        if event.change is Change.DELETED:
            for item in self._space.store.dependents(event.object["metadata"]["uid"]):
                self.worker.add(item)
            for owner in event.object["metadata"].get("ownerReferences") or ():
                self._add_owner(event.object["metadata"].get("namespace", ""), owner)
        elif event.owners or (event.change is Change.MODIFIED and b'"deletionTimestamp"' in event.value):
            self.worker.add((event.bucket, event.key))

    def _add_owner(self, namespace: str, owner: Object) -> None:
        """The owner may have been waiting for this dependent to go."""
        resource = self._space.kinds.of_api_version(owner["apiVersion"], owner["kind"])
        if resource is not None:
            key = object_key(resource, namespace, owner["name"])
            self.worker.add((self._space.bucket(resource), key))

    async def _examine(self, item: Item) -> None:
        found = self._space.store.latest(*item)
        resource = self._space.kinds.stored_as(self._space.store.names_of(item[0])[1])
        if found is None or resource is None:
            return
        obj = found.decode()
        meta = obj["metadata"]
        finalizers = meta.get("finalizers") or []
        if "deletionTimestamp" in meta:
            if ORPHAN in finalizers:
                await self._orphan(resource, obj)
            elif FOREGROUND in finalizers:
                await self._wait_for_dependents(resource, obj)
            return
        if meta.get("ownerReferences"):
            await self._check_owners(resource, obj)

    async def _check_owners(self, resource: Resource, obj: Object) -> None:
        """Delete an object none of whose owners is left; drop references to those that are gone."""
        owners = obj["metadata"]["ownerReferences"]
        states: list[tuple[Object, str]] = []
        for index, owner in enumerate(owners, 1):
            states.append((owner, self._state_of(obj["metadata"].get("namespace", ""), owner)))
            if index % _AT_ONCE == 0:
                await self._space.store.turns.take(self._space.name)
        solid = [owner for owner, state in states if state == "solid"]
        waiting = [owner for owner, state in states if state == "waiting"]
        absent = [owner for owner, state in states if state == "absent"]
        if solid:
            if absent or waiting:
                gone = {owner["uid"] for owner in absent + waiting}
                await self._change(resource, obj, lambda meta: _without_owners(meta, gone))
            return
        if waiting and self._space.store.dependents(obj["metadata"]["uid"]):
            if self._closes_circle(obj):
                # Its change brings the object back here.
                await self._unblock_owners(resource, obj)
            else:
                await self._delete(resource, obj, "Foreground")
        elif len(absent) + len(waiting) == len(owners):
            await self._delete(resource, obj, "Background" if not waiting else "")

    def _state_of(self, namespace: str, owner: Object) -> str:
        """`solid`, `waiting` (being deleted in the foreground) or `absent`."""
        if self._space.kinds.of_api_version(owner["apiVersion"], owner["kind"]) is None:
            # Its kind is not served now; nobody can tell that it is gone.
            return "solid"
        found = self._owner(namespace, owner)
        if found is None:
            return "absent"
        return "waiting" if _is_waiting(found["metadata"]) else "solid"

    def _owner(self, namespace: str, reference: Object) -> Object | None:
        """The very object that a reference names."""
        resource = self._space.kinds.of_api_version(reference["apiVersion"], reference["kind"])
        if resource is None:
            return None
        found = self._space.find(resource, namespace if resource.namespaced else "", reference["name"])
        return found if found is not None and found["metadata"]["uid"] == reference["uid"] else None

    def _closes_circle(self, obj: Object) -> bool:
        """Whether an object keeps its owners waiting while one of its dependents waits as well."""
        meta = obj["metadata"]
        if not any(owner.get("blockOwnerDeletion") for owner in meta["ownerReferences"]):
            return False
        rows = (self._space.store.latest(*item) for item in self._space.store.dependents(meta["uid"]))
        return any(row is not None and _is_waiting(row.decode()["metadata"]) for row in rows)

    async def _unblock_owners(self, resource: Resource, obj: Object) -> None:
        meta = obj["metadata"]
        await self._change(resource, obj, _unblock)
        for owner in meta["ownerReferences"]:
            self._add_owner(meta.get("namespace", ""), owner)

    async def _wait_for_dependents(self, resource: Resource, owner: Object) -> None:
        """Foreground deletion: the owner goes when every dependent that blocks it is gone."""
        blocked, uid, circle = False, owner["metadata"]["uid"], self._waiting_for(owner["metadata"])
        for item, meta in self._dependents(uid):
            if not _is_waiting(meta):
                # Those that wait themselves are looked at when what they wait for goes: in a circle this has no end.
                self.worker.add(item)
            blocked = blocked or (_blocks(meta, uid) and meta["uid"] not in circle)
        if not blocked:
            await self._change(resource, owner, lambda meta: _without_finalizer(meta, FOREGROUND))

    def _dependents(self, uid: str) -> Iterator[tuple[Item, Object]]:
        """Where the dependents of an object are, and their metadata."""
        for item in self._space.store.dependents(uid):
            row = self._space.store.latest(*item)
            if row is not None:
                yield item, row.decode()["metadata"]

    def _waiting_for(self, meta: Object) -> set[str]:
        """An object that waits, and all that wait for it, directly or by way of others."""
        namespace, seen, ahead = meta.get("namespace", ""), {meta["uid"]}, [meta]
        while ahead and len(seen) <= _LARGEST_CIRCLE:
            for reference in ahead.pop().get("ownerReferences") or ():
                if not reference.get("blockOwnerDeletion") or reference["uid"] in seen:
                    continue
                owner = self._owner(namespace, reference)
                if owner is not None and _is_waiting(owner["metadata"]):
                    seen.add(reference["uid"])
                    ahead.append(owner["metadata"])
        return seen

    async def _orphan(self, resource: Resource, owner: Object) -> None:
        uid = owner["metadata"]["uid"]
        for bucket, key in self._space.store.dependents(uid):
            row = self._space.store.latest(bucket, key)
            kind = self._space.kinds.stored_as(self._space.store.names_of(bucket)[1])
            if row is not None and kind is not None:
                await self._change(kind, row.decode(), lambda meta: _without_owners(meta, {uid}))
        await self._change(resource, owner, lambda meta: _without_finalizer(meta, ORPHAN))

    async def _delete(self, resource: Resource, obj: Object, propagation: Any) -> None:
        meta = obj["metadata"]
        options = DeleteOptions(propagation=propagation, uid=meta["uid"], resource_version=meta["resourceVersion"])
        try:
            await deletion.delete(self._space, _target(resource, obj), options, WriteOptions(_USER))
        except NotFound:
            return

    async def _change(self, resource: Resource, obj: Object, change: Any) -> None:
        uid = obj["metadata"]["uid"]

        def build(live: Object) -> Object:
            if live["metadata"]["uid"] == uid:
                change(live["metadata"])
            return live

        try:
            options = WriteOptions(_USER, manager="garbage-collector")
            await writes.rebuild(self._space, _target(resource, obj), build, options)
        except NotFound:
            return


def _target(resource: Resource, obj: Object) -> Target:
    return Target(resource, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


def _is_waiting(meta: Object) -> bool:
    """Whether an object is being deleted, once its dependents are gone."""
    return "deletionTimestamp" in meta and FOREGROUND in (meta.get("finalizers") or ())


def _blocks(meta: Object, owner: str) -> bool:
    """Whether an object keeps one of its owners from going."""
    references = meta.get("ownerReferences") or ()
    return any(one["uid"] == owner and one.get("blockOwnerDeletion") for one in references)


def _unblock(meta: Object) -> None:
    for owner in meta.get("ownerReferences") or ():
        owner["blockOwnerDeletion"] = False


def _without_owners(meta: Object, uids: set[str]) -> None:
    kept = [owner for owner in meta.get("ownerReferences") or () if owner["uid"] not in uids]
    if kept:
        meta["ownerReferences"] = kept
    else:
        meta.pop("ownerReferences", None)


def _without_finalizer(meta: Object, finalizer: str) -> None:
    kept = [one for one in meta.get("finalizers") or () if one != finalizer]
    if kept:
        meta["finalizers"] = kept
    else:
        meta.pop("finalizers", None)
