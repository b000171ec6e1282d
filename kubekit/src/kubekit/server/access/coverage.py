"""Whether rules grant all that others do, without going through every combination of verbs, groups and resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product

from .rules import ALL, Rule

MOST_PIECES = 1000
"""Of what is missing, so much is named."""
_MOST_COMBINATIONS = 20_000
_MOST_BITS = 1 << 29
"""A rule that differs from those it is compared with in more ways is taken for one that grants too much, and so is one
for which more would have to be remembered."""
_OFTEN = 1000
"""Rules from which on it is remembered which of them have a word."""

Names = tuple[str, ...]


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The smallest pieces of `wanted` that no single rule of `owned` grants, or the first of them."""
    holdings = _Holdings(owned)
    return list(islice((piece for rule in wanted for piece in holdings.missing(rule)), MOST_PIECES))


class _Holdings:
    """Rules, and for each word in them which of the rules have it: a bit for each."""

    def __init__(self, owned: Sequence[Rule]) -> None:
        self._most_kinds = max(1, _MOST_BITS // (len(owned) + 1))
        self._verbs = _Words(rule.verbs for rule in owned)
        self._groups = _Words(rule.groups for rule in owned)
        self._resources = _Words(rule.resources for rule in owned)
        self._names = _Words(rule.names for rule in owned)
        self._for_any_name = _bits(index for index, rule in enumerate(owned) if not rule.names)
        self._urls = _Urls(rule.urls for rule in owned)

    def missing(self, rule: Rule) -> Iterator[Rule]:
        asked = (
            (rule.groups, self._groups.holders),
            (rule.resources, self._of_resource),
            (rule.verbs, self._verbs.holders),
            (rule.names or ("",), self._of_name),
            (rule.urls, self._urls.holders),
        )
        kinds: list[dict[int, list[str]]] = []
        left = self._most_kinds
        for words, holders in asked:
            kinds.append(_alike(words, holders, left))
            left -= len(kinds[-1])
        groups, resources, verbs, names, urls = kinds
        combinations = len(groups) * len(resources) * len(verbs) * len(names) + len(urls) * len(verbs)
        if left < 0 or combinations > _MOST_COMBINATIONS:
            yield Rule(rule.verbs[:1], rule.groups[:1], rule.resources[:1], rule.names[:1], rule.urls[:1])
            return
        for found in product(groups, resources, verbs, names):
            if not found[0] & found[1] & found[2] & found[3]:
                pieces = product(groups[found[0]], resources[found[1]], verbs[found[2]], names[found[3]])
                yield from (Rule((v,), (g,), (r,), (n,) if n else ()) for g, r, v, n in pieces)
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


class _Words:
    """Which rules have a word, or all words."""

    def __init__(self, words: Iterable[Names]) -> None:
        self._places: dict[str, list[int]] = {}
        for index, listed in enumerate(words):
            for word in listed:
                self._places.setdefault(word, []).append(index)
        self._known: dict[str, int] = {}
        self._of_all = self.exactly(ALL)

    def exactly(self, word: str) -> int:
        places = self._places.get(word, ())
        if len(places) < _OFTEN:
            return _bits(places)
        if word not in self._known:
            self._known[word] = _bits(places)
        return self._known[word]

    def holders(self, word: str) -> int:
        return self._of_all | self.exactly(word)


class _Urls:
    """Which rules have an URL, or a beginning of it."""

    def __init__(self, urls: Iterable[Names]) -> None:
        listed = list(urls)
        self._exact = _Words(listed)
        self._beginnings = _Words([tuple(url.rstrip(ALL) for url in one if url.endswith(ALL)) for one in listed])
        self._lengths = sorted({len(url.rstrip(ALL)) for one in listed for url in one if url.endswith(ALL)})

    def holders(self, url: str) -> int:
        found = self._exact.exactly(url)
        for length in self._lengths:
            if length > len(url):
                break
            found |= self._beginnings.exactly(url[:length])
        return found


def _bits(places: Iterable[int]) -> int:
    found = bytearray()
    for place in places:
        byte = place >> 3
        if byte >= len(found):
            found.extend(bytes(byte + 1 - len(found)))
        found[byte] |= 1 << (place & 7)
    return int.from_bytes(found, "little")


def _alike(words: Names, holders: Callable[[str], int], most: int) -> dict[int, list[str]]:
    """The words, by who holds them; once they are of more than so many kinds, not all of them."""
    found: dict[int, list[str]] = {}
    for word in words:
        found.setdefault(holders(word), []).append(word)
        if len(found) > most:
            break
    return found
