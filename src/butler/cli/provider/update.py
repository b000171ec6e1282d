"""butleradm provider update."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from butler import advice

from ..lazy import Failure
from ..options import timeout_option, wait_option
from ..output import document, next_steps, output_option, say, success
from ..session import Session
from .account import namespace_of, provider_command, provider_name, speaking_of, where
from .credentials import credentials_options
from .provider_draft import config_options
from .section_flags import StoredSectionCommand


@provider_command(cls=StoredSectionCommand)
@provider_name
@credentials_options
@config_options
@click.option(
    "--check/--no-check", default=True, show_default=True, help="Try the account from here before anything is written."
)
@click.option("--dry-run", is_flag=True, help="Check everything, show what would change, and change nothing.")
@output_option("text", "json", "yaml", "name")
@wait_option
@timeout_option("2m")
async def update(
    session: Session, name: str, wait: bool, patience: timedelta, output: str, dry_run: bool, **given: Any
) -> None:
    """Change a provider: its endpoint, its credentials, or whatever else it says.

    The flags are those of `butleradm provider create` for the same infrastructure; `butleradm provider update NAME
    --help` shows them. What no flag names stays as it is, also in the Secret. --set FIELD=null takes a field away.
    Everything is checked before anything is written, and what changes is shown.

    \b
    Example:
      butleradm provider update lab --endpoint https://prism.example.com:9440
      butleradm provider update lab --credentials-file password=new-password --wait
      butleradm provider update lab --max-clusters-per-team 5 --dry-run
    """
    from butler.api.provider import ProviderConfig

    from . import creation, revision

    what = f"provider {namespace_of(session)}/{name} cannot be changed"
    with speaking_of(session, name):
        stored = await session.client.get(ProviderConfig.address, name, namespace_of(session))
    found = await revision.planned(session, stored, given, what)
    for line in found.told():
        say(line)
    if found.is_empty:
        success(f"provider {found.key}: nothing to change")
        return
    await revision.ask_platform(session, found, what)
    if given["check"]:
        await creation.try_account(session, found.config, found.secret, what)
    tell = success if output == "text" else say
    changed = found.draft
    if dry_run:
        tell(f"provider {found.key} would be changed; nothing was")
    else:
        changed = await revision.write(session, found, what)
        tell(f"provider {found.key} changed")
    if output == "name":
        click.echo(name)
    elif output != "text":
        changed["metadata"].pop("managedFields", None)
        click.echo(document(changed, output))
    if not dry_run:
        await _finish(session, name, wait, patience)


async def _finish(session: Session, name: str, wait: bool, patience: timedelta) -> None:
    from butler.api.provider import ProviderConfig

    from .wait import wait_until_ready

    look = advice.get_provider(name, where(session))
    if not wait:
        next_steps((look, "how it is"))
        return
    session.when_interrupted = f"it goes on without you; `{look}` looks at it again"
    config: ProviderConfig = await session.client.get(ProviderConfig, name, namespace_of(session))
    try:
        await wait_until_ready(session, config, patience)
    except Failure as failure:
        raise Failure(f"{failure}; `{look}` shows what it was told", failure.code) from None
    say(f"provider {config.key} is ready")
