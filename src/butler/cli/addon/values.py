"""butlerctl addon values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import msgspec

from butler.addons.values import merged
from butler.api.addon import TenantAddon
from kubekit.errors import Forbidden

from ..command import command
from ..lazy import Failure
from ..output import document, output_option, say
from ..session import Session
from . import masking, secret_values
from .lookup import addon_argument, cluster_argument, definition_of, installed


@command
@cluster_argument
@addon_argument
@click.option("--all", "everything", is_flag=True, help="With those of the catalogue underneath.")
@click.option("--show-secrets", is_flag=True, help="Print secrets as they are instead of hiding them.")
@output_option("yaml", "json")
async def values(session: Session, cluster: str, name: str, everything: bool, show_secrets: bool, output: str) -> None:
    """Print the Helm values of an addon, all layers merged.

    What comes from Secrets is shown as ***, and so is what stands under a name that speaks of passwords, secrets,
    tokens or keys.

    \b
    Example:
      butlerctl addon values shop sealed-secrets
      butlerctl addon values shop sealed-secrets --all
    """
    addon = msgspec.convert(await installed(session, cluster, name), TenantAddon)
    layers: list[Any] = [addon.spec.values or {}]
    if everything and addon.spec.addon:
        definition = await definition_of(session, addon.spec.addon)
        layers = [(definition.spec.defaults.values or {}) if definition else {}, *layers]
    secrets = await _secrets(session, addon)
    if show_secrets:
        found = merged(*layers, *secrets)
    else:
        found = merged(masking.masked(merged(*layers)), *map(masking.hidden, secrets))
    click.echo(document(found, output))


async def _secrets(session: Session, addon: TenantAddon) -> list[Mapping[str, Any]]:
    """What Secrets add; those that cannot be read are told of."""
    found: list[Mapping[str, Any]] = []
    for source in addon.spec.values_from:
        try:
            found += await secret_values.read(session, addon.metadata.name, [source])
        except (Failure, Forbidden) as error:
            say(f"# without the values of Secret {source.secret_ref.name}: {error}")
    return found
