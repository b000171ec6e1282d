"""How a field is shown to act: the same world twice, with the field at two values, and something else differs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

from kubekit.testing import deterministic_loop
from kubekit.testing.deterministic_loop import Loop

Observe = Callable[[Any], Awaitable[object]]
"""Runs a world of its own with the field at this value, and answers with what could be seen besides the field itself:
requests sent, objects written, a status, an error's text. Whatever differs from run to run by itself is left out."""


class Proof(NamedTuple):
    """A field acts if what `observe` sees differs between `one` and `other`."""

    observe: Observe
    one: Any
    other: Any


class Refusal(NamedTuple):
    """A field is refused if `observe`, given `value`, sees a text that contains `message`."""

    observe: Observe
    value: Any
    message: str


async def in_virtual_time(main: Callable[[Loop], Coroutine[Any, Any, object]]) -> object:
    """What happens in a world that has a loop and a clock of its own, where an hour passes in no time."""
    return await asyncio.to_thread(deterministic_loop.run, main, 1)
