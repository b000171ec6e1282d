"""Numbers for the places objects are kept in: one per resource of a space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Bucket = tuple[int, str, str]
"""Number, space and resource."""


class Buckets:
    """Which number stands for which resource of which space. Numbers are never used twice."""

    def __init__(self, stored: Iterable[Bucket], highest: int) -> None:
        """`highest` is a number that was in use before spaces were removed."""
        self.names: dict[int, tuple[str, str]] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        self._new: dict[int, Bucket] = {}
        """Those that are not stored, because nothing in them is."""
        self._unconfirmed: list[Bucket] = []
        for bucket in stored:
            self._add(*bucket)
        self.highest = max(highest, *self.names, 0)

    def number(self, space: str, resource: str) -> int:
        """The number of a bucket, given when it is first asked for."""
        number = self._numbers.get(space, {}).get(resource)
        if number is None:
            self.highest = number = self.highest + 1
            self._add(number, space, resource)
            self._new[number] = (number, space, resource)
        return number

    def find(self, space: str, resource: str) -> int | None:
        """The number of a bucket that was asked for before."""
        return self._numbers.get(space, {}).get(resource)

    def spaces(self) -> set[str]:
        return set(self._numbers)

    def of(self, space: str) -> list[int]:
        return list(self._numbers.get(space, {}).values())

    def remove(self, space: str) -> list[int]:
        """Forget a space; answers the numbers it had."""
        gone = list(self._numbers.pop(space, {}).values())
        for number in gone:
            del self.names[number]
        self._new = {number: bucket for number, bucket in self._new.items() if bucket[1] != space}
        self._unconfirmed = [bucket for bucket in self._unconfirmed if bucket[1] != space]
        return gone

    @property
    def has_new(self) -> bool:
        return bool(self._new)

    def take_new(self, number: int) -> Sequence[Bucket]:
        """The bucket of that number, if it is still to be stored."""
        taken = self._new.pop(number, None)
        if taken is None:
            return ()
        self._unconfirmed.append(taken)
        return (taken,)

    def confirm(self, stored: Sequence[Bucket]) -> None:
        """These are stored."""
        self._unconfirmed = [bucket for bucket in self._unconfirmed if bucket not in stored]

    def take_back(self) -> None:
        """What was taken and not confirmed has not been stored."""
        self._new |= {bucket[0]: bucket for bucket in self._unconfirmed}
        self._unconfirmed = []

    def _add(self, number: int, space: str, resource: str) -> None:
        self.names[number] = (space, resource)
        self._numbers.setdefault(space, {})[resource] = number
