"""How a field is shown to act: the same world twice, with the field at two values, and something else differs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

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
