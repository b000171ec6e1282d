"""Questions to people, who may answer with Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


def prompt(question: str, **settings: Any) -> str:
    """What somebody types."""
    with _interruptible():
        answer: str = click.prompt(question, err=True, **settings)
    return answer


def secret(question: str) -> str:
    """What somebody types unseen."""
    return prompt(question, hide_input=True)


def confirm(question: str) -> None:
    """Raises Abort unless the answer is yes."""
    with _interruptible():
        click.confirm(question, abort=True, err=True)


def is_somebody_there() -> bool:
    return sys.stdin.isatty()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a question; an event loop would wait for its answer first."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
