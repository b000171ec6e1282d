"""The client of a Kubernetes API over HTTP(S)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from types import TracebackType
from typing import Any

import msgspec
from msgspec import Struct

from kubekit.errors import Expired, ServiceUnavailable
from kubekit.model.resource import Address, Object

from . import discovery, paths
from .codec import Codec, Kind, NotAnObject, Page, codec_for, decoded, object_codec, part_codec
from .config import Config
from .credentials import credentials_for
from .exec_plugins import Clock
from .failures import foreign
from .protocol import (
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
from .remote_command import PROTOCOLS, Execution
from .reply import Reply
from .transport import Transport

POD = Address("", "v1", "Pod", "pods", True)
_APPLY = "application/apply-patch+yaml"


class ServerVersion(Struct, rename="camel"):
    """What the server says it is."""

    major: str
    minor: str
    git_version: str
    platform: str = ""


class HttpClient:
    """`kubekit.client.protocol.Client` over HTTP(S). Use as an async context manager, or `close` it.

    `patience` is how long an answer may take, `idle` how long a watch may be silent before it counts as dead: servers
    send bookmarks about once a minute. With a clock, what exec plug-ins give is renewed before it expires; without,
    when it is refused. `warn` is told the warnings of the server, which are logged otherwise. Without `resends`, every
    call is one request, also when a connection that was kept turns out to have ended."""

    def __init__(
        self,
        config: Config,
        *,
        clock: Clock | None = None,
        agent: str = DEFAULT_MANAGER,
        patience: float = 60.0,
        idle: float = 150.0,
        warn: Callable[[str], None] | None = None,
        resends: bool = True,
    ) -> None:
        self.config, self._idle = config, idle
        self._transport = Transport(
            config, credentials_for(config, clock), agent=agent, patience=patience, warn=warn, resends=resends
        )

    async def __aenter__(self) -> HttpClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def get(self, kind: Kind, name: str, namespace: str = "", *, subresource: str = "") -> Any:
        codec = part_codec(kind, subresource)
        return self._one(
            codec, await self._transport.call("GET", paths.one(codec.address, name, namespace, subresource))
        )

    async def list(self, kind: Kind, selection: Selection = EVERYTHING, *, page: int = 500) -> Listed[Any]:
        codec = codec_for(kind)
        try:
            return await self._pages(codec, selection, page)
        except Expired:
            # The list took longer than the server keeps history; all at once cannot be too late.
            return await self._pages(codec, selection, 0)

    async def _pages(self, codec: Codec, selection: Selection, limit: int) -> Listed[Any]:
        path = paths.collection(codec.address, selection.namespace)
        found = await self._page(codec, path + paths.query(selection, limit=limit or None))
        items: list[Any] = found.items
        while found.metadata.continue_:
            more = {"limit": str(limit), "continue": found.metadata.continue_}
            found = await self._page(codec, path + paths.query(selection, **more))
            items += found.items
        return Listed(tuple(items), found.metadata.resource_version)

    async def _page(self, codec: Codec, path: str) -> Page:
        reply = await self._transport.call("GET", path)
        try:
            return codec.page(reply.body)
        except NotAnObject as error:
            raise foreign(self._transport.place, reply, str(error)) from error

    async def watch(
        self, kind: Kind, selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[Any], None]:
        codec = codec_for(kind)
        query = paths.query(selection, watch=1, allowWatchBookmarks="true", resourceVersion=version)
        path = paths.collection(codec.address, selection.namespace) + query
        async with aclosing(self._transport.lines(path, idle=self._idle)) as batches:
            async for batch in batches:
                for line in batch:
                    yield self._event(codec, line)

    def _event(self, codec: Codec, line: bytes) -> Watched[Any]:
        try:
            return codec.event(line)
        except NotAnObject as error:
            message = f"{self._transport.place}: a watch was cut, or is not of a Kubernetes API: {error}"
            raise ServiceUnavailable(message) from error

    async def create(self, obj: Any, kind: Address | None = None, *, manager: str = "", dry_run: bool = False) -> Any:
        codec, address = object_codec(obj, kind), address_for(obj, kind)
        _, namespace = name_of(obj)
        paths.check_new(address, namespace)
        path = paths.collection(address, namespace) + _options(manager, dry_run)
        return self._one(codec, await self._transport.call("POST", path, codec.body(obj)))

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
        path = paths.one(address, *name_of(obj), subresource) + _options(
            manager, dry_run, force="true" if force else ""
        )
        return self._one(codec, await self._transport.call("PATCH", path, codec.body(obj), content_type=_APPLY))

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
        path = paths.one(codec.address, name, namespace, subresource) + _options(manager, dry_run)
        body = msgspec.json.encode(change)
        return self._one(codec, await self._transport.call("PATCH", path, body, content_type=form.value))

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
        options = delete_options(propagation, uid, version, grace, dry_run)
        body = msgspec.json.encode(options) if options else None
        await self._transport.call("DELETE", paths.one(address_of(kind), name, namespace), body)

    async def post(self, kind: Kind, name: str, namespace: str, subresource: str, body: Any) -> Object:
        """Create a part of an object that is no object by itself: an eviction, a token, a binding."""
        path = paths.one(address_of(kind), name, namespace, subresource)
        reply = await self._transport.call("POST", path, msgspec.json.encode(body))
        return self._document(reply)

    async def evict(self, name: str, namespace: str, *, grace: int | None = None, dry_run: bool = False) -> None:
        """Delete a pod as its disruption budgets allow. Raises TooManyRequests when they do not, now."""
        eviction: Object = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        }
        if options := delete_options("", "", "", grace, dry_run):
            eviction["deleteOptions"] = options
        await self.post(POD, name, namespace, "eviction", eviction)

    async def logs(
        self,
        name: str,
        namespace: str,
        *,
        container: str = "",
        follow: bool = False,
        tail: int | None = None,
        since: int | None = None,
        previous: bool = False,
        timestamps: bool = False,
    ) -> AsyncGenerator[str, None]:
        """What a container writes, by lines: all so far, the last `tail` or those of the last `since` seconds."""
        query = paths.query(
            container=container,
            follow=_flag(follow),
            tailLines=tail,
            sinceSeconds=since,
            previous=_flag(previous),
            timestamps=_flag(timestamps),
        )
        path = paths.one(POD, name, namespace, "log") + query
        async with aclosing(self._transport.lines(path)) as batches:
            async for batch in batches:
                for line in batch:
                    yield line.decode(errors="replace")

    @asynccontextmanager
    async def exec(
        self,
        name: str,
        namespace: str,
        command: Sequence[str],
        *,
        container: str = "",
        stdin: bool = False,
        tty: bool = False,
    ) -> AsyncIterator[Execution]:
        """Run a command in a container for as long as the context lasts."""
        streams = {"stdin": _flag(stdin), "stdout": "true", "stderr": _flag(not tty), "tty": _flag(tty)}
        query = paths.query(command=command, container=container, **streams)
        websocket = await self._transport.websocket(paths.one(POD, name, namespace, "exec") + query, PROTOCOLS)
        execution = Execution(websocket)
        try:
            yield execution
        finally:
            await execution.close()

    async def discover(self) -> discovery.Kinds:
        """Every kind the server offers."""
        try:
            return await discovery.discover(self._fetch)
        except NotAnObject as error:
            message = f"{self._transport.place} does not answer like a Kubernetes API: {error}"
            raise ServiceUnavailable(message) from error

    async def version(self) -> ServerVersion:
        reply = await self._transport.call("GET", "/version")
        return msgspec.convert(self._document(reply), ServerVersion)

    async def _fetch(self, path: str, accept: str) -> bytes:
        return (await self._transport.call("GET", path, accept=accept)).body

    def _one(self, codec: Codec, reply: Reply) -> Any:
        try:
            return codec.one(reply.body)
        except NotAnObject as error:
            raise foreign(self._transport.place, reply, str(error)) from error

    def _document(self, reply: Reply) -> Object:
        try:
            found: Object = decoded(reply.body)
        except NotAnObject as error:
            raise foreign(self._transport.place, reply, str(error)) from error
        return found


def _options(manager: str, dry_run: bool, **more: str) -> str:
    return paths.query(fieldManager=manager, dryRun="All" if dry_run else "", **more)


def _flag(value: bool) -> str:
    return "true" if value else ""
