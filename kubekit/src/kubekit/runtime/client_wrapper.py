"""A client around another, so that guarding, counting and disturbing calls is one method each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from kubekit.client.protocol import (
    EVERYTHING,
    Client,
    Listed,
    Patch,
    Propagation,
    Selection,
    Watched,
    address_for,
    address_of,
)
from kubekit.model.resource import Address

from .objects import Kind, identity_of

_POD = Address("", "v1", "Pod", "pods", namespaced=True)

Verb = Literal["get", "list", "create", "apply", "patch", "delete"]


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked of the API, without what is sent."""

    verb: Verb
    address: Address
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def writes(self) -> bool:
        return self.verb not in ("get", "list")


Go = Callable[[], Awaitable[Any]]


class WrappedClient:
    """Hands every call on by way of `around`; subclasses say what happens there."""

    def __init__(self, inner: Client) -> None:
        self.inner = inner

    async def around(self, call: Call, go: Go) -> Any:
        return await go()

    async def get(self, kind: Kind, name: str, namespace: str = "", *, subresource: str = "") -> Any:
        call = Call("get", address_of(kind), namespace, name, subresource)
        return await self.around(call, lambda: self.inner.get(kind, name, namespace, subresource=subresource))

    async def list(self, kind: Kind, selection: Selection = EVERYTHING, *, page: int = 500) -> Listed[Any]:
        call = Call("list", address_of(kind), selection.namespace)
        listed: Listed[Any] = await self.around(call, lambda: self.inner.list(kind, selection, page=page))
        return listed

    def watch(
        self, kind: Kind, selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[Any], None]:
        return self.inner.watch(kind, selection, version=version)

    async def create(self, obj: Any, kind: Address | None = None, *, manager: str = "", dry_run: bool = False) -> Any:
        call = self._call("create", obj, kind)
        return await self.around(call, lambda: self.inner.create(obj, kind, manager=manager, dry_run=dry_run))

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
        call = self._call("apply", obj, kind, subresource)
        return await self.around(
            call,
            lambda: self.inner.apply(obj, kind, manager=manager, force=force, subresource=subresource, dry_run=dry_run),
        )

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
    ) -> Any:
        call = Call("patch", address_of(kind), namespace, name, subresource)
        return await self.around(
            call,
            lambda: self.inner.patch(
                kind, name, change, namespace, form=form, subresource=subresource, manager=manager
            ),
        )

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
    ) -> None:
        call = Call("delete", address_of(kind), namespace, name)
        await self.around(
            call,
            lambda: self.inner.delete(
                kind, name, namespace, propagation=propagation, uid=uid, version=version, grace=grace
            ),
        )

    async def evict(self, name: str, namespace: str) -> None:
        call = Call("delete", _POD, namespace, name, "eviction")
        await self.around(call, lambda: self.inner.evict(name, namespace))

    async def close(self) -> None:
        await self.inner.close()

    def _call(self, verb: Verb, obj: Any, kind: Address | None, subresource: str = "") -> Call:
        identity = identity_of(obj)
        return Call(verb, address_for(obj, kind), identity.namespace, identity.name, subresource)
