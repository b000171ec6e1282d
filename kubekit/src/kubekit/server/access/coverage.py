"""Whether rules grant all that others do, without going through every combination of verbs, groups and resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product

from .rules import ALL, Rule, url_covers

MOST_PIECES = 1000
"""Of what is missing, so much is named."""
_MOST_COMBINATIONS = 20_000
"""A rule that differs from those it is compared with in more ways is taken for one that grants too much."""

Names = tuple[str, ...]


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The smallest pieces of `wanted` that no single rule of `owned` grants, or the first of them."""
    holdings = _Holdings(owned)
    return list(islice((piece for rule in wanted for piece in holdings.missing(rule)), MOST_PIECES))


class _Holdings:
    """Rules, and for each word in them which of the rules have it: a bit for each."""

    def __init__(self, owned: Sequence[Rule]) -> None:
        self._owned = owned
        self._everyone = (1 << len(owned)) - 1
        self._verbs = _Words(owned, lambda rule: rule.verbs)
        self._groups = _Words(owned, lambda rule: rule.groups)
        self._resources = _Words(owned, lambda rule: rule.resources)
        self._names = _Words(owned, lambda rule: rule.names)
        self._for_any_name = _bits(index for index, rule in enumerate(owned) if not rule.names)

    def missing(self, rule: Rule) -> Iterator[Rule]:
        verbs = _alike(rule.verbs, self._verbs.holders)
        groups = _alike(rule.groups, self._groups.holders)
        resources = _alike(rule.resources, self._of_resource)
        names = _alike(rule.names or ("",), self._of_name)
        if len(verbs) * len(groups) * len(resources) * len(names) > _MOST_COMBINATIONS:
            yield Rule(rule.verbs[:1], rule.groups[:1], rule.resources[:1], rule.names[:1])
            return
        for holders in product(groups, resources, verbs, names):
            if not holders[0] & holders[1] & holders[2] & holders[3]:
                found = product(groups[holders[0]], resources[holders[1]], verbs[holders[2]], names[holders[3]])
                yield from (Rule((v,), (g,), (r,), (n,) if n else ()) for g, r, v, n in found)
        urls = _alike(rule.urls, self._of_url)
        for url, verb in product(urls, verbs):
            if not url & verb:
                yield from (Rule((v,), urls=(u,)) for u, v in product(urls[url], verbs[verb]))

    def _of_resource(self, resource: str) -> int:
        _, slash, subresource = resource.partition("/")
        found = self._resources.holders(resource)
        return found | self._resources.exactly(f"*/{subresource}") if slash else found

    def _of_name(self, name: str) -> int:
        """Who may use that name; the empty one stands for any."""
        return self._for_any_name | self._names.exactly(name)

    def _of_url(self, url: str) -> int:
        return _bits(
            index for index, rule in enumerate(self._owned) if any(url_covers(pattern, url) for pattern in rule.urls)
        )


class _Words:
    """Which rules have a word, or all words."""

    def __init__(self, owned: Sequence[Rule], words: Callable[[Rule], Names]) -> None:
        holders: dict[str, list[int]] = {}
        for index, rule in enumerate(owned):
            for word in words(rule):
                holders.setdefault(word, []).append(index)
        self._holders = {word: _bits(places) for word, places in holders.items()}
        self._of_all = self.exactly(ALL)

    def exactly(self, word: str) -> int:
        return self._holders.get(word, 0)

    def holders(self, word: str) -> int:
        return self._of_all | self.exactly(word)


def _bits(places: Iterable[int]) -> int:
    found = bytearray()
    for place in places:
        byte = place >> 3
        if byte >= len(found):
            found.extend(bytes(byte + 1 - len(found)))
        found[byte] |= 1 << (place & 7)
    return int.from_bytes(found, "little")


def _alike(words: Names, holders: Callable[[str], int]) -> dict[int, list[str]]:
    """The words, by who holds them."""
    found: dict[int, list[str]] = {}
    for word in words:
        found.setdefault(holders(word), []).append(word)
    return found
