"""butleradm addon get."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click
import msgspec

from butler.api.addon import ManagementAddon
from kubekit.model.ages import age

from ...object_draft import Draft
from ...output import as_yaml, document, output_option, phase, plain
from ...session import Session
from .. import masking
from ..get import conditions_text, facts_of, indented, release_text
from .lookup import addon_argument, found, platform_command


@platform_command
@addon_argument
@output_option("text", "json", "yaml", "name")
async def get(session: Session, name: str, output: str) -> None:
    """Show one addon of the management cluster.

    Values whose names speak of passwords, secrets, tokens or keys are hidden.

    \b
    Example:
      butleradm addon get sealed-secrets
      butleradm addon get sealed-secrets -o yaml
    """
    addon = await found(session, name)
    if output in ("json", "yaml"):
        click.echo(document(masking.shown(addon), output))
    elif output == "name":
        click.echo(name)
    else:
        click.echo("\n".join(_text(addon, session.clock.now())))


def _text(raw: Draft, now: datetime) -> Iterator[str]:
    addon = msgspec.convert(raw, ManagementAddon)
    spec, status = addon.spec, addon.status
    shown = "Uninstalling" if addon.deleting else status.phase.value if status.phase else "Pending"
    facts = {
        "Name": addon.metadata.name,
        "Addon": spec.addon,
        "Phase": phase(shown) + (" (paused)" if spec.paused else ""),
        "Version": spec.version or "(that of the catalogue)",
        "Installed": status.installed_version or "",
        "Release": release_text(status.helm_release),
        "Age": age(raw["metadata"].get("creationTimestamp"), now),
    }
    tried = status.last_attempted_version
    if tried and tried != status.installed_version:
        facts["Last tried"] = tried
    if status.message:
        facts["Message"] = plain(status.message)
    yield from facts_of(facts)
    if spec.values:
        yield "\nValues:"
        yield indented(as_yaml(masking.masked(spec.values)))
    yield from conditions_text(status.conditions, now)
