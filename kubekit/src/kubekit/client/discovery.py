"""Which kinds a server offers, and which one a person means."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
from msgspec import Struct

from kubekit.errors import ApiError, NotFound, ServiceUnavailable
from kubekit.model.resource import Address

from .codec import NotAnObject

_ALL_AT_ONCE = "application/json;g=apidiscovery.k8s.io;{};as=APIGroupDiscoveryList"
ACCEPT = ",".join([_ALL_AT_ONCE.format("v=v2"), _ALL_AT_ONCE.format("v=v2beta1"), "application/json"])

Document = TypeVar("Document")
Fetch = Callable[[str, str], Awaitable[bytes]]
"""Path and Accept header to a document."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A kind in one version, as the server offers it."""

    address: Address
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()

    def is_called(self, name: str) -> bool:
        """Whether a person may mean it by this word: plural, singular, kind or short name."""
        address = self.address
        called = (address.plural, self.singular, address.kind.lower(), *self.short_names)
        return name.lower() in called


@dataclass(frozen=True, slots=True)
class Kinds:
    """All kinds, the most common meaning of a word first: core before other groups, preferred versions first."""

    offered: tuple[Offered, ...]
    broken: tuple[str, ...] = field(default=())
    """Groups and versions that could not be asked."""

    def __iter__(self) -> Iterator[Offered]:
        return iter(self.offered)

    def find(self, text: str) -> Offered:
        """`pods`, `po`, `Deployment`, `deployments.apps`, `deployments.v1.apps`. Raises NotFound."""
        name, _, rest = text.partition(".")
        for one in self.offered:
            address = one.address
            if one.is_called(name) and rest in ("", address.group, f"{address.version}.{address.group}".rstrip(".")):
                return one
        group = f' in group "{rest}"' if rest else ""
        raise NotFound(f'the server doesn\'t have a resource type "{name}"{group}')

    def in_category(self, name: str) -> tuple[Offered, ...]:
        """Each kind of a category, such as `all`, in its preferred version."""
        found: dict[str, Offered] = {}
        for one in self.offered:
            if name in one.categories:
                found.setdefault(one.address.name, one)
        return tuple(found.values())


async def discover(fetch: Fetch) -> Kinds:
    """Ask the server, in two requests where it knows how. Raises ApiError, NotAnObject."""
    core, groups = await asyncio.gather(fetch("/api", ACCEPT), fetch("/apis", ACCEPT))
    offered: list[Offered] = []
    broken: list[str] = []
    for document in (core, groups):
        parsed = _decoded(document, _Root)
        if parsed.kind == "APIGroupDiscoveryList":
            offered += _aggregated(parsed, broken)
        else:
            await _one_by_one(fetch, parsed, offered, broken)
    return Kinds(tuple(offered), tuple(broken))


class _Kind(Struct):
    kind: str = ""


class _Subresource(Struct):
    subresource: str


class _Meta(Struct):
    name: str = ""


class _Resource(Struct, rename="camel"):
    resource: str
    response_kind: _Kind | None = None
    scope: str = ""
    singular_resource: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: tuple[_Subresource, ...] = ()


class _Version(Struct):
    version: str
    resources: tuple[_Resource, ...] = ()
    freshness: str = "Current"


class _Group(Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    versions: tuple[_Version, ...] = ()


class _GroupVersion(Struct, rename="camel"):
    group_version: str = ""


class _ListedGroup(Struct, rename="camel"):
    name: str
    versions: tuple[_GroupVersion, ...] = ()
    preferred_version: _GroupVersion = msgspec.field(default_factory=_GroupVersion)


class _Root(Struct):
    """Whichever form `/api` and `/apis` answer in."""

    kind: str
    items: tuple[_Group, ...] = ()
    groups: tuple[_ListedGroup, ...] = ()
    versions: tuple[str, ...] = ()


def _aggregated(root: _Root, broken: list[str]) -> Iterator[Offered]:
    for group in root.items:
        for version in group.versions:
            if version.freshness == "Stale":
                broken.append(f"{group.metadata.name}/{version.version}")
            for resource in version.resources:
                yield _offered(group.metadata.name, version.version, resource)


def _offered(group: str, version: str, resource: _Resource) -> Offered:
    kind = resource.response_kind.kind if resource.response_kind else ""
    return Offered(
        Address(group, version, kind, resource.resource, resource.scope == "Namespaced"),
        resource.singular_resource,
        resource.short_names,
        resource.categories,
        resource.verbs,
        tuple(one.subresource for one in resource.subresources),
    )


class _ListedResource(Struct, rename="camel"):
    name: str
    kind: str
    namespaced: bool = False
    singular_name: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()


class _ResourceList(Struct):
    resources: tuple[_ListedResource, ...] = ()


async def _one_by_one(fetch: Fetch, root: _Root, offered: list[Offered], broken: list[str]) -> None:
    """What one group cannot say does not hide what the others offer."""
    wanted = [("", version, f"/api/{version}") for version in root.versions]
    for group in root.groups:
        wanted += [(group.name, one.rpartition("/")[2], f"/apis/{one}") for one in _preferred_first(group)]
    documents = await asyncio.gather(*(_fetched(fetch, path) for _, _, path in wanted))
    for (group_name, version, path), document in zip(wanted, documents, strict=True):
        if document is None:
            broken.append(path.removeprefix("/apis/").removeprefix("/api/"))
        else:
            offered += _listed(group_name, version, document.resources)


async def _fetched(fetch: Fetch, path: str) -> _ResourceList | None:
    try:
        return _decoded(await fetch(path, "application/json"), _ResourceList)
    except (ServiceUnavailable, NotFound, NotAnObject):
        return None
    except ApiError as error:
        if error.code < 500:
            raise
        return None


def _preferred_first(group: _ListedGroup) -> Iterable[str]:
    preferred = group.preferred_version.group_version
    names = [one.group_version for one in group.versions]
    return sorted(names, key=lambda name: name != preferred)


def _listed(group: str, version: str, resources: Iterable[_ListedResource]) -> Iterator[Offered]:
    parts: dict[str, list[str]] = {}
    for one in resources:
        name, _, part = one.name.partition("/")
        parts.setdefault(name, []).extend([part] if part else [])
    for one in resources:
        if "/" not in one.name:
            address = Address(group, version, one.kind, one.name, one.namespaced)
            subresources = tuple(parts[one.name])
            yield Offered(address, one.singular_name, one.short_names, one.categories, one.verbs, subresources)


def _decoded(content: bytes, kind: type[Document]) -> Document:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotAnObject(str(error)) from error
