"""Answers that are worth keeping for the next time the same is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

Answer = TypeVar("Answer")

_SHORT = 320
"""A label's key is not longer."""


def remember_short(count: int) -> Callable[[Callable[[Any], Answer]], Callable[[Any], Answer]]:
    """Keep the `count` answers asked for last, but none about a long text: nobody can fill the memory with them."""

    def decorate(function: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
        known = lru_cache(maxsize=count, typed=True)(function)

        @wraps(function)
        def ask(value: Any) -> Answer:
            return function(value) if value.__class__ is str and len(value) > _SHORT else known(value)

        return ask

    return decorate
