"""What was stored or read lately, kept at hand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable


class RecentValues:
    """Stored values that were written or read lately, as many as fit."""

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._values: OrderedDict[int, bytes] = OrderedDict()

    def get(self, revision: int) -> bytes | None:
        return self._values.get(revision)

    def add(self, revision: int, value: bytes) -> None:
        self._values[revision] = value
        self._size += len(value)
        while self._size > self._limit:
            _, oldest = self._values.popitem(last=False)
            self._size -= len(oldest)

    def drop(self, revision: int) -> None:
        value = self._values.pop(revision, None)
        if value is not None:
            self._size -= len(value)

    def drop_all(self, revisions: Iterable[int]) -> None:
        for revision in revisions:
            self.drop(revision)
