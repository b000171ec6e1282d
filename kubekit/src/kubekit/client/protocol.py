"""The seam between a program and any Kubernetes API: the same verbs over HTTPS and straight onto the embedded store.

A kind is named by a class that knows its address (a Resource, or a partial Struct of another's kind), and
then objects are instances of it; or by a bare `Address`, and then objects are plain dicts. The conformance suite in
`tests/client/` runs against every implementation.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, overload

from kubekit.model.resource import Address, Object


class Addressed(Protocol):
    """A class whose instances are objects of one kind."""

    address: ClassVar[Address]


T = TypeVar("T", bound=Addressed)
Item = TypeVar("Item")

Propagation = Literal["", "Background", "Foreground", "Orphan"]


class Patch(StrEnum):
    """How a change is described."""

    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"


class Signal(StrEnum):
    """What a watch says happened. A BOOKMARK says only that everything up to its version has been told."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


@dataclass(frozen=True, slots=True)
class Listed(Generic[Item]):
    """Objects as of one resourceVersion."""

    items: tuple[Item, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Watched(Generic[Item]):
    """One event of a watch; `item` is None for a bookmark."""

    signal: Signal
    version: str
    item: Item | None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a kind: of one namespace or of all, by labels and fields."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""


EVERYTHING = Selection()

DEFAULT_MANAGER = "kubekit"
"""Who owns the fields of a write that names no manager."""


class Client(Protocol):
    """Verbs of the Kubernetes API. Every refusal is a subclass of kubekit.errors.ApiError; a server that cannot be
    reached is ServiceUnavailable. Calls do not retry by themselves; cancelling one leaves nothing behind."""

    @overload
    async def get(self, kind: type[T], name: str, namespace: str = "", *, subresource: str = "") -> T: ...
    @overload
    async def get(self, kind: Address, name: str, namespace: str = "", *, subresource: str = "") -> Object: ...

    @overload
    async def list(self, kind: type[T], selection: Selection = EVERYTHING, *, page: int = 500) -> Listed[T]: ...
    @overload
    async def list(self, kind: Address, selection: Selection = EVERYTHING, *, page: int = 500) -> Listed[Object]:
        """All that match, fetched page by page, as of one version."""

    @overload
    def watch(
        self, kind: type[T], selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[T], None]: ...
    @overload
    def watch(
        self, kind: Address, selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[Object], None]:
        """What happens after `version`, until the server ends the stream. Raises Expired when that is too long ago.

        For a watch that goes on whatever happens, see `kubekit.client.endless_watch`."""

    async def create(self, obj: Any, kind: Address | None = None, *, manager: str = "", dry_run: bool = False) -> Any:
        """Store a new object; answers it as stored, in the form it was given. A dict needs its `kind`."""

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
        """Server-side apply: exactly the fields in `obj` become this manager's. Creates the object if need be."""

    @overload
    async def patch(
        self,
        kind: type[T],
        name: str,
        change: Any,
        namespace: str = "",
        *,
        form: Patch = Patch.MERGE,
        subresource: str = "",
        manager: str = "",
    ) -> T: ...
    @overload
    async def patch(
        self,
        kind: Address,
        name: str,
        change: Any,
        namespace: str = "",
        *,
        form: Patch = Patch.MERGE,
        subresource: str = "",
        manager: str = "",
    ) -> Object:
        """Change an object. With `metadata.resourceVersion` in a merge patch, only if it is still at that version."""

    async def delete(
        self,
        kind: type[Any] | Address,
        name: str,
        namespace: str = "",
        *,
        propagation: Propagation = "",
        uid: str = "",
        version: str = "",
        grace: int | None = None,
    ) -> None:
        """Delete an object or mark it for deletion. `uid` and `version` are preconditions (Conflict when not met);
        `grace` is how many seconds a Pod gets to end, 0 meaning that it has."""

    async def evict(self, name: str, namespace: str) -> None:
        """Delete a pod as its disruption budgets allow. Raises TooManyRequests when they do not, now."""

    async def close(self) -> None:
        """Give back connections; nothing else may be called afterwards."""


def address_of(kind: type[Any] | Address) -> Address:
    return kind if isinstance(kind, Address) else kind.address


def address_for(obj: Any, kind: Address | None) -> Address:
    """Where an object belongs: given, or known by its class."""
    if kind is not None:
        return kind
    if isinstance(obj, Mapping):
        raise TypeError("a plain object needs the address of its kind")
    address: Address = obj.address
    return address


def name_of(obj: Any) -> tuple[str, str]:
    """An object's name and namespace."""
    if isinstance(obj, Mapping):
        meta = obj.get("metadata") or {}
        return meta.get("name") or "", meta.get("namespace") or ""
    return obj.metadata.name, obj.metadata.namespace


def delete_options(propagation: Propagation, uid: str, version: str, grace: int | None, dry_run: bool) -> Object:
    """What a deletion says beyond the name; empty when that is nothing."""
    conditions = {name: value for name, value in (("uid", uid), ("resourceVersion", version)) if value}
    options: Object = {
        "preconditions": conditions or None,
        "propagationPolicy": propagation or None,
        "gracePeriodSeconds": grace,
        "dryRun": ["All"] if dry_run else None,
    }
    return {name: value for name, value in options.items() if value is not None}
