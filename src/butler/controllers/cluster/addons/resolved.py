"""What the wishes of a cluster come to, by the catalogue as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from butler.addons.builtin.platform import NETWORK
from butler.addons.errors import AddonConflict, AddonNotFound, AddonRefused
from butler.addons.facts import Facts
from butler.addons.model import Addon
from butler.addons.resolution import Wish, resolve
from butler.api.addon import AddonDefinition

Find = Callable[[str], AddonDefinition | None]
"""The definition of that name."""


@dataclass(frozen=True, slots=True)
class Declined:
    """A wish that cannot be fulfilled as it is."""

    wish: Wish
    error: AddonRefused
    for_nodes: bool

    @property
    def name(self) -> str:
        return self.wish.name


@dataclass(frozen=True, slots=True)
class Resolved:
    """Every wish is in one of them."""

    addons: tuple[Addon, ...]
    """In the order of the wishes."""
    declined: tuple[Declined, ...]


class Resolver:
    """Resolves wishes, and remembers the last answer for each cluster: most visits change nothing of it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, Resolved]] = {}

    def resolved(
        self, key: str, wishes: Iterable[Wish], find: Find, facts: Facts, there: Mapping[str, str]
    ) -> Resolved:
        """`there` is which versions the cluster has: one that nobody chose stays, whatever becomes of the catalogue."""
        asked = [one if one.version else replace(one, version=there.get(one.name, "")) for one in wishes]
        found = {one.name: find(one.name) for one in asked}
        question = asked, facts, found
        known = self._known.get(key)
        if known is None or known[0] != question:
            known = self._known[key] = question, _resolved(asked, found, facts)
        return known[1]

    def forget(self, key: str) -> None:
        self._known.pop(key, None)


def _resolved(asked: Iterable[Wish], found: Mapping[str, AddonDefinition | None], facts: Facts) -> Resolved:
    addons: list[Addon] = []
    declined: list[Declined] = []
    for wish in asked:
        definition = found[wish.name]
        try:
            addon = _addon(wish, definition, facts, [one.name for one in addons])
        except AddonRefused as error:
            for_nodes = wish.name == NETWORK or (definition is not None and definition.spec.for_nodes)
            declined.append(Declined(wish, error, for_nodes))
        else:
            # What belongs to every cluster is chosen elsewhere: only the order among what was chosen counts here.
            addons.append(replace(addon, depends_on=tuple(one for one in addon.depends_on if one in found)))
    return Resolved(tuple(addons), tuple(declined))


def _addon(wish: Wish, definition: AddonDefinition | None, facts: Facts, beside: list[str]) -> Addon:
    """Raises AddonRefused."""
    if definition is None:
        raise AddonNotFound(wish.name, "there is no AddonDefinition of that name")
    if others := [one for one in beside if one in definition.spec.conflicts]:
        raise AddonConflict(wish.name, f"cannot be in one cluster with {', '.join(others)}")
    return resolve(wish, definition, facts)
