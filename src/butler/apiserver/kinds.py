"""Which resources an API offers: the built-in ones, and those that CustomResourceDefinitions add and take away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .resources import Resource


class Kinds:
    """The resources of one API, found by URL or by kind."""

    def __init__(self, built_in: Iterable[Resource]) -> None:
        self._by_path: dict[tuple[str, str, str], Resource] = {}
        self._by_kind: dict[tuple[str, str, str], Resource] = {}
        self._custom: dict[str, list[Resource]] = {}
        self.version = 0
        """Grows with every change, so that documents derived from the kinds know when they are stale."""
        for resource in built_in:
            self._add(resource)
        self._built_in_groups = frozenset(resource.group for resource in self)

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        return self._by_path.get((group, version, plural))

    def of(self, group: str, version: str, kind: str) -> Resource | None:
        return self._by_kind.get((group, version, kind))

    def of_api_version(self, api_version: str, kind: str) -> Resource | None:
        group, _, version = api_version.rpartition("/")
        return self.of(group, version, kind)

    def stored_as(self, storage_key: str) -> Resource | None:
        """The version of a resource that its objects are stored in."""
        found = None
        for resource in self._by_path.values():
            if resource.storage_key == storage_key and resource.translation is None:
                found = resource
                if not resource.storage_version or resource.storage_version == resource.version:
                    return resource
        return found

    def has_group(self, group: str) -> bool:
        return any(one == group for one, _, _ in self._by_path)

    def is_built_in_group(self, group: str) -> bool:
        return group in self._built_in_groups

    def has_version(self, group: str, version: str) -> bool:
        return any((one, other) == (group, version) for one, other, _ in self._by_path)

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._by_path.values())

    def replace_custom(self, definition: str, resources: list[Resource]) -> list[Resource]:
        """Offer what a CustomResourceDefinition defines now; answers what it offered until now."""
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
