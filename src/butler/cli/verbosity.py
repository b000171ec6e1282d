"""What -v shows: requests, retries and decisions, on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .session import VERBOSE

F = TypeVar("F", bound=Callable[..., Any])

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
    if not value or context.meta.get(VERBOSE):
        return
    import logging

    context.meta[VERBOSE] = True
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname).3s [%(name)s] %(message)s", datefmt="%H:%M:%S"
    )
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.DEBUG)
