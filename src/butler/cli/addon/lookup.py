"""Naming an addon of a cluster, and what to say when it, the cluster, or the whole platform is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from butler import advice
from butler.api.addon import AddonDefinition, TenantAddon
from kubekit.client.protocol import Selection
from kubekit.errors import NotFound, ServiceUnavailable

from .. import completion
from ..cluster import lookup as clusters
from ..lazy import MISSING, REFUSED, UNREACHABLE, Failure
from ..object_draft import Draft
from ..output import say
from ..session import Session
from .host import Host, how_to_change

if TYPE_CHECKING:
    from .host import SeenAddon

F = TypeVar("F", bound=Callable[..., Any])


def cluster_argument(function: F) -> F:
    """The argument CLUSTER, which may say the namespace too."""
    return click.argument(
        "cluster", metavar="CLUSTER", shell_complete=completion.clusters, callback=clusters.taken_apart
    )(function)


def addon_argument(function: F) -> F:
    """The argument ADDON, of a cluster that was named before it."""
    return click.argument("name", metavar="ADDON", shell_complete=completion.addons)(function)


def object_name(cluster: str, addon: str) -> str:
    """Of a TenantAddon: two clusters of a namespace may have the same addon."""
    return f"{cluster}-{addon}"


def cluster_of(addon: Draft) -> str:
    return str(((addon.get("spec") or {}).get("clusterRef") or {}).get("name") or "")


def name_of(addon: Draft) -> str:
    """How it is called in its cluster."""
    return str(addon["metadata"]["name"]).removeprefix(object_name(cluster_of(addon), ""))


@contextmanager
def speaking_of(session: Session, kinds: str = "TenantAddons") -> Iterator[None]:
    """Requests about kinds that a platform knows."""
    try:
        yield
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise Failure(session.not_a_platform(kinds), UNREACHABLE) from error
        raise
    except ServiceUnavailable as error:
        raise Failure(f"{error}{session.remedy()}", UNREACHABLE) from error


async def host_of(session: Session, cluster: str) -> Host:
    """Raises Failure."""
    with clusters.speaking_of(session, cluster):
        found: Host = await session.client.get(Host, cluster, session.namespace)
    return found


async def find(session: Session, cluster: str, name: str) -> Draft | None:
    """The TenantAddon that is meant by a name: that of the object, the addon's, or how it is called in its cluster.
    None when the cluster has none of that name. Raises Failure when there are several."""
    kind = TenantAddon.address
    with speaking_of(session):
        try:
            found: Draft = await session.client.get(kind, object_name(cluster, name), session.namespace)
        except NotFound as error:
            if error.details is None or not error.details.name:
                raise
        else:
            # Another cluster's, whose name goes on where this one's ends.
            if cluster_of(found) == cluster:
                return found
        every = (await session.client.list(kind, Selection(session.namespace))).items
    meant = [one for one in every if cluster_of(one) == cluster and _is_called(one, name)]
    if len(meant) > 1:
        names = ", ".join(sorted(map(name_of, meant)))
        raise Failure(f'cluster {cluster} has several addons "{name}"; say which: {names}', REFUSED)
    return meant[0] if meant else None


def warn_of_owner(addon: Draft) -> None:
    """Say it where something else decides about an addon, and so may take back what is done here."""
    for owner in addon["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            say(f"Warning: {owner['kind']} {owner['name']} made this addon, and may take this back")


def _is_called(addon: Draft, name: str) -> bool:
    return name in (addon["metadata"]["name"], name_of(addon), addon["spec"].get("addon"))


async def installed(
    session: Session, cluster: str, name: str, remedy: Callable[[str, str, str], str] = how_to_change
) -> Draft:
    """The TenantAddon that is meant. Raises Failure, with what to do where it is an addon of the platform."""
    found = await find(session, cluster, name)
    if found is not None:
        return found
    seen = await platform_addon(session, cluster, name)
    definition = await definition_of(session, seen.name)
    told = remedy(definition.spec.category if definition else "", cluster, session.where)
    raise Failure(f"{name} is an addon that the platform keeps in cluster {cluster}; {told}", REFUSED)


async def platform_addon(session: Session, cluster: str, name: str) -> SeenAddon:
    """An addon that the platform itself put into a cluster. Raises Failure when there is none of that name."""
    seen = (await host_of(session, cluster)).platform_addon(name)
    if seen is None:
        lists = advice.list_addons(cluster, session.where)
        raise Failure(f'cluster {session.namespace}/{cluster} has no addon "{name}"; `{lists}` shows all', MISSING)
    return seen


async def definition_of(session: Session, name: str) -> AddonDefinition | None:
    """What the catalogue says of an addon; None when it does not know it."""
    with speaking_of(session, "AddonDefinitions"):
        try:
            found: AddonDefinition = await session.client.get(AddonDefinition, name)
        except NotFound as error:
            if error.details is None or not error.details.name:
                raise
            return None
    return found
