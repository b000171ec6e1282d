"""What -v shows: requests, retries and decisions, on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_VERBOSE = "butler.cli.verbose"
_OURS = ("butler", "kubekit")
"""Whose talk is shown: that of others may hold credentials."""


def verbose_option(function: F) -> F:
    """`-v`, which acts by being there."""
    option = click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=_heard,
        help="Say on stderr what happens underneath.",
    )
    return option(function)


def _heard(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or context.meta.get(_VERBOSE):
        return
    import logging

    context.meta[_VERBOSE] = True
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname).3s [%(name)s] %(message)s", datefmt="%H:%M:%S"
    )
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.DEBUG)


def teller() -> Callable[[str], None] | None:
    """Where to tell what is done, if anybody wants to know."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get(_VERBOSE):
        return None
    import logging

    return logging.getLogger("butler.cli").debug


def tell(text: str) -> None:
    """Say what was decided, to whoever asked for it."""
    if listener := teller():
        listener(text)
