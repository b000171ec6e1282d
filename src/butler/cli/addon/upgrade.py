"""butlerctl addon upgrade."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from butler.api.addon import TenantAddon
from kubekit.errors import Conflict, Invalid

from ..command import command
from ..lazy import REFUSED, Failure
from ..object_draft import Draft
from ..options import timeout_option, wait_option
from ..output import output_option, say, success
from ..session import Session
from .lookup import addon_argument, cluster_argument, definition_of, installed, name_of, warn_of_owner
from .value_flags import Sources, values_options

F = TypeVar("F", bound=Callable[..., Any])

_ATTEMPTS = 5


def change_options(function: F) -> F:
    """What may be changed about an addon; the command takes it as `**given`."""
    reset = click.option("--reset-values", is_flag=True, help="Forget the values it has, also those from Secrets.")
    version = click.option("--version", default="", show_default="as it is", help="Version of the chart.")
    return version(values_options(reset(function)))


@command
@cluster_argument
@addon_argument
@change_options
@output_option("text", "json", "yaml", "name")
@wait_option
@timeout_option("10m")
async def upgrade(session: Session, cluster: str, name: str, **given: Any) -> None:
    """Change the version or the values of an addon.

    Values that are given lie over those it has; --reset-values starts anew. Secrets that are given take the place of
    those it has. `butlerctl addon diff` shows beforehand what would come of it.

    \b
    Example:
      butlerctl addon upgrade shop sealed-secrets --version 2.18.6 --wait
      butlerctl addon upgrade shop loki --set replicas=3
      butlerctl addon upgrade shop loki --reset-values --values loki.yaml
    """
    from . import addon_draft
    from .install import settled

    check_given(given)
    made, is_new = await _change(session, cluster, name, given)
    tell = success if given["output"] == "text" else say
    warn_of_owner(made)
    subject = f"addon {name_of(made)} of cluster {session.namespace}/{cluster}"
    tell(f"{subject} is to change" if is_new else f"{subject}: nothing to change")
    if given["wait"]:
        made = await settled(session, made, given["patience"], tell)
    addon_draft.show(made, given["output"])


def check_given(given: dict[str, Any]) -> None:
    """Raises UsageError."""
    if not is_change(given):
        flags = "--version, --values, --set, --values-secret or --reset-values"
        raise click.UsageError(f"say what is to change: {flags}")


def is_change(given: dict[str, Any]) -> bool:
    return any(given[name] for name in ("version", "files", "settings", "secrets", "reset_values"))


def changed(found: Draft, given: dict[str, Any]) -> Draft:
    """An addon with what was asked for. Raises Failure, UsageError."""
    sources = Sources(given["files"], given["settings"], given["secrets"])
    spec = dict(found["spec"])
    kept = {} if given["reset_values"] else spec.get("values") or {}
    refs = sources.refs() or ([] if given["reset_values"] else spec.get("valuesFrom") or [])
    spec |= {"values": sources.over(kept), "valuesFrom": refs, "version": given["version"] or spec.get("version", "")}
    return {**found, "spec": {key: value for key, value in spec.items() if value or key not in _MAY_BE_EMPTY}}


_MAY_BE_EMPTY = ("values", "valuesFrom", "version")


async def _change(session: Session, cluster: str, name: str, given: dict[str, Any]) -> tuple[Draft, bool]:
    """Write what was asked for, after checking it; answers whether that is something new. Raises Failure."""
    from . import addon_draft

    for _ in range(_ATTEMPTS):
        found = await installed(session, cluster, name)
        what = f"addon {session.namespace}/{found['metadata']['name']} cannot be changed"
        if found["metadata"].get("deletionTimestamp"):
            raise Failure(f"{what}: it is being removed", REFUSED)
        draft = changed(found, given)
        wanted = draft["spec"].get("addon")
        definition = await definition_of(session, wanted) if wanted else None
        if wanted and definition is None:
            raise Failure(f'{what}: the catalogue has no "{wanted}" any more', REFUSED)
        await addon_draft.check_settings(session, draft, definition)
        if draft["spec"] == found["spec"]:
            return found, False
        try:
            return await addon_draft.replace_spec(session, TenantAddon.address, draft, session.namespace), True
        except Conflict:
            # Somebody wrote in between, and what was checked may no longer be what is there.
            continue
        except Invalid as error:
            raise addon_draft.invalid(what, error) from error
    raise Failure(f"{what}: others keep changing it; try again", REFUSED)
