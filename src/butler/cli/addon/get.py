"""butlerctl addon get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from kubekit.client.protocol import Selection
from kubekit.errors import Forbidden
from kubekit.model.ages import age, human

from ..command import command
from ..object_draft import Draft
from ..output import ABSENT, as_yaml, document, output_option, phase, plain, table
from ..rows import EventRow
from ..session import Session
from . import masking
from .list import keeper_of
from .lookup import addon_argument, cluster_argument, find, name_of, platform_addon

if TYPE_CHECKING:
    from datetime import datetime

    from butler.api.addon import TenantAddon
    from butler.api.shared import HelmRelease
    from kubekit.model.status import Condition

    from .host import SeenAddon

_MOST_EVENTS = 10


@command
@cluster_argument
@addon_argument
@output_option("text", "json", "yaml", "name")
async def get(session: Session, cluster: str, name: str, output: str) -> None:
    """Show one addon of a cluster: how it is, its release, and what happened to it.

    Values whose names speak of passwords, secrets, tokens or keys are hidden.

    \b
    Example:
      butlerctl addon get shop sealed-secrets
      butlerctl addon get shop sealed-secrets -o yaml
    """
    found = await find(session, cluster, name)
    if found is None:
        _show_platform(await platform_addon(session, cluster, name), cluster, output)
        return
    if output in ("json", "yaml"):
        click.echo(document(masking.shown(found), output))
    elif output == "name":
        click.echo(found["metadata"]["name"])
    else:
        events = await _events(session, found)
        click.echo("\n".join(_text(found, events, session.clock.now())))


def _show_platform(seen: SeenAddon, cluster: str, output: str) -> None:
    if output in ("json", "yaml"):
        click.echo(document({"cluster": cluster, **msgspec.to_builtins(seen), "platform": True}, output))
    elif output == "name":
        click.echo(seen.name)
    else:
        keeper = f"{seen.managed_by}, as part of the cluster"
        facts = {"Name": seen.name, "Cluster": cluster, "Phase": phase(seen.status), "Version": seen.version}
        click.echo("\n".join(facts_of({**facts, "Managed by": keeper, "Message": plain(seen.message or "")})))


async def _events(session: Session, found: Draft) -> Sequence[EventRow]:
    """The last ones; none for those who may not see any."""
    about = f"involvedObject.kind=TenantAddon,involvedObject.name={found['metadata']['name']}"
    try:
        events = (await session.client.list(EventRow, Selection(session.namespace, fields=about))).items
    except Forbidden:
        return ()
    return sorted(events, key=lambda event: (event.last_seen, event.metadata.revision))[-_MOST_EVENTS:]


def _text(found: Draft, events: Sequence[EventRow], now: datetime) -> Iterator[str]:
    from butler.api.addon import TenantAddon

    addon = msgspec.convert(found, TenantAddon)
    spec, status = addon.spec, addon.status
    secrets = ", ".join(f"{one.secret_ref.name}/{one.key}" for one in spec.values_from)
    yield from facts_of(
        {
            "Name": addon.metadata.name,
            "Namespace": addon.metadata.namespace,
            "Cluster": spec.cluster_ref.name,
            "Addon": _origin(addon, found),
            "Phase": phase("Deleting" if addon.deleting else status.phase.value if status.phase else "Pending"),
            "Version": spec.version or "(that of the catalogue)",
            "Installed": status.installed_version or "",
            "Release": release_text(status.helm_release),
            "Managed by": keeper_of(addon),
            "Age": age(found["metadata"].get("creationTimestamp"), now),
            **({"Values from": f"Secrets {secrets}"} if secrets else {}),
            **({"Message": plain(status.message)} if status.message else {}),
        }
    )
    if spec.values:
        yield "\nValues:"
        yield indented(as_yaml(masking.masked(spec.values)))
    yield from conditions_text(status.conditions, now)
    if events:
        yield "\nEvents:"
        rows = [[one.type, one.reason, one.message, age(one.last_seen, now)] for one in events]
        yield indented(table(["TYPE", "REASON", "MESSAGE", "AGE"], rows, painted="TYPE"))


def _origin(addon: TenantAddon, found: Draft) -> str:
    helm = addon.spec.helm
    return addon.spec.addon or (f"chart {helm.chart} of {helm.repository}" if helm else name_of(found))


def release_text(release: HelmRelease | None) -> str:
    """A release in a few words."""
    if release is None or not release.name:
        return ""
    revision = f", revision {release.revision}" if release.revision else ""
    return f"{release.namespace}/{release.name}{revision}" + (f", {release.status}" if release.status else "")


def conditions_text(conditions: Sequence[Condition], now: datetime) -> Iterator[str]:
    if not conditions:
        return
    yield "\nConditions:"
    rows = [
        [one.type, one.status, one.reason, _since(one, now), plain(one.message)]
        for one in sorted(conditions, key=lambda one: one.type == "Ready")
    ]
    yield indented(table(["TYPE", "STATUS", "REASON", "AGE", "MESSAGE"], rows, painted="STATUS"))


def _since(condition: Condition, now: datetime) -> str:
    since = condition.last_transition_time
    return human(int((now - since).total_seconds())) if since is not None else ""


def facts_of(facts: dict[str, str]) -> Iterator[str]:
    width = max(map(len, facts)) + 1
    for title, value in facts.items():
        yield f"{(title + ':').ljust(width)}  {value or ABSENT}"


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.rstrip("\n").splitlines())
