"""What spaces begin with, kept once for all of them.

A space that stands on a base has its objects without a row of its own: each is made of a text with gaps whenever
somebody reads it, and has the revision at which the space began. When one is first changed or deleted, the version it
had is stored as well, so that history is complete, and from then on the base says nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import NamedTuple

from .rows import Row

Names = tuple[str, str]
"""The space and the resource of a bucket."""


class Piece(NamedTuple):
    """An object with gaps, and its number in the base."""

    number: int
    text: bytes


_NOTHING: Mapping[str, Piece] = {}


class Base:
    """Objects that many spaces begin with, by resource and key. The gaps are `%(uid)b`, `%(revision)b` and others."""

    def __init__(self, objects: Mapping[str, Mapping[str, bytes]]) -> None:
        numbers = iter(range(sum(map(len, objects.values()))))
        self.pieces = {
            resource: {key: Piece(next(numbers), texts[key]) for key in sorted(texts)}
            for resource, texts in sorted(objects.items())
        }


class Ground:
    """A base under one space, with what fills its gaps there."""

    __slots__ = ("_gaps", "_seed", "base", "revision")

    def __init__(self, base: Base, revision: int, seed: bytes, gaps: Mapping[bytes, bytes]) -> None:
        """`seed` is what the uids are made of; `gaps` is what is the same in all objects of the space."""
        self.base, self.revision, self._seed = base, revision, seed
        self._gaps = {**gaps, b"revision": b"%d" % revision}

    def row(self, key: str, piece: Piece) -> Row:
        self._gaps[b"uid"] = self._uid(piece.number)
        return Row(key, self.revision, piece.text % self._gaps)

    def _uid(self, number: int) -> bytes:
        """A UUID that looks like one of version 4, always the same for the same object."""
        text = blake2b(b"%d" % number, key=self._seed, digest_size=16).hexdigest()
        variant = "89ab"[int(text[16], 16) & 3]
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}".encode()


class Grounds:
    """What is under the spaces of a store, as far as nobody has changed it."""

    def __init__(self, replaced: Iterable[tuple[int, str, int]]) -> None:
        """`replaced` are the objects of bases (bucket, key) that are no longer what they began as, since when."""
        self._by_space: dict[str, Ground] = {}
        self._replaced: dict[int, dict[str, int]] = {}
        for bucket, key, revision in replaced:
            self.replace(bucket, key, revision)

    def lay(self, space: str, ground: Ground) -> None:
        self._by_space[space] = ground

    def remove(self, space: str, buckets: Iterable[int]) -> None:
        self._by_space.pop(space, None)
        for bucket in buckets:
            self._replaced.pop(bucket, None)

    def replace(self, bucket: int, key: str, revision: int) -> None:
        """From this revision on, an object of a base is what is stored, or gone."""
        self._replaced.setdefault(bucket, {}).setdefault(key, revision)

    def get(self, bucket: int, names: Names, key: str) -> Row | None:
        ground = self._by_space.get(names[0])
        piece = ground.base.pieces.get(names[1], _NOTHING).get(key) if ground is not None else None
        if ground is None or piece is None or key in self._replaced.get(bucket, ()):
            return None
        return ground.row(key, piece)

    def keys(self, bucket: int | None, names: Names, at: int = 0) -> list[str]:
        """In order, those that are as they began; with `at`, those that were at that revision."""
        ground = self._by_space.get(names[0])
        if ground is None or 0 < at < ground.revision:
            return []
        pieces = ground.base.pieces.get(names[1], _NOTHING)
        replaced = self._replaced.get(bucket) if bucket is not None else None
        if not replaced:
            return list(pieces)
        return [key for key in pieces if key not in replaced or 0 < at < replaced[key]]

    def rows(self, names: Names, keys: Iterable[str]) -> Iterator[Row]:
        ground = self._by_space[names[0]]
        pieces = ground.base.pieces[names[1]]
        return (ground.row(key, pieces[key]) for key in keys)

    def revision(self, space: str) -> int:
        """At which revision a space began; 0 for one without a base."""
        ground = self._by_space.get(space)
        return ground.revision if ground is not None else 0

    def resources(self, space: str) -> set[str]:
        ground = self._by_space.get(space)
        return set(ground.base.pieces) if ground is not None else set()

    def count(self) -> int:
        """How many objects exist only in bases."""
        begun = sum(len(pieces) for ground in self._by_space.values() for pieces in ground.base.pieces.values())
        return begun - sum(map(len, self._replaced.values()))
