"""The client straight onto an API in this process: the verbs of `kubekit.client.protocol` without HTTP in between."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import msgspec

from kubekit.client import paths
from kubekit.client.codec import Codec, Kind, codec_for, object_codec, part_codec
from kubekit.client.protocol import (
    DEFAULT_MANAGER,
    EVERYTHING,
    Listed,
    Patch,
    Propagation,
    Selection,
    Watched,
    address_for,
    address_of,
    delete_options,
    name_of,
)
from kubekit.errors import MethodNotAllowed
from kubekit.model.resource import Address, Object
from kubekit.server.access.pki import ADMIN
from kubekit.server.access.rbac import Attributes, forbidden
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.user import AUTHENTICATED, MASTERS, UserInfo
from kubekit.server.pipeline.watches import Watch
from kubekit.server.serve.queries import Query
from kubekit.server.spaces.served_space import ServedSpace

from .objects import refusals
from .pipeline import binding, deletion, eviction, patches, reads, scale_subresource, writes
from .serve import bodies, queries, subresources

POD = Address("", "v1", "Pod", "pods", namespaced=True)
ADMINISTRATOR = UserInfo(ADMIN, groups=(MASTERS, AUTHENTICATED))


class DirectClient:
    """`kubekit.client.protocol.Client` on a space, with the rights of a user; without one, as its administrator.

    Objects are checked, defaulted, admitted and stored as if they had come over the wire, and refusals are the same.
    `warn` is told what the server would send as warnings."""

    def __init__(
        self,
        space: ServedSpace,
        user: UserInfo = ADMINISTRATOR,
        *,
        agent: str = DEFAULT_MANAGER,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self._space, self._user, self._agent, self._warn = space, user, agent, warn

    async def close(self) -> None:
        """There is nothing to give back."""

    async def get(self, kind: Kind, name: str, namespace: str = "", *, subresource: str = "") -> Any:
        codec = part_codec(kind, subresource)
        target = self._object("get", codec.address, name, namespace, subresource)
        found = await reads.get(self._space, target)
        if subresource == "scale":
            return scale_subresource.scale_of(target.resource, found.decode())
        return codec.one(found.body())

    async def list(self, kind: Kind, selection: Selection = EVERYTHING, *, page: int = 500) -> Listed[Any]:
        codec = codec_for(kind)
        target = self._target("list", codec.address, selection.namespace)
        options = queries.list_options(_query(selection))
        found = await reads.list_objects(self._space, target.resource, target.namespace, options)
        prefix = target.resource.opening
        return Listed(tuple([codec.one(prefix + value[1:]) for value in found.values]), str(found.revision))

    async def watch(
        self, kind: Kind, selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[Any], None]:
        codec = codec_for(kind)
        target = self._target("watch", codec.address, selection.namespace)
        options = queries.watch_options(_query(selection, resourceVersion=version, allowWatchBookmarks="true"))
        watch = Watch(self._space, self._space.hub, target.resource, target.namespace, options)
        async with aclosing(watch.signals()) as batches:
            async for batch in batches:
                for signal in batch.signals:
                    yield codec.event(signal.frame(target.resource))

    async def create(self, obj: Any, kind: Address | None = None, *, manager: str = "", dry_run: bool = False) -> Any:
        codec, address = object_codec(obj, kind), address_for(obj, kind)
        _, namespace = name_of(obj)
        paths.check_new(address, namespace)
        target = self._target("create", address, namespace)
        if target.resource.kind == "Binding" and not target.resource.group:
            return await self._bind(target, _wire(codec, obj), self._options("CreateOptions", manager, dry_run))
        if target.resource.verbs == ("create",):
            raise MethodNotAllowed(f"{target.resource.qualified} are answered over HTTP only")
        options = self._options("CreateOptions", manager, dry_run)
        answer = await writes.create(self._space, target, _wire(codec, obj), options)
        return self._told(codec.one(answer.body()), options)

    async def _bind(self, target: Target, request: Object, options: WriteOptions) -> Object:
        await binding.bind(self._space, target.namespace, request, options)
        self._told(None, options)
        return {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success"}

    async def apply(
        self,
        obj: Any,
        kind: Address | None = None,
        *,
        manager: str,
        force: bool = True,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Any:
        codec, address = object_codec(obj, kind), address_for(obj, kind)
        target = self._object("patch", address, *name_of(obj), subresource)
        options = self._options(queries.APPLY, manager, dry_run)
        options.force = force
        return await self._patch(codec, target, patches.APPLY_PATCH, _wire(codec, obj), options)

    async def patch(
        self,
        kind: Kind,
        name: str,
        change: Any,
        namespace: str = "",
        *,
        form: Patch = Patch.MERGE,
        subresource: str = "",
        manager: str = "",
        dry_run: bool = False,
    ) -> Any:
        codec = part_codec(kind, subresource)
        target = self._object("patch", codec.address, name, namespace, subresource)
        accepted = patches.accepted_types(target)
        if form.value not in accepted:
            raise bodies.unsupported_patch(target.resource, accepted)
        options = self._options("PatchOptions", manager, dry_run)
        return await self._patch(codec, target, form.value, _copied(change), options)

    async def _patch(self, codec: Codec, target: Target, form: str, change: Any, options: WriteOptions) -> Any:
        if target.subresource == "scale":
            return self._told(await scale_subresource.patch(self._space, target, form, change, options), options)
        answer = await patches.patch(self._space, target, form, change, options)
        return self._told(codec.one(answer.body()), options)

    async def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        *,
        propagation: Propagation = "",
        uid: str = "",
        version: str = "",
        grace: int | None = None,
        dry_run: bool = False,
    ) -> None:
        target = self._object("delete", address_of(kind), name, namespace)
        wanted = queries.delete_options(Query(), delete_options(propagation, uid, version, grace, dry_run))
        options = WriteOptions(self._user)
        await deletion.delete(self._space, target, wanted, options)
        self._told(None, options)

    async def evict(self, name: str, namespace: str, *, grace: int | None = None, dry_run: bool = False) -> None:
        target = self._object("delete", POD, name, namespace)
        self._authorize("create", POD, namespace, name, "eviction")
        wanted = queries.delete_options(Query(), delete_options("", "", "", grace, dry_run))
        options = self._options("CreateOptions", "", dry_run)
        await eviction.evict(self._space, target, {"metadata": {"name": name, "namespace": namespace}}, wanted, options)
        self._told(None, options)

    def _object(self, verb: str, address: Address, name: str, namespace: str, subresource: str = "") -> Target:
        """One object, or a part of it, that may be touched so. Raises BadRequest, Forbidden, NotFound."""
        paths.check(address, name, namespace)
        paths.segment(name)
        return self._target(verb, address, namespace, name, subresource)

    def _target(self, verb: str, address: Address, namespace: str, name: str = "", subresource: str = "") -> Target:
        if not address.namespaced:
            namespace = ""
        self._authorize(verb, address, namespace, name, subresource)
        resource = self._space.kinds.at(address.group, address.version, address.plural)
        if resource is None or (namespace and not resource.namespaced):
            raise refusals.no_such_resource()
        target = Target(resource, namespace, name, subresource)
        offered = subresources.verbs(target)
        if offered is None:
            raise refusals.no_such_resource()
        if verb not in offered:
            raise refusals.method_not_allowed()
        if subresource not in ("", "status", "scale"):
            raise MethodNotAllowed(f"{resource.qualified}/{subresource} is answered over HTTP only")
        return target

    def _authorize(self, verb: str, address: Address, namespace: str, name: str, subresource: str) -> None:
        about = name if address.plural == "namespaces" and name else namespace
        attributes = Attributes(
            self._user, verb, address.group, address.version, address.plural, subresource, about, name
        )
        decision = self._space.rbac.authorize(attributes)
        if not decision.allowed:
            raise forbidden(attributes, decision.reason)

    def _options(self, kind: str, manager: str, dry_run: bool) -> WriteOptions:
        query = Query({"fieldManager": manager, "dryRun": "All"} if dry_run else {"fieldManager": manager})
        return WriteOptions(self._user, *queries.write_settings(query, kind, self._agent))

    def _told(self, answer: Any, options: WriteOptions) -> Any:
        if self._warn is not None:
            for text in options.warnings:
                self._warn(text)
        return answer


def _query(selection: Selection, **more: str) -> Query:
    given = {"labelSelector": selection.labels, "fieldSelector": selection.fields, **more}
    return Query({name: value for name, value in given.items() if value})


def _wire(codec: Codec, obj: Any) -> Object:
    """The object as it would arrive: plain, complete, and nobody else's."""
    wire: Object = msgspec.json.decode(codec.body(obj))
    return wire


def _copied(change: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(change))
