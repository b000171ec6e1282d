"""butlerctl cluster create."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from ..command import command
from ..lazy import Failure
from ..merge_patch import merged
from ..options import timeout_option, wait_option
from ..output import as_yaml, next_steps, say, success
from ..session import NoApi, Session
from .flags import change_of, cluster_flags, filename_option
from .lookup import speaking_of

if TYPE_CHECKING:
    from butler.api.provider import ProviderConfig
    from butler.controllers.cluster.acceptance import Accepted

    from ..object_draft import Draft


@command
@click.argument("name", required=False)
@filename_option
@wait_option
@timeout_option("15m")
@click.option("--dry-run", is_flag=True, help="Print the TenantCluster as YAML and change nothing.")
@cluster_flags
async def create(
    session: Session,
    name: str | None,
    filename: str | None,
    wait: bool,
    patience: timedelta,
    dry_run: bool,
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
    """
    draft = drafted(session, name, filename, flags)
    key = f"{draft['metadata']['namespace']}/{draft['metadata']['name']}"
    with speaking_of(session):
        accepted = await _checked(session, draft, f"cluster {key} cannot be created", dry_run)
        if dry_run:
            say("# this is what would be created; nothing was")
            click.echo(as_yaml(draft), nl=False)
            return
        generation = await _send(session, draft)
    _say_settings(key, accepted)
    await _finish(session, draft["metadata"]["name"], wait, patience, generation)


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


async def _checked(session: Session, draft: Draft, what: str, dry_run: bool) -> Accepted | None:
    """Everything that can be known beforehand. Raises Failure."""
    from kubekit.errors import ServiceUnavailable

    from . import cluster_draft

    cluster_draft.typed(draft, what)
    try:
        await _check_new(session, draft["metadata"]["name"], what)
    except (ServiceUnavailable, NoApi) as error:
        if not dry_run:
            raise
        say(f"# not checked against a platform: {error}")
        return None
    await choose_provider(session, draft)
    return await cluster_draft.resolved(session.client, draft, what)


async def _check_new(session: Session, name: str, what: str) -> None:
    from kubekit.errors import NotFound

    from ..rows import CLUSTERS

    try:
        found = await session.client.get(CLUSTERS, name, session.namespace)
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise
        return
    if found["metadata"].get("deletionTimestamp"):
        raise Failure(
            f"{what}: the one of that name is still being deleted; "
            f"`butlerctl cluster watch {name}{session.where}` ends when it is gone"
        )
    raise Failure(f"{what}: there is one already; `butlerctl cluster get {name}{session.where}` shows it")


async def choose_provider(session: Session, draft: Draft) -> None:
    """Fill in the provider when nobody names one, nothing has a default, and there is only one. Raises Failure."""
    from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
    from butler.api.shared import SYSTEM_NAMESPACE
    from kubekit.client.protocol import Selection
    from kubekit.errors import Forbidden, NotFound

    from ..rows import ProviderRow

    spec = draft["spec"]
    if spec.get("providerConfigRef") or spec.get("teamRef"):
        return
    try:
        config = await session.client.get(ButlerConfig, BUTLER_CONFIG_NAME)
        if config.spec.default_provider_config_ref is not None:
            return
    except (NotFound, Forbidden):
        pass
    try:
        listed = await session.client.list(ProviderRow, Selection(SYSTEM_NAMESPACE))
    except Forbidden:
        return
    names = sorted(row.metadata.name for row in listed.items)
    if len(names) == 1:
        spec["providerConfigRef"] = {"name": names[0]}
    elif len(names) > 1 and "default" not in names:
        raise Failure(f"name a provider with --provider; there are: {', '.join(names)}")


async def _send(session: Session, draft: Draft) -> int:
    """Create it; answers its generation. Raises Failure."""
    from kubekit.errors import AlreadyExists, Invalid

    from ..rows import CLUSTERS
    from . import cluster_draft

    key = f"{draft['metadata']['namespace']}/{draft['metadata']['name']}"
    try:
        made = await session.client.create(draft, CLUSTERS, manager="butlerctl")
    except AlreadyExists as error:
        raise Failure(f"cluster {key} exists already") from error
    except Invalid as error:
        raise cluster_draft.invalid(f"cluster {key} cannot be created", error) from error
    generation: int = made["metadata"].get("generation", 1)
    return generation


def _say_settings(key: str, accepted: Accepted | None) -> None:
    success(f"cluster {key} requested")
    if accepted is None:
        return
    settings = accepted.settings
    say(f"  provider     {accepted.provider.metadata.name}")
    say(f"  Kubernetes   {settings.version}")
    for pool in settings.pools:
        name = f" in pool {pool.name}" if pool.name else ""
        say(f"  workers      {pool.desired}{name}: {pool.cpu} cores, {pool.memory} memory, {pool.disk} disk")
    _warn_of(accepted.provider)


def _warn_of(provider: ProviderConfig) -> None:
    """It may be well again before the cluster needs it, so this is no reason to refuse."""
    ready = provider.status.condition("Ready")
    if ready is not None and ready.status != "True":
        say(f"Warning: provider {provider.metadata.name} is not ready, and the cluster waits for it: {ready.message}")


async def _finish(session: Session, name: str, wait: bool, patience: timedelta, generation: int) -> None:
    from .wait import wait_until_settled

    if wait:
        await wait_until_settled(session, name, patience, generation, "is ready")
    where = session.where
    next_steps(
        *([] if wait else [(f"butlerctl cluster watch {name}{where}", "see it come to life")]),
        (f"butlerctl cluster get {name}{where}", "how it is"),
        (f"butlerctl cluster kubeconfig {name}{where} --merge", "use it with kubectl"),
    )
