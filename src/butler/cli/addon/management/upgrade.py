"""butleradm addon upgrade."""

from __future__ import annotations

from typing import Any

import click

from butler.api.addon import ManagementAddon
from kubekit.errors import Conflict, Invalid

from ...lazy import REFUSED, Failure
from ...object_draft import Draft
from ...options import timeout_option, wait_option
from ...output import output_option, say, success
from ...session import Session
from ..value_flags import Sources, inline_values_options
from .install import invalid, settled
from .lookup import addon_argument, found, platform_command


@platform_command
@addon_argument
@click.option("--version", default="", show_default="as it is", help="Version of the chart.")
@inline_values_options
@click.option("--reset-values", is_flag=True, help="Forget the values it has.")
@click.option("--paused/--no-paused", default=None, help="Leave it as it is from now on, or follow it again.")
@output_option("text", "json", "yaml", "name")
@wait_option
@timeout_option("10m")
async def upgrade(session: Session, name: str, **given: Any) -> None:
    """Change the version or the values of an addon of the management cluster, or pause it.

    Values that are given lie over those it has; --reset-values starts anew.

    \b
    Example:
      butleradm addon upgrade sealed-secrets --version 2.18.6 --wait
      butleradm addon upgrade sealed-secrets --paused
    """
    from .. import addon_draft

    if not any(given[key] for key in ("version", "files", "settings", "reset_values")) and given["paused"] is None:
        raise click.UsageError("say what is to change: --version, --values, --set, --reset-values or --paused")
    made, is_new = await _change(session, name, given)
    tell = success if given["output"] == "text" else say
    tell(f"addon {name} is to change" if is_new else f"addon {name}: nothing to change")
    if given["wait"]:
        made = await settled(session, made, given["patience"], tell)
    addon_draft.show(made, given["output"])


async def _change(session: Session, name: str, given: dict[str, Any]) -> tuple[Draft, bool]:
    """Write what was asked for, after checking it; answers whether that is something new. Raises Failure."""
    from .. import addon_draft
    from ..lookup import definition_of

    before, what = await found(session, name), f"addon {name} cannot be changed"
    if before["metadata"].get("deletionTimestamp"):
        raise Failure(f"{what}: it is being removed", REFUSED)
    draft = _changed(before, given)
    if given["wait"] and draft["spec"].get("paused"):
        raise Failure(f"addon {name} is paused, so there is nothing to --wait for; --no-paused goes on", REFUSED)
    definition = await definition_of(session, draft["spec"]["addon"])
    if definition is None:
        raise Failure(f'{what}: the catalogue has no "{draft["spec"]["addon"]}" any more', REFUSED)
    await addon_draft.check_settings(session, draft, definition)
    if draft["spec"] == before["spec"]:
        return before, False
    try:
        return await addon_draft.replace_spec(session, ManagementAddon.address, draft), True
    except Conflict as error:
        raise Failure(f"{what}: somebody else changed it at the same time; try again", REFUSED) from error
    except Invalid as error:
        raise invalid(what, error) from error


def _changed(before: Draft, given: dict[str, Any]) -> Draft:
    spec = dict(before["spec"])
    kept = {} if given["reset_values"] else spec.get("values") or {}
    spec["values"] = Sources(given["files"], given["settings"]).over(kept)
    spec |= {"version": given["version"]} if given["version"] else {}
    spec |= {"paused": given["paused"]} if given["paused"] is not None else {}
    return {**before, "spec": {key: value for key, value in spec.items() if value or key != "values"}}
