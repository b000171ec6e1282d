"""butlerctl cluster plan."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from .. import completion
from ..command import command
from ..lazy import REFUSED
from ..merge_patch import merged
from ..output import document, is_coloured, output_option, plain
from ..session import Session
from .flags import change_of, cluster_flags, filename_option
from .lookup import speaking_of

if TYPE_CHECKING:
    from butler.controllers.cluster.change_plan import Action, AddonChange, Change, MachineChange, Plan

    from ..object_draft import Draft

_SIGNS = {"create": ("+", "green"), "change": ("~", "yellow"), "delete": ("-", "red"), "replace": ("±", "magenta")}
_DONE = {"create": "to create", "change": "to change", "delete": "to delete", "replace": "to replace"}
_INSTALLED = {"create": "to install", "change": "to install anew", "delete": "to remove"}


@command
@click.argument("name", required=False, shell_complete=completion.clusters)
@filename_option
@click.option("--delete", "deletes", is_flag=True, help="What would go if the cluster were destroyed.")
@output_option("text", "json", "yaml")
@cluster_flags
async def plan(
    session: Session, name: str | None, filename: str | None, deletes: bool, output: str, **flags: Any
) -> None:
    """Show what creating, changing or destroying a cluster would do, without doing it.

    A cluster that exists is planned with the flags, or the file, on top of what it is.

    \b
    Example:
      butlerctl cluster plan shop --workers 3
      butlerctl cluster plan shop --k8s-version v1.33.1
      butlerctl cluster plan shop --delete
    """
    from butler.controllers.cluster import change_plan
    from kubekit.errors import Invalid

    from . import cluster_draft

    if deletes and (filename or any(value is not None for value in flags.values())):
        raise click.UsageError("--delete goes with no other description of the cluster")
    if deletes and not name:
        raise click.UsageError("--delete needs a NAME")
    with speaking_of(session, name or ""):
        if deletes:
            found = await change_plan.plan_deletion(session.client, session.namespace, name or "")
        else:
            draft = await _wanted(session, name, filename, flags)
            name = draft["metadata"]["name"]
            what = f"cluster {session.namespace}/{name} would be refused"
            try:
                found = await change_plan.plan_change(session.client, cluster_draft.typed(draft, what))
            except Invalid as error:
                raise cluster_draft.invalid(what, error, REFUSED) from error
    if output == "text":
        click.echo("\n".join(_text(found, f"{session.namespace}/{name}")))
    else:
        click.echo(document(_item(found), output))


async def _wanted(session: Session, name: str | None, filename: str | None, flags: dict[str, Any]) -> Draft:
    """The cluster as it is to be: the one that exists, changed, or a new one."""
    from kubekit.errors import NotFound

    from ..rows import CLUSTERS
    from .create import drafted

    if not filename and name:
        try:
            found: Draft = await session.client.get(CLUSTERS, name, session.namespace)
        except NotFound as error:
            if error.details is None or not error.details.name:
                raise
        else:
            changed: Draft = merged(found, change_of(flags))
            return changed
    return drafted(session, name, filename, flags)


def _text(found: Plan, key: str) -> Iterator[str]:
    if found.is_empty:
        yield f"cluster {key}: nothing would change"
    else:
        yield f"cluster {key}: {_counts(found)}"
    for step, changes in groupby(found.changes, key=lambda change: change.step):
        yield f"\n{step or 'The cluster itself'}"
        yield from map(_change, changes)
    if found.machines:
        yield "\nMachines"
        yield from map(_machines, found.machines)
    if found.addons:
        yield "\nAddons"
        yield from map(_addon, found.addons)
    if found.notes:
        yield ""
        yield from (f"note: {plain(note)}" for note in found.notes)


def _counts(found: Plan) -> str:
    objects: Counter[str] = Counter(change.action.value for change in found.changes)
    machines: Counter[str] = Counter()
    for one in found.machines:
        machines[one.action.value] += one.count
    addons: Counter[str] = Counter(one.action.value for one in found.addons)
    return ", ".join(
        f"{count} {noun if count == 1 else f'{noun}s'} {words[action]}"
        for noun, counts, words in (
            ("object", objects, _DONE),
            ("machine", machines, _DONE),
            ("addon", addons, _INSTALLED),
        )
        for action, count in counts.items()
    )


def _change(change: Change) -> str:
    where = f"{change.namespace}/{change.name}" if change.namespace else change.name
    fields = f"   {', '.join(change.fields)}" if change.fields else ""
    return f"  {_sign(change.action)} {change.kind} {where}{fields}"


def _machines(one: MachineChange) -> str:
    pool = f"pool {one.pool}" if one.pool else "the workers without a pool"
    which = one.name or f"{one.count} of {pool}"
    return f"  {_sign(one.action)} {which}   {plain(one.reason)}".rstrip()


def _addon(one: AddonChange) -> str:
    return f"  {_sign(one.action)} {one.name} {one.version}   {plain(one.reason)}"


def _sign(action: Action) -> str:
    sign, colour = _SIGNS[action.value]
    return click.style(sign, fg=colour) if is_coloured(sys.stdout) else sign


def _item(found: Plan) -> dict[str, Any]:
    return {
        "changes": [
            {
                "action": change.action.value,
                "step": change.step,
                "kind": change.kind,
                "namespace": change.namespace or None,
                "name": change.name,
                "fields": list(change.fields),
            }
            for change in found.changes
        ],
        "machines": [
            {
                "action": one.action.value,
                "pool": one.pool or None,
                "name": one.name or None,
                "count": one.count,
                "reason": one.reason,
            }
            for one in found.machines
        ],
        "addons": [
            {"action": one.action.value, "name": one.name, "version": one.version, "reason": one.reason}
            for one in found.addons
        ],
        "notes": list(found.notes),
    }
