"""A limit for work that is begun often and nearly always ends soon."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class TimeLimit:
    """`asyncio.timeout` for one piece of work after the other: `with limit:` around each, never two at a time.

    A timer of its own for every piece, cancelled at once, costs more than many of the pieces. Here there is one; when
    it rings too early, because other work has begun since, it is set again."""

    __slots__ = ("_began_with", "_ends", "_expired", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None
        """Who works; nobody between two pieces."""
        self._ends = 0.0
        self._expired = False
        self._began_with = 0
        """How many had asked to cancel the task before the work began."""

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        task = self._task = asyncio.current_task(loop)
        assert task is not None, "only a task can be cancelled"
        self._began_with, self._expired = task.cancelling(), False
        self._ends = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_at(self._ends, self._ring)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises TimeoutError where the work was cancelled because it took too long."""
        task, self._task = self._task, None
        if not self._expired:
            return
        assert task is not None
        # Whoever else cancelled the task meanwhile wants it cancelled still.
        if task.uncancel() <= self._began_with and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def close(self) -> None:
        """No more work comes."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        if self._task is None:
            return
        loop = self._task.get_loop()
        if loop.time() < self._ends:
            self._timer = loop.call_at(self._ends, self._ring)
        else:
            self._expired = True
            self._task.cancel()
