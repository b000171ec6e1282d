"""butlerctl cluster kubeconfig."""

from __future__ import annotations

import base64
import os
import shlex
from pathlib import Path
from typing import Any

import click

from butler import advice
from kubekit.client import kubeconfig as kubeconfigs
from kubekit.client import kubeconfig_edit as writing
from kubekit.errors import NotFound
from kubekit.model.resource import Address

from ..command import command
from ..lazy import MISSING, REFUSED, Failure
from ..output import say, success
from ..rows import ClusterRow
from ..session import Session, is_of_platform
from .lookup import cluster_name, speaking_of

_SECRET = Address("", "v1", "Secret", "secrets", True)
_KEYS = ("admin.conf", "kubeconfig", "value")


@command
@cluster_name
@click.option("-o", "--output", metavar="PATH|-", help="Where to write it; - or nothing is stdout.")
@click.option(
    "--merge",
    is_flag=True,
    help="Add it to the first file of KUBECONFIG, else to ~/.kube/config; never to a platform's own.",
)
@click.option("--as", "context_as", metavar="NAME", show_default="the cluster's", help="Name of the merged context.")
@click.option(
    "--set-context/--no-set-context",
    default=None,
    show_default="unless butlerctl finds the platform by it",
    help="Make it the current context.",
)
@click.option("--overwrite", is_flag=True, help="Replace a context of that name that leads elsewhere.")
def kubeconfig(
    session: Session,
    name: str,
    output: str | None,
    merge: bool,
    context_as: str | None,
    set_context: bool | None,
    overwrite: bool,
) -> None:
    """Get the kubeconfig of a cluster.

    \b
    Example:
      butlerctl cluster kubeconfig shop > shop.kubeconfig
      butlerctl cluster kubeconfig shop --merge
      kubectl --context shop get nodes
    """
    if merge and output:
        raise click.UsageError("--merge and --output are two places to write to; use one of them")
    content = _content(session, name)
    if merge:
        _merge(session, content, name, context_as or name, set_context, overwrite)
    elif output and output != "-":
        write_private(Path(output), content)
        success(f"kubeconfig of {session.namespace}/{name} written to {output}")
        say(f"\nNext step:\n  {advice.get_nodes(f' --kubeconfig {shlex.quote(output)}')}")
    else:
        click.echo(content, nl=False)


def _content(session: Session, name: str) -> bytes:
    with speaking_of(session, name):
        cluster: ClusterRow = session.reader.get(ClusterRow, name, session.namespace)
        missing = Failure(
            f"cluster {session.namespace}/{name} has no kubeconfig yet: it is {cluster.phase}; "
            f"`{advice.why(name, session.where)}` says what it waits for",
            MISSING,
        )
        if not cluster.status.tenant_namespace:
            raise missing
        try:
            secret = session.reader.get(_SECRET, f"{name}-admin-kubeconfig", cluster.status.tenant_namespace)
        except NotFound as error:
            raise missing from error
    found: dict[str, Any] = secret.get("data") or {}
    key = next((key for key in _KEYS if found.get(key)), None)
    if key is None:
        raise missing
    return base64.b64decode(found[key])


def _merge(
    session: Session, content: bytes, name: str, context: str, set_context: bool | None, overwrite: bool
) -> None:
    path = _target(session)
    is_current = not _leads_to_platform(session, path) if set_context is None else set_context
    taken = f"kubeconfig of cluster {name}"
    entry = writing.entry_from(content, context, taken, user_name=f"{context}-admin")
    if not overwrite:
        _check_free(path, entry)
    writing.put(path, entry, current=is_current)
    success(f'context "{context}" is in {path}')
    if set_context is None and not is_current:
        say("The current context stays, because butlerctl finds the platform by it; --set-context changes it.")
    where = "" if path in kubeconfigs.paths(session.environ) else f" --kubeconfig {shlex.quote(str(path))}"
    where += "" if is_current else f" --context {shlex.quote(context)}"
    say(f"\nNext step:\n  {advice.get_nodes(where)}")


def _target(session: Session) -> Path:
    """The file that kubectl would put a new context into. A platform's own is none: whatever else stood in it would be
    lost with the next start, and another current context would keep every butlerctl from the platform."""
    named = [path for path in kubeconfigs.paths(session.environ) if not is_of_platform(path, session.environ)]
    if not named:
        return kubeconfigs.default_path({**session.environ, "KUBECONFIG": ""})
    return kubeconfigs.default_path({**session.environ, "KUBECONFIG": os.pathsep.join(map(str, named))})


def _leads_to_platform(session: Session, path: Path) -> bool:
    """Whether butlerctl finds the platform by the current context of what is to be changed."""
    if session.wishes.kubeconfig or session.wishes.context:
        return False
    listed = kubeconfigs.paths(session.environ)
    return path in listed and Path(session.config.source) in listed


def _check_free(path: Path, entry: writing.Entry) -> None:
    """Nothing of somebody else's is replaced. Raises Failure."""
    known = kubeconfigs.read(path) if path.exists() else None
    if known is None or entry.name not in known.contexts:
        return
    server = known.config(entry.name).cluster.server
    if server != entry.cluster.get("server", "").rstrip("/"):
        raise Failure(
            f'{path} has a context "{entry.name}" already, for {server}; replace it with --overwrite, or choose '
            "another name with --as",
            REFUSED,
        )


def write_private(path: Path, content: bytes) -> None:
    """Put a file there in one step, readable by its owner only. Raises Failure."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "wb") as file:
            file.write(content)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Failure(f"{path}: {error.strerror or error}") from error
