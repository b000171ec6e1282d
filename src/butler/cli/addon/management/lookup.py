"""How a command about the management cluster's addons finds one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import click

from butler import advice
from butler.api.addon import ManagementAddon
from kubekit.errors import NotFound

from ... import completion
from ...command import command
from ...lazy import MISSING, Failure
from ...object_draft import Draft
from ...session import Session
from .. import lookup

F = TypeVar("F", bound=Callable[..., Any])

platform_command = partial(command, place=None)
"""A command about what is in no namespace."""


def addon_argument(function: F) -> F:
    return click.argument("name", metavar="NAME", shell_complete=completion.management_addons)(function)


@contextmanager
def speaking_of(session: Session, name: str = "") -> Iterator[None]:
    """Requests about ManagementAddons, or about the one of this name."""
    with lookup.speaking_of(session, "ManagementAddons"):
        try:
            yield
        except NotFound as error:
            if not name or error.details is None or error.details.name != name:
                raise
            shows = advice.list_management_addons(session.api)
            message = f'the management cluster has no addon "{name}"; `{shows}` shows all'
            raise Failure(message, MISSING) from error


async def found(session: Session, name: str) -> Draft:
    """Raises Failure."""
    with speaking_of(session, name):
        raw: Draft = await session.client.get(ManagementAddon.address, name)
    return raw
