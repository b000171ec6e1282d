"""How much a simulated data centre is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Traffic:
    """Calls of all accounts since somebody began to count."""

    calls: int = 0
    most: int = 0
    """So many at the same time."""
    _open: int = 0

    @contextmanager
    def call(self) -> Iterator[None]:
        """One call, from its beginning to its answer or its failure."""
        self.calls += 1
        self._open += 1
        self.most = max(self.most, self._open)
        try:
            yield
        finally:
            self._open -= 1

    def count_anew(self) -> None:
        self.calls, self.most = 0, self._open
