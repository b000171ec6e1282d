"""butlerctl addon list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from butler import advice
from butler.api.addon import TenantAddon
from kubekit.client.protocol import Selection

from .. import completion
from ..cluster import lookup as clusters
from ..command import command
from ..output import document, no_headers_option, output_option, say, table
from ..session import Session
from .host import Host, SeenAddon
from .lookup import speaking_of

Item = dict[str, Any]

_ELSEWHERE = "ManagedElsewhere"
"""The reason of what Flux, Argo CD or somebody else keeps; its message says who."""
_COLUMNS = {
    "NAME": "name",
    "ADDON": "addon",
    "VERSION": "version",
    "PHASE": "phase",
    "INSTALLED": "installedVersion",
    "MANAGED BY": "managedBy",
}


def _named(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    return clusters.taken_apart(context, parameter, value) if value else ""


@command
@click.argument("cluster", metavar="[CLUSTER]", required=False, shell_complete=completion.clusters, callback=_named)
@click.option(
    "-A", "--all-clusters", is_flag=True, help="Addons of all clusters, in all namespaces unless -n names one."
)
@output_option("table", "json", "yaml", "name")
@no_headers_option
def list_(session: Session, cluster: str, all_clusters: bool, output: str, no_headers: bool) -> None:
    """List the addons of a cluster: those that the platform keeps in it, and those that were installed by their users.

    \b
    Example:
      butlerctl addon list shop
      butlerctl addon list -A
      butlerctl addon list shop -o json
    """
    if bool(cluster) is all_clusters:
        raise click.UsageError("say which CLUSTER, or -A for all of them" if not cluster else "CLUSTER or -A, not both")
    items = [*_of_all(session)] if all_clusters else [*_of_one(session, cluster)]
    if output in ("json", "yaml"):
        click.echo(document(items, output))
    elif output == "name":
        click.echo("".join(f"{one['name']}\n" for one in items), nl=False)
    elif not items:
        say(f"no addons; `{advice.addon_catalogue(session.api)}` shows what there is to install")
    else:
        columns = {**({"NAMESPACE": "namespace", "CLUSTER": "cluster"} if all_clusters else {}), **_COLUMNS}
        rows = [[str(one[key] or "") for key in columns.values()] for one in items]
        click.echo(table([*columns], rows, no_headers=no_headers))


def _of_one(session: Session, cluster: str) -> Iterator[Item]:
    with clusters.speaking_of(session, cluster):
        host: Host = session.reader.get(Host, cluster, session.namespace)
    addons = _installed(session, session.namespace)
    yield from _items([host], [one for one in addons if one.spec.cluster_ref.name == cluster])


def _of_all(session: Session) -> Iterator[Item]:
    namespace = session.wishes.namespace
    with clusters.speaking_of(session):
        hosts: Sequence[Host] = session.reader.list(Host, Selection(namespace)).items
    yield from _items(hosts, _installed(session, namespace))


def _installed(session: Session, namespace: str) -> Sequence[TenantAddon]:
    with speaking_of(session):
        found: Sequence[TenantAddon] = session.reader.list(TenantAddon, Selection(namespace)).items
    return found


def _items(hosts: Iterable[Host], addons: Iterable[TenantAddon]) -> list[Item]:
    found = [_of_platform(host, one) for host in hosts for one in host.status.observed_state.addons]
    found += map(_of_user, addons)
    return sorted(found, key=lambda one: (one["namespace"], one["cluster"], not one["platform"]))


def _of_platform(host: Host, seen: SeenAddon) -> Item:
    return {
        "name": seen.name,
        "namespace": host.metadata.namespace,
        "cluster": host.metadata.name,
        "addon": seen.name,
        "version": seen.version,
        "phase": seen.status,
        "installedVersion": seen.version if seen.status in ("Healthy", "Degraded") else None,
        "managedBy": f"{seen.managed_by} (platform)",
        "platform": True,
        "message": seen.message,
    }


def _of_user(addon: TenantAddon) -> Item:
    spec, status = addon.spec, addon.status
    return {
        "name": addon.metadata.name,
        "namespace": addon.metadata.namespace,
        "cluster": spec.cluster_ref.name,
        "addon": spec.addon or (spec.helm.chart if spec.helm else ""),
        "version": spec.version or None,
        "phase": "Deleting" if addon.deleting else status.phase.value if status.phase else "Pending",
        "installedVersion": status.installed_version,
        "managedBy": keeper_of(addon),
        "platform": False,
        "message": status.message,
    }


def keeper_of(addon: TenantAddon) -> str:
    """Who decides about an addon: whatever made it, others in the cluster, else whoever asks Butler."""
    owner = next((one for one in addon.metadata.owner_references if one.controller), None)
    if owner is not None:
        return f"{owner.kind} {owner.name}"
    installed = addon.status.condition("Installed")
    return "others" if installed is not None and installed.reason == _ELSEWHERE else "butler"
