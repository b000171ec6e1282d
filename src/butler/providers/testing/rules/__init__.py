"""The rules, by theme; each test cites the number of its rule in docs/reference/provider-contract.md."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

F = TypeVar("F", bound=Callable[..., Any])


def rule(number: int) -> Callable[[F], F]:
    """Say which rule a test is about."""

    def cite(function: F) -> F:
        function.rule = number  # type: ignore[attr-defined]
        if inspect.iscoroutinefunction(function):
            marked: F = pytest.mark.asyncio(function)
            return marked
        return function

    return cite


def numbers(kit: type) -> dict[int, list[str]]:
    """The tests of a kit by the rule they are about."""
    found: dict[int, list[str]] = {}
    for name, function in inspect.getmembers(kit, inspect.isfunction):
        if name.startswith("test_"):
            found.setdefault(function.rule, []).append(name)  # type: ignore[attr-defined]
    return found
