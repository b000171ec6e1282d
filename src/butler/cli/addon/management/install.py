"""butleradm addon install."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import click
import msgspec

from butler import advice
from butler.api.addon import ManagementAddon
from kubekit.errors import AlreadyExists, Invalid

from ... import completion, object_draft
from ...lazy import REFUSED, Failure
from ...object_draft import Draft
from ...options import timeout_option, wait_option
from ...output import next_steps, output_option, say, success
from ...session import Session
from ..value_flags import Sources, inline_values_options
from .lookup import platform_command, speaking_of

_FLAGS = {"metadata.name": "", "spec.addon": "--addon", "spec.version": "--version", "spec.values": "--set"}


@platform_command
@click.argument("name", metavar="NAME", shell_complete=completion.definitions)
@click.option(
    "--addon", metavar="NAME", show_default="NAME", shell_complete=completion.definitions, help="Of the catalogue."
)
@click.option("--version", default="", show_default="the catalogue's", help="Version of the chart.")
@inline_values_options
@click.option("--paused", is_flag=True, help="Only write it down; nothing is done until that is taken back.")
@click.option("--dry-run", is_flag=True, help="Check everything, print what would be written, and write nothing.")
@output_option("text", "json", "yaml", "name")
@wait_option
@timeout_option("10m")
async def install(session: Session, name: str, addon: str | None, **given: Any) -> None:
    """Install an addon of the catalogue into the management cluster.

    \b
    Example:
      butleradm addon install sealed-secrets --wait
      butleradm addon install logs --addon loki --version 6.55.0 --values loki.yaml
    """
    from .. import addon_draft, checks
    from ..entries import definitions

    if given["paused"] and given["wait"]:
        raise click.UsageError("--paused keeps it from being done, so there is nothing to --wait for")
    what = f"addon {name} cannot be installed into the management cluster"
    definition = checks.definition_named(addon or name, await definitions(session), session.api)
    draft = _draft(name, addon or name, given)
    await addon_draft.check_settings(session, draft, definition)
    output, is_rehearsal = given["output"], given["dry_run"]
    made = await _send(session, draft, what, dry_run=is_rehearsal)
    if is_rehearsal:
        say("# this is what would be created; nothing was")
        addon_draft.show(draft, "yaml" if output == "text" else output, as_written=True)
        return
    tell = success if output == "text" else say
    tell(f"addon {name} of the management cluster {'written down, and paused' if given['paused'] else 'requested'}")
    if given["wait"]:
        made = await settled(session, made, given["patience"], tell)
    addon_draft.show(made, output)
    next_steps((advice.get_management_addon(name, session.api), "how it is"))


def _draft(name: str, addon: str, given: dict[str, Any]) -> Draft:
    values = Sources(given["files"], given["settings"]).over({})
    spec: dict[str, Any] = {"addon": addon}
    spec |= {"version": given["version"]} if given["version"] else {}
    spec |= {"values": values} if values else {}
    spec |= {"paused": True} if given["paused"] else {}
    draft = object_draft.empty(ManagementAddon.address)
    return {**draft, "metadata": {"name": name}, "spec": spec}


async def _send(session: Session, draft: Draft, what: str, *, dry_run: bool) -> Draft:
    """Raises Failure."""
    name = draft["metadata"]["name"]
    with speaking_of(session):
        try:
            made: Draft = await session.client.create(
                draft, ManagementAddon.address, manager="butlerctl", dry_run=dry_run
            )
        except AlreadyExists as error:
            look = advice.get_management_addon(name, session.api)
            raise Failure(f"{what}: there is one already; `{look}` shows it", REFUSED) from error
        except Invalid as error:
            raise invalid(what, error) from error
    return made


def invalid(what: str, error: Invalid) -> Failure:
    """What the API refused, by field."""
    return object_draft.invalid(what, error, lambda path: _FLAGS.get(path, ""))


async def settled(session: Session, made: Draft, patience: timedelta, tell: Callable[[str], None]) -> Draft:
    """Wait until an addon is there as it is written; answers it as it is then. Raises Failure."""
    from ..wait import wait_until_installed

    addon = msgspec.convert(made, ManagementAddon)
    subject, look = f"addon {addon.metadata.name}", advice.get_management_addon(addon.metadata.name, session.api)
    found = await wait_until_installed(session, addon, patience, subject, look)
    tell(f"{subject} is installed: {found.status.installed_version or 'version unknown'}")
    result: Draft = msgspec.to_builtins(found)
    return result
