"""butlerctl addon install."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from butler import advice

from .. import completion
from ..command import command
from ..lazy import REFUSED, Failure
from ..object_draft import Draft
from ..options import timeout_option, wait_option
from ..output import next_steps, output_option, say, success
from ..session import Session
from .lookup import cluster_argument, cluster_of, name_of, speaking_of
from .value_flags import Sources, values_options


@command
@cluster_argument
@click.argument("addon", metavar="[ADDON]", required=False, shell_complete=completion.definitions)
@click.option("--version", default="", show_default="the catalogue's", help="Version of the chart.")
@values_options
@click.option("--name", default="", show_default="that of the addon", help="How it is called in the cluster.")
@click.option("--chart", default="", metavar="NAME", help="A chart that is not in the catalogue, instead of ADDON.")
@click.option("--repo", default="", metavar="URL", help="Where that chart is: https://… or oci://….")
@click.option(
    "--repo-secret",
    default="",
    metavar="NAME",
    help="A Secret beside the cluster with username and password for that, and ca.crt where needed.",
)
@click.option(
    "--target-namespace",
    default="",
    metavar="NAME",
    show_default="as it is called",
    help="Where in the cluster that chart goes.",
)
@click.option(
    "--dry-run",
    type=click.Choice(["client", "server"]),
    help="Print the TenantAddon and write nothing: without asking anybody, or after all checks of the platform.",
)
@output_option("text", "json", "yaml", "name")
@wait_option
@timeout_option("10m")
async def install(session: Session, cluster: str, addon: str | None, **given: Any) -> None:
    """Install an addon of the catalogue, or a chart, into a cluster.

    Everything is checked before anything is written: that there is such an addon, that it goes with the cluster and
    what is in it, and that its values are what the catalogue allows.

    \b
    Example:
      butlerctl addon install shop sealed-secrets --wait
      butlerctl addon install shop loki --version 6.55.0 --values loki.yaml --set replicas=2
      butlerctl addon install shop web --chart web --repo oci://registry.example.com/charts --version 1.2.3
      butlerctl addon install shop velero --values-secret backup-credentials --dry-run=server -o yaml
    """
    from . import addon_draft

    wanted = _wanted(addon, given)
    draft = addon_draft.drafted(session, cluster, wanted)
    what = f"addon {session.namespace}/{draft['metadata']['name']} cannot be installed"
    output, rehearsal = given["output"], given["dry_run"]
    if rehearsal != "client":
        await _check(session, cluster, draft)
        made = await _send(session, draft, what, dry_run=bool(rehearsal))
    if rehearsal:
        say("# this is what would be created; nothing was")
        addon_draft.show(draft, "yaml" if output == "text" else output, as_written=True)
        return
    tell = success if output == "text" else say
    name = name_of(made)
    tell(f"addon {name} of cluster {session.namespace}/{cluster} requested")
    if given["wait"]:
        made = await settled(session, made, given["patience"], tell)
    addon_draft.show(made, output)
    _say_next_steps(session, cluster, name)


def _wanted(addon: str | None, given: dict[str, Any]) -> Any:
    from .addon_draft import Wanted

    chart, sources = given["chart"], Sources(given["files"], given["settings"], given["secrets"])
    return Wanted(
        addon="" if chart else addon or "",
        chart=chart,
        repository=given["repo"],
        login=given["repo_secret"],
        target=given["target_namespace"],
        name=given["name"] or (addon or "" if chart else ""),
        version=given["version"],
        sources=sources,
    )


async def _check(session: Session, cluster: str, draft: Draft) -> None:
    """Raises Failure."""
    from . import addon_draft, checks

    around = await checks.surroundings(session, cluster)
    if around.host.status.phase == "Deleting":
        raise Failure(f"cluster {session.namespace}/{cluster} is being deleted", REFUSED)
    wanted, definition = draft["spec"].get("addon"), None
    if wanted:
        definition = checks.definition_named(wanted, around.catalogue, session.api)
        if all(one.metadata.name != draft["metadata"]["name"] for one in around.addons):
            await checks.check_new(session, definition, around)
    await addon_draft.check_settings(session, draft, definition)


async def _send(session: Session, draft: Draft, what: str, *, dry_run: bool) -> Draft:
    """Raises Failure."""
    from butler.api.addon import TenantAddon
    from kubekit.errors import AlreadyExists, Invalid

    from . import addon_draft

    kind = TenantAddon.address
    with speaking_of(session):
        try:
            made: Draft = await session.client.create(draft, kind, manager="butlerctl", dry_run=dry_run)
        except AlreadyExists as error:
            found = await session.client.get(kind, draft["metadata"]["name"], session.namespace)
            raise _taken(session, found, cluster_of(draft), what) from error
        except Invalid as error:
            raise addon_draft.invalid(what, error) from error
    return made


def _taken(session: Session, found: Draft, cluster: str, what: str) -> Failure:
    """What to say when there is one of that name."""
    if cluster_of(found) != cluster:
        whose = f"an addon of cluster {cluster_of(found)} has that name"
        return Failure(f"{what}: {whose}; choose another with --name", REFUSED)
    look = advice.get_addon(cluster, name_of(found), session.where)
    if found["metadata"].get("deletionTimestamp"):
        return Failure(f"{what}: the one of that name is still being removed; `{look}` shows how far that is", REFUSED)
    return Failure(f"{what}: there is one already; `{look}` shows it", REFUSED)


async def settled(session: Session, made: Draft, patience: timedelta, tell: Any) -> Draft:
    """Wait until an addon is there as it is written; answers it as it is then. Raises Failure."""
    import msgspec

    from butler.api.addon import TenantAddon

    from .wait import wait_until_installed

    addon = msgspec.convert(made, TenantAddon)
    cluster, name = cluster_of(made), name_of(made)
    subject = f"addon {name} of cluster {session.namespace}/{cluster}"
    look = advice.get_addon(cluster, name, session.where)
    found = await wait_until_installed(session, addon, patience, subject, look)
    tell(f"{subject} is installed: {found.status.installed_version or 'version unknown'}")
    result: Draft = msgspec.to_builtins(found)
    return result


def _say_next_steps(session: Session, cluster: str, name: str) -> None:
    next_steps(
        (advice.get_addon(cluster, name, session.where), "how it is"),
        (advice.list_addons(cluster, session.where), "what else is there"),
    )
