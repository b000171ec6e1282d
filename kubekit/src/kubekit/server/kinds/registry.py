"""Which resources an API offers: the built-in ones, and those that CustomResourceDefinitions add and take away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from kubekit.server.objects.resource import Resource

Place = tuple[str, str, str]
"""Group, version, and plural or kind."""


@dataclass(frozen=True, slots=True)
class _Index:
    """Resources that never change, found quickly."""

    by_path: dict[Place, Resource]
    by_kind: dict[Place, Resource]
    groups: frozenset[str]


@lru_cache(maxsize=8)
def _indexed(built_in: tuple[Resource, ...]) -> _Index:
    """The same for all APIs that begin with the same resources."""
    return _Index(
        {(one.group, one.version, one.plural): one for one in built_in},
        {(one.group, one.version, one.kind): one for one in built_in},
        frozenset(one.group for one in built_in),
    )


class Kinds:
    """The resources of one API, found by URL or by kind."""

    def __init__(self, built_in: Iterable[Resource]) -> None:
        self._built_in = _indexed(tuple(built_in))
        self._by_path: dict[Place, Resource] = {}
        self._by_kind: dict[Place, Resource] = {}
        self._custom: dict[str, list[Resource]] = {}
        self._stored_as: dict[str, Resource | None] = {}
        self.version = 0
        """Grows with every change, so that documents derived from the kinds know when they are stale."""

    @property
    def has_custom(self) -> bool:
        return bool(self._custom)

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        place = (group, version, plural)
        return self._by_path.get(place) or self._built_in.by_path.get(place)

    def of(self, group: str, version: str, kind: str) -> Resource | None:
        place = (group, version, kind)
        return self._by_kind.get(place) or self._built_in.by_kind.get(place)

    def of_api_version(self, api_version: str, kind: str) -> Resource | None:
        group, _, version = api_version.rpartition("/")
        return self.of(group, version, kind)

    def stored_as(self, storage_key: str) -> Resource | None:
        """The version of a resource that its objects are stored in."""
        if storage_key not in self._stored_as:
            self._stored_as[storage_key] = self._find_stored(storage_key)
        return self._stored_as[storage_key]

    def _find_stored(self, storage_key: str) -> Resource | None:
        found = None
        for resource in self:
            if resource.storage_key == storage_key and resource.translation is None:
                found = resource
                if not resource.storage_version or resource.storage_version == resource.version:
                    return resource
        return found

    def is_built_in_group(self, group: str) -> bool:
        return group in self._built_in.groups

    def __iter__(self) -> Iterator[Resource]:
        built_in = self._built_in.by_path.items()
        return chain((one for place, one in built_in if place not in self._by_path), self._by_path.values())

    def replace_custom(self, definition: str, resources: list[Resource]) -> list[Resource]:
        """Offer what a CustomResourceDefinition defines now; answers what it offered until now."""
        self._stored_as.clear()
        before = self._custom.pop(definition, [])
        for resource in before:
            self._by_path.pop((resource.group, resource.version, resource.plural), None)
            self._by_kind.pop((resource.group, resource.version, resource.kind), None)
        for resource in resources:
            self._add(resource)
        if resources:
            self._custom[definition] = resources
        self.version += 1
        return before

    def _add(self, resource: Resource) -> None:
        self._by_path[resource.group, resource.version, resource.plural] = resource
        self._by_kind[resource.group, resource.version, resource.kind] = resource
