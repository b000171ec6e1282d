"""Questions to people, who may answer with Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from .lazy import USAGE, Failure


def prompt(question: str, **settings: Any) -> str:
    """What somebody types."""
    with _interruptible():
        answer: str = click.prompt(question, err=True, **settings)
    return answer


def secret(question: str) -> str:
    """What somebody types unseen."""
    return prompt(question, hide_input=True)


def typed(question: str) -> str:
    """What somebody types who has to mean it; `--yes` would spare the question. Raises Failure when nobody is there."""
    with _answered():
        return prompt(question, default="", show_default=False).strip()


def confirm(question: str) -> None:
    """Raises Failure unless the answer is yes, which `--yes` would spare."""
    with _answered(), _interruptible():
        is_yes = click.confirm(question, err=True)
    if not is_yes:
        raise Failure("nothing was done")


def is_somebody_there() -> bool:
    return sys.stdin.isatty()


@contextmanager
def _answered() -> Iterator[None]:
    """A question that programs cannot answer, and need not."""
    try:
        yield
    except click.Abort as abort:
        if is_somebody_there() or not isinstance(abort.__context__, EOFError):
            raise
        click.echo(err=True)
        raise Failure(
            "nobody is there to answer, and nothing was done; --yes does it without a question", USAGE
        ) from None


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a question; an event loop would wait for its answer first."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
