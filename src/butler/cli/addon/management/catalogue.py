"""butleradm addon catalog: list, get, create and delete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from butler import advice
from butler.api.model import GROUP

from ... import completion, object_draft, prompts
from ...lazy import MISSING, REFUSED, USAGE, Failure
from ...object_draft import Draft
from ...output import document, no_headers_option, output_option, say, success
from ...session import Session
from .. import entries
from ..lookup import definition_of, speaking_of
from .lookup import platform_command

F = TypeVar("F", bound=Callable[..., Any])

_SOURCE, _BUILT_IN = f"{GROUP}/source", "builtin"


def _name(function: F) -> F:
    return click.argument("name", metavar="NAME", shell_complete=completion.definitions)(function)


@platform_command
@output_option("table", "json", "yaml", "name")
@no_headers_option
def list_(session: Session, output: str, no_headers: bool) -> None:
    """List the addons there are to install.

    \b
    Example:
      butleradm addon catalog list
      butleradm addon catalog list -o json
    """
    found = entries.read(session)
    if not found and output == "table":
        say("the catalogue is empty")
    else:
        entries.show(found, output, no_headers)


@platform_command
@_name
@output_option("text", "json", "yaml", "name")
def get(session: Session, name: str, output: str) -> None:
    """Show one entry of the catalogue.

    \b
    Example:
      butleradm addon catalog get sealed-secrets
      butleradm addon catalog get sealed-secrets -o yaml
    """
    entries.show_one(entries.read_one(session, name), output)


@platform_command
@click.option("-f", "--filename", metavar="FILE", required=True, help="An AddonDefinition as YAML, - for stdin.")
@click.option("--dry-run", is_flag=True, help="Check everything, and write nothing.")
@output_option("text", "json", "yaml", "name")
async def create(session: Session, filename: str, dry_run: bool, output: str) -> None:
    """Add an entry to the catalogue.

    Its fields are checked before anything is written, and its own default values against its schema.

    \b
    Example:
      butleradm addon catalog create -f our-addon.yaml
    """
    from butler.api.addon import AddonDefinition
    from kubekit.errors import AlreadyExists, Invalid

    draft = object_draft.read(filename, AddonDefinition.address)
    name = draft["metadata"].get("name")
    if not name:
        raise Failure(f"{filename}: metadata.name: is needed", USAGE)
    what = f"addon {name} cannot be added to the catalogue"
    _check(draft, what)
    with speaking_of(session, "AddonDefinitions"):
        try:
            made: Draft = await session.client.create(
                draft, AddonDefinition.address, manager="butlerctl", dry_run=dry_run
            )
        except AlreadyExists as error:
            raise Failure(f"{what}: there is one already", REFUSED) from error
        except Invalid as error:
            raise object_draft.invalid(what, error, _no_flag) from error
    tell = success if output == "text" else say
    tell(f"addon {name} {'would be' if dry_run else 'is'} in the catalogue")
    if output == "name":
        click.echo(name)
    elif output != "text":
        made["metadata"].pop("managedFields", None)
        click.echo(document(made, output))


def _no_flag(path: str) -> str:
    return ""


def _check(draft: Draft, what: str) -> None:
    """What the API would not tell, or not so well. Raises Failure."""
    import msgspec

    from butler.api.addon import AddonDefinition

    from .. import checks

    if problems := [*object_draft.unknown_fields(draft, AddonDefinition)]:
        raise object_draft.refused(what, problems, _no_flag, USAGE)
    labels = draft["metadata"].get("labels") or {}
    if labels.get(_SOURCE) == _BUILT_IN:
        raise Failure(f"{what}: the label {_SOURCE}: {_BUILT_IN} is for what Butler itself brings", USAGE)
    try:
        definition = msgspec.convert(draft, AddonDefinition)
    except msgspec.ValidationError:
        return
    checks.check_version(definition, "")
    checks.check_defaults(definition)


@platform_command
@_name
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask, also about one that Butler itself brings.")
async def delete(session: Session, name: str, is_sure: bool) -> None:
    """Remove an entry from the catalogue that no addon uses.

    Those that Butler itself brings are refused without --yes, and come again with the next start of the platform.

    \b
    Example:
      butleradm addon catalog delete our-addon
      butleradm addon catalog delete our-addon --yes
    """
    from butler.api.addon import AddonDefinition

    definition = await definition_of(session, name)
    if definition is None:
        raise Failure(
            f'the catalogue has no addon "{name}"; `{advice.addon_catalogue(session.api)}` shows all', MISSING
        )
    if users := await _users(session, name):
        raise Failure(f"addon {name} is used by {users}; it can go when they are gone", REFUSED)
    is_built_in = definition.metadata.labels.get(_SOURCE) == _BUILT_IN
    if is_built_in and not is_sure:
        message = "comes with Butler, and comes again with its next start; --yes removes it until then"
        raise Failure(f"addon {name} {message}", REFUSED)
    if not is_sure:
        prompts.confirm(f"Remove addon {name} ({definition.spec.display_name}) from the catalogue?")
    await session.client.delete(AddonDefinition, name, uid=definition.metadata.uid)
    success(f"addon {name} is no longer in the catalogue")
    if is_built_in:
        say("it comes with Butler, and comes again with its next start")


async def _users(session: Session, name: str) -> str:
    """Which addons were installed from an entry; a few of them by name."""
    import asyncio

    from butler.api.addon import ManagementAddon, TenantAddon

    with speaking_of(session):
        tenants, management = await asyncio.gather(
            session.client.list(TenantAddon), session.client.list(ManagementAddon)
        )
    found = [f"addon {one.key}" for one in tenants.items if one.spec.addon == name]
    found += [f"addon {one.key} of the management cluster" for one in management.items if one.spec.addon == name]
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return ", ".join(found[:3]) + more
