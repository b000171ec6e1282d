"""butleradm addon uninstall."""

from __future__ import annotations

from datetime import timedelta

import click
import msgspec

from butler import advice
from butler.api.addon import ManagementAddon

from ... import prompts
from ...options import timeout_option
from ...output import success
from ...session import Session
from .lookup import addon_argument, found, platform_command, speaking_of


@platform_command
@addon_argument
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Stay until it is gone.")
@timeout_option("10m")
async def uninstall(session: Session, name: str, is_sure: bool, wait: bool, patience: timedelta) -> None:
    """Take an addon out of the management cluster, with everything that its chart made there.

    \b
    Example:
      butleradm addon uninstall sealed-secrets
      butleradm addon uninstall sealed-secrets --yes --no-wait
    """
    addon = msgspec.convert(await found(session, name), ManagementAddon)
    if not is_sure:
        prompts.confirm(f"Remove addon {name} from the management cluster, and everything that it made there?")
    with speaking_of(session, name):
        # Another one of the same name that somebody makes meanwhile is not the one that was meant.
        await session.client.delete(ManagementAddon, name, uid=addon.metadata.uid)
    if wait:
        from ..wait import wait_until_gone

        look = advice.get_management_addon(name, session.api)
        await wait_until_gone(session, addon, patience, f"addon {name}", look)
    success(f"addon {name} of the management cluster is {'gone' if wait else 'being removed'}")
