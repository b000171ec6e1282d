"""butlerctl cluster edit."""

from __future__ import annotations

import os
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from kubekit.errors import ApiError

from .. import completion
from ..command import command
from ..lazy import USAGE, Failure, exit_code
from ..merge_patch import difference
from ..object_draft import Draft
from ..options import timeout_option, wait_option
from ..output import as_yaml, say, success
from ..rows import CLUSTERS
from ..session import Session
from . import cluster_draft
from .change import change, send
from .export import exportable
from .flags import Size, change_of
from .lookup import cluster_name, speaking_of

_HEAD = """\
# Change the cluster and save. Lines that begin with '#' do not count.
# Leave it as it is, or empty, to change nothing.
"""


@command
@cluster_name
@click.option("-w", "--workers", "--workers-replicas", type=int, help="How many workers.")
@click.option("--cpu", "--workers-cpu", type=int, help="Cores of a worker.")
@click.option("--memory", "--workers-memory", type=Size("Mi"), help="Memory of a worker, such as 16Gi.")
@click.option("--disk", "--workers-disk", type=Size("Gi"), help="Root disk of a worker, such as 100Gi.")
@click.option("--k8s-version", "--kubernetes-version", shell_complete=completion.versions, help="Kubernetes version.")
@wait_option
@timeout_option("30m")
async def edit(session: Session, name: str, wait: bool, patience: timedelta, **flags: Any) -> None:
    """Change a cluster in your editor, or by flags.

    The editor is $VISUAL, else $EDITOR, else vi. What is refused is opened again with the reason; nothing is lost.

    \b
    Example:
      butlerctl cluster edit shop
      butlerctl cluster edit shop --workers 5 --memory 16Gi
    """
    key = f"{session.namespace}/{name}"
    if any(value is not None for value in flags.values()):
        generation, is_new = await change(session, name, lambda _: change_of(flags), "changed")
    else:
        generation, is_new = await _by_hand(session, name)
    success(f"cluster {key} changed" if is_new else f"cluster {key}: nothing to change")
    if wait:
        from .wait import wait_until_settled

        await wait_until_settled(session, name, patience, generation, "is as you want it")


async def _by_hand(session: Session, name: str) -> tuple[int, bool]:
    """Let someone edit until it is accepted; answers the generation, and whether it is another than before."""
    with speaking_of(session, name):
        found = await session.client.get(CLUSTERS, name, session.namespace)
    original, before = exportable(found), found["metadata"].get("generation", 0)
    text = as_yaml(original)
    problem: Failure | None = None
    path = _scratch(name)
    while True:
        _write(path, problem, text)
        _open_editor(path)
        saved = _without_head(path.read_text())
        if not saved.strip() or saved == text:
            _leave_alone(path, problem)
            return before, False
        text = saved
        try:
            generation = await _accept(session, name, original, text)
        except ApiError as error:
            problem = Failure(str(error), exit_code(error))
            continue
        except Failure as failure:
            problem = failure
            continue
        path.unlink()
        return generation or before, generation is not None


def _scratch(name: str) -> Path:
    handle, path = tempfile.mkstemp(prefix=f"butler-{name}-", suffix=".yaml")
    os.close(handle)
    return Path(path)


def _write(path: Path, problem: Failure | None, text: str) -> None:
    said = "".join(f"# {line}\n" for line in str(problem).splitlines())
    path.write_text(f"{_HEAD}#\n{said}{text}" if problem else f"{_HEAD}{text}")


def _without_head(text: str) -> str:
    lines = text.splitlines(keepends=True)
    first = next((index for index, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[first:])


def _open_editor(path: Path) -> None:
    """Raises Failure when there is no editor, or it says that something went wrong."""
    import shlex
    import subprocess

    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        done = subprocess.run([*words, str(path)], check=False)  # noqa: S603 - the user's own editor
    except OSError as error:
        raise Failure(f"{words[0]}: {error.strerror or error}; set EDITOR to one that is there") from error
    if done.returncode:
        raise Failure(f"{words[0]} ended with {done.returncode}; your text is in {path}, and nothing was changed")


def _leave_alone(path: Path, problem: Failure | None) -> None:
    """Raises Failure, and keeps the text, when it was refused before."""
    if problem is None:
        path.unlink()
        return
    say(f"your text is in {path}")
    raise problem


async def _accept(session: Session, name: str, original: Draft, text: str) -> int | None:
    """Check and send what was written. Raises Failure, ApiError."""
    what = f"cluster {session.namespace}/{name} cannot be changed like this"
    draft = cluster_draft.parsed(text, "your text")
    for field in ("name", "namespace"):
        if draft["metadata"].get(field) != original["metadata"][field]:
            raise Failure(
                f"{what}:\n  metadata.{field}: stays {original['metadata'][field]}; it cannot be changed", USAGE
            )
    patch = difference(original, draft)
    if not patch:
        return None
    live = await session.client.get(CLUSTERS, name, session.namespace)
    await cluster_draft.judged(session, {**draft, "status": live.get("status", {})}, what)
    return await send(session, name, patch, "", what)
