"""How a command about providers finds a ProviderConfig, and the account behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from butler import advice
from butler.api.shared import SYSTEM_NAMESPACE
from kubekit.errors import NotFound, ServiceUnavailable

from .. import completion
from ..command import PROVIDERS, NamespaceChoice, command
from ..lazy import MISSING, UNREACHABLE, Failure
from ..session import Session, running_platform
from ..usage import Command

if TYPE_CHECKING:
    from butler.api.provider import ProviderConfig
    from butler.providers.contract import Provider

F = TypeVar("F", bound=Callable[..., Any])

_TALKATIVE = ("azure", "botocore", "google", "msal")


def provider_command(
    place: NamespaceChoice = PROVIDERS, cls: type[click.Command] = Command
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command about providers."""
    return partial(command, place=place, cls=cls)


def provider_name(function: F) -> F:
    """The argument NAME."""
    return click.argument("name", metavar="NAME", shell_complete=completion.providers)(function)


def namespace_of(session: Session) -> str:
    return session.wishes.namespace or SYSTEM_NAMESPACE


def where(session: Session) -> str:
    """What a further command about the same provider has to say to find it."""
    namespace = namespace_of(session)
    return session.api + (f" -n {namespace}" if namespace != SYSTEM_NAMESPACE else "")


@contextmanager
def speaking_of(session: Session, name: str = "") -> Iterator[None]:
    """Requests about ProviderConfigs, or about the one of this name: what is missing is named, and how to find it."""
    try:
        yield
    except ServiceUnavailable as error:
        raise Failure(f"{error}{session.remedy()}", UNREACHABLE) from error
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise Failure(session.not_a_platform("ProviderConfigs"), UNREACHABLE) from error
        if not name or error.details.name != name:
            raise
        where = f"in namespace {namespace_of(session)}"
        shows = advice.list_providers(session.api)
        raise Failure(f'there is no provider "{name}" {where}; `{shows}` shows all', MISSING) from error


@asynccontextmanager
async def connected(session: Session, name: str) -> AsyncIterator[tuple[ProviderConfig, Provider]]:
    """A ProviderConfig, normalised, and its account. Raises Failure, CredentialsInvalid, InvalidConfiguration."""
    from butler.api.normalise import normalise
    from butler.api.provider import ProviderConfig
    from butler.controllers.accounts import connect_alone

    with speaking_of(session, name):
        config: ProviderConfig = await session.client.get(ProviderConfig, name, namespace_of(session))
    with surroundings(session) as around:
        provider = await connect_alone(session.client, config, around)
        try:
            yield normalise(config), provider
        finally:
            await provider.close()


@contextmanager
def surroundings(session: Session) -> Iterator[Any]:
    """With the simulated data centre of the platform on this computer, if there is one."""
    _keep_quiet()
    from butler.providers.contract import Surroundings

    platform = running_platform(session.environ)
    records = platform.data / "datacentre.db" if platform is not None else None
    if records is None or not records.exists():
        yield Surroundings(clock=session.clock)
        return
    from butler.providers.simulated.datacentre import DataCentre

    datacentre = DataCentre(records, clock=session.clock)
    try:
        yield Surroundings(clock=session.clock, simulation=datacentre)
    finally:
        datacentre.close()


def _keep_quiet() -> None:
    """Let SDKs not talk about errors that are told anyway, unless somebody wants to hear everything."""
    import logging

    for name in _TALKATIVE:
        logging.getLogger(name).addHandler(logging.NullHandler())
