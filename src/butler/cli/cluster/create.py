"""butlerctl cluster create."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from butler import advice

from ..command import command
from ..lazy import REFUSED, Failure
from ..merge_patch import merged
from ..options import timeout_option, wait_option
from ..output import document, next_steps, output_option, say, success
from ..rows import CLUSTERS
from ..session import NoApi, Session
from .flags import change_of, cluster_flags, filename_option
from .lookup import speaking_of

if TYPE_CHECKING:
    from butler.api.provider import ProviderConfig
    from butler.controllers.cluster.acceptance import Judged

    from ..object_draft import Draft


@command
@click.argument("name", required=False)
@filename_option
@wait_option
@timeout_option("15m")
@click.option(
    "--dry-run", is_flag=True, help="Print the TenantCluster, as YAML if -o is not given, and change nothing."
)
@output_option("text", "json", "yaml", "name")
@cluster_flags
async def create(
    session: Session,
    name: str | None,
    filename: str | None,
    wait: bool,
    patience: timedelta,
    dry_run: bool,
    output: str,
    **flags: Any,
) -> None:
    """Ask for a cluster called NAME.

    Everything is checked before anything is created. What is left out comes from the environment, the team, then the
    platform.

    \b
    Example:
      butlerctl cluster create shop --workers 3 --wait
      butlerctl cluster create shop --k8s-version v1.32.2 --cpu 8 --memory 16Gi
      butlerctl cluster create -f shop.yaml --workers 5 --dry-run
      butlerctl cluster create shop --wait -o json
    """
    from . import cluster_draft

    draft = drafted(session, name, filename, flags)
    key = f"{draft['metadata']['namespace']}/{draft['metadata']['name']}"
    what = f"cluster {key} cannot be created"
    with speaking_of(session):
        if dry_run:
            await _rehearse(session, draft, what, output)
            return
        judged = await cluster_draft.judged(session, draft, what, is_new=True)
        made = await _send(session, draft, what)
    tell = success if output == "text" else say
    tell(f"cluster {key} requested")
    _say_settings(judged)
    name = draft["metadata"]["name"]
    if wait:
        from .wait import wait_until_settled

        await wait_until_settled(session, name, patience, made["metadata"].get("generation", 1), "is ready", tell)
        with speaking_of(session, name):
            made = await session.client.get(CLUSTERS, name, session.namespace)
    _show(made, output)
    _say_next_steps(session, name, wait)


def drafted(session: Session, name: str | None, filename: str | None, flags: dict[str, Any]) -> Draft:
    """What the file says, with the flags on top of it. Raises Failure, UsageError."""
    from . import cluster_draft

    change = change_of(flags)
    draft: Draft = merged(cluster_draft.read(filename) if filename else cluster_draft.empty(), change)
    meta = draft["metadata"]
    name = name or meta.get("name")
    if not name:
        raise click.UsageError("a cluster needs a NAME, as an argument or in the file")
    namespace = session.wishes.namespace or meta.get("namespace") or session.namespace
    draft["metadata"] = {"name": name, "namespace": namespace} | {**meta, "name": name, "namespace": namespace}
    session.wishes = session.wishes.in_namespace(namespace)
    draft.pop("status", None)
    return draft


def _show(made: Draft, output: str) -> None:
    """Print the cluster for programs."""
    if output == "name":
        click.echo(made["metadata"]["name"])
    elif output != "text":
        made["metadata"].pop("managedFields", None)
        click.echo(document(made, output))


async def _rehearse(session: Session, draft: Draft, what: str, output: str) -> None:
    """Print what would be sent, checked as far as there is a platform that can. Raises Failure."""
    from kubekit.errors import Forbidden, ServiceUnavailable

    from . import cluster_draft

    try:
        if await cluster_draft.judged(session, draft, what, is_new=True) is not None:
            await _send(session, draft, what, dry_run=True)
    except (ServiceUnavailable, NoApi) as error:
        say(f"# not checked against a platform: {error}")
    except Forbidden as error:
        say(f"# not everything was checked: {error}")
    say("# this is what would be created; nothing was")
    _show(draft, "yaml" if output == "text" else output)


async def _send(session: Session, draft: Draft, what: str, *, dry_run: bool = False) -> Draft:
    """Create it; answers it as it is then. Raises Failure."""
    from kubekit.errors import AlreadyExists, Invalid

    from . import cluster_draft

    try:
        made: Draft = await session.client.create(draft, CLUSTERS, manager="butlerctl", dry_run=dry_run)
    except AlreadyExists as error:
        raise await _taken(session, draft["metadata"]["name"], what) from error
    except Invalid as error:
        raise cluster_draft.invalid(what, error) from error
    return made


async def _taken(session: Session, name: str, what: str) -> Failure:
    """What to say when there is one of that name."""
    found = await session.client.get(CLUSTERS, name, session.namespace)
    if found["metadata"].get("deletionTimestamp"):
        return Failure(
            f"{what}: the one of that name is still being deleted; "
            f"`{advice.watch_cluster(name, session.where)}` ends when it is gone",
            REFUSED,
        )
    return Failure(f"{what}: there is one already; `{advice.get_cluster(name, session.where)}` shows it", REFUSED)


def _say_settings(judged: Judged | None) -> None:
    from butler.controllers.cluster.settings import settings_of

    if judged is None:
        return
    settings = settings_of(judged.cluster, judged.team, judged.config)
    say(f"  provider     {judged.provider.metadata.name}")
    say(f"  Kubernetes   {settings.version}")
    for pool in settings.pools:
        name = f" in pool {pool.name}" if pool.name else ""
        say(f"  workers      {pool.desired}{name}: {pool.cpu} cores, {pool.memory} memory, {pool.disk} disk")
    _warn_of(judged.provider)


def _warn_of(provider: ProviderConfig) -> None:
    """It may be well again before the cluster needs it, so this is no reason to refuse."""
    ready = provider.status.condition("Ready")
    if ready is not None and ready.status != "True":
        say(f"Warning: provider {provider.metadata.name} is not ready, and the cluster waits for it: {ready.message}")


def _say_next_steps(session: Session, name: str, wait: bool) -> None:
    where = session.where
    next_steps(
        *([] if wait else [(advice.watch_cluster(name, where), "see it come to life")]),
        (advice.get_cluster(name, where), "how it is"),
        (advice.merge_kubeconfig(name, where), "use it with kubectl"),
    )
