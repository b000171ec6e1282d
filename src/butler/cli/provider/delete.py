"""butleradm provider delete."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from butler import advice

from .. import prompts
from ..lazy import REFUSED, Failure
from ..options import timeout_option
from ..output import say, success
from ..session import Session
from .account import provider_command, provider_name, speaking_of, where

if TYPE_CHECKING:
    from butler.api.provider import ProviderConfig
    from butler.api.shared import SecretRef


@provider_command()
@provider_name
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask.")
@click.option("--with-secret", is_flag=True, help="Delete the Secret with its credentials as well.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Stay until it is gone.")
@timeout_option("2m")
async def delete(
    session: Session, name: str, is_sure: bool, with_secret: bool, wait: bool, patience: timedelta
) -> None:
    """Delete a provider that nobody uses any more.

    Clusters, machines, load balancers and images on it have to go first. Nothing on the infrastructure is touched:
    `butleradm provider audit` finds what was left behind there.

    \b
    Example:
      butleradm provider delete lab
      butleradm provider delete lab --with-secret --yes
    """
    config = await _unused(session, name)
    secret = await _secret_of(session, config) if with_secret else None
    if not is_sure:
        await _ask(session, config, secret)
    with speaking_of(session, name):
        # Another one of the same name that somebody makes meanwhile is not the one that was meant.
        await session.client.delete(type(config), name, config.metadata.namespace, uid=config.metadata.uid)
    if wait:
        await _wait(session, config, patience)
    success(f"provider {config.key} is {'gone' if wait else 'being deleted'}")
    if secret is not None:
        await _delete_secret(session, secret)


async def _unused(session: Session, name: str) -> ProviderConfig:
    """The provider, if it may go. Raises Failure."""
    from butler.api.provider import ProviderConfig
    from butler.controllers import provider_users

    from .account import namespace_of

    with speaking_of(session, name):
        config: ProviderConfig = await session.client.get(ProviderConfig, name, namespace_of(session))
    if users := await provider_users.stored_users(session.client, config):
        raise Failure(
            f"provider {config.key} is used by {provider_users.named(users)}; "
            "it can go when they are gone or have another provider",
            REFUSED,
        )
    return config


async def _secret_of(session: Session, config: ProviderConfig) -> SecretRef | None:
    """Where its credentials are, if nobody else has theirs there. Raises Failure."""
    from butler.api.normalise import normalise
    from butler.api.provider import ProviderConfig

    ref = normalise(config).spec.credentials_ref
    if ref is None:
        return None
    for other in (await session.client.list(ProviderConfig)).items:
        if other.key != config.key and normalise(other).spec.credentials_ref == ref:
            raise Failure(f"Secret {ref.namespace}/{ref.name} has the credentials of provider {other.key} too", REFUSED)
    return ref


async def _ask(session: Session, config: ProviderConfig, secret: SecretRef | None) -> None:
    from butler.controllers import provider_users

    for whose in await provider_users.default_of(session.client, config):
        say(f"{whose} has it as its default provider.")
    more = f" and Secret {secret.namespace}/{secret.name}" if secret is not None else ""
    prompts.confirm(f"Delete provider {config.key} ({config.spec.infrastructure}){more}?")


async def _wait(session: Session, config: ProviderConfig, patience: timedelta) -> None:
    from .wait import wait_until_gone

    again = advice.get_provider(config.metadata.name, where(session))
    session.when_interrupted = f"the deletion goes on without you; `{again}` looks at it again"
    await wait_until_gone(session, config, patience)


async def _delete_secret(session: Session, ref: SecretRef) -> None:
    from butler.engines.core import Secret
    from kubekit.errors import NotFound

    key = f"{ref.namespace}/{ref.name}"
    try:
        await session.client.delete(Secret, ref.name, ref.namespace or "")
    except NotFound:
        say(f"Secret {key} was not there")
        return
    success(f"Secret {key} is gone")
