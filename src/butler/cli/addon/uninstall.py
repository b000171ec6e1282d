"""butlerctl addon uninstall."""

from __future__ import annotations

from datetime import timedelta

import click
import msgspec

from butler import advice
from butler.api.addon import TenantAddon
from kubekit.client.protocol import Selection

from .. import prompts
from ..command import command
from ..lazy import REFUSED, Failure
from ..object_draft import Draft
from ..options import timeout_option
from ..output import success
from ..session import Session
from .host import how_to_remove
from .lookup import addon_argument, cluster_argument, installed, name_of, speaking_of, warn_of_owner


@command
@cluster_argument
@addon_argument
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Stay until it is gone.")
@timeout_option("10m")
async def uninstall(session: Session, cluster: str, name: str, is_sure: bool, wait: bool, patience: timedelta) -> None:
    """Take an addon out of a cluster, with everything that its chart made there.

    One that another needs stays until that is gone. What the platform keeps in every cluster is switched off in the
    cluster's spec instead.

    \b
    Example:
      butlerctl addon uninstall shop sealed-secrets
      butlerctl addon uninstall shop sealed-secrets --yes --no-wait
    """
    found = await installed(session, cluster, name, how_to_remove)
    name = name_of(found)
    subject = f"addon {name} of cluster {session.namespace}/{cluster}"
    await _check_unused(session, found, cluster, subject)
    warn_of_owner(found)
    if not is_sure:
        release = (found.get("status") or {}).get("helmRelease") or {}
        what = f", release {release['namespace']}/{release['name']}" if release.get("name") else ""
        prompts.confirm(f"Remove {subject}{what}, and everything that it made there?")
    addon = msgspec.convert(found, TenantAddon)
    with speaking_of(session):
        # Another one of the same name that somebody makes meanwhile is not the one that was meant.
        await session.client.delete(TenantAddon, addon.metadata.name, addon.metadata.namespace, uid=addon.metadata.uid)
    if wait:
        from .wait import wait_until_gone

        await wait_until_gone(session, addon, patience, subject, advice.get_addon(cluster, name, session.where))
    success(f"{subject} is {'gone' if wait else 'being removed'}")


async def _check_unused(session: Session, found: Draft, cluster: str, subject: str) -> None:
    """Raises Failure where another addon of the cluster names it as what it needs."""
    from butler.api.addon import AddonDefinition

    with speaking_of(session):
        addons = (await session.client.list(TenantAddon, Selection(session.namespace))).items
        others = [one for one in addons if one.spec.cluster_ref.name == cluster]
        others = [one for one in others if one.metadata.name != found["metadata"]["name"] and not one.deleting]
        definitions = (await session.client.list(AddonDefinition)).items if others else ()
    own, kind = found["metadata"]["name"], found["spec"].get("addon")
    needing = {one.metadata.name for one in definitions if kind in one.spec.depends_on}
    is_only = all(one.spec.addon != kind for one in others)
    users = [
        one.metadata.name.removeprefix(f"{cluster}-")
        for one in others
        if own in [ref.name for ref in one.spec.depends_on] or (is_only and one.spec.addon in needing)
    ]
    if users:
        raise Failure(f"{subject} is needed by {', '.join(sorted(users))}; it can go after that", REFUSED)
