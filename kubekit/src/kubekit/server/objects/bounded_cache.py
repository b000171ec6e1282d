"""Answers that are worth keeping for the next time the same is asked, as long as they are small.

What clients write is part of the questions, and nobody may be able to fill the memory with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

_SHORT = 320
"""A label's key is not longer."""
_LARGEST = 16_000
_MOST = 2_000_000
_OVERHEAD = 60
"""About the bytes that each part of a question takes, whatever is in it."""


def remember_short(count: int) -> Callable[[Callable[[Any], Answer]], Callable[[Any], Answer]]:
    """Keep the `count` answers asked for last, but none about a long text."""

    def decorate(function: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
        known = lru_cache(maxsize=count, typed=True)(function)

        @wraps(function)
        def ask(value: Any) -> Answer:
            return function(value) if value.__class__ is str and len(value) > _SHORT else known(value)

        return ask

    return decorate


class Remembered(dict[Question, Answer]):
    """The answers to questions made of texts and tuples, each found when it is first asked for by `remembered[...]`.

    Those to large questions are found again each time, and when there are too many, all are forgotten."""

    def __init__(self, find: Callable[[Question], Answer]) -> None:
        super().__init__()
        self._find, self._size = find, 0

    def __missing__(self, question: Question) -> Answer:
        answer, size = self._find(question), _size(question)
        if size <= _LARGEST:
            if self._size + size > _MOST:
                self.clear()
                self._size = 0
            self._size += size
            self[question] = answer
        return answer


def _size(question: Any) -> int:
    if question.__class__ is tuple:
        return _OVERHEAD + sum(map(_size, question))
    return _OVERHEAD + (len(question) if question.__class__ is str else 0)
