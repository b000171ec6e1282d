"""butlerctl cluster list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kubekit.client.protocol import Selection
from kubekit.errors import BadRequest
from kubekit.model.ages import age

from ..command import command
from ..output import Lines, document, no_headers_option, output_option, say
from ..rows import ClusterRow
from ..session import Session
from .lookup import speaking_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_GONE = "Deleted"
_LONGEST = "Provisioning"
"""Phases that are still to come have room in a table that is watched."""


@command
@click.option("-A", "--all-namespaces", is_flag=True, help="Clusters of all namespaces.")
@click.option("-l", "--selector", default="", metavar="LABELS", help="Only those with these labels, such as env=prod.")
@output_option("table", "wide", "json", "yaml", "name")
@no_headers_option
@click.option("-w", "--watch", "is_watching", is_flag=True, help="Stay, and print a line for each that changes.")
def list_(
    session: Session, all_namespaces: bool, selector: str, output: str, no_headers: bool, is_watching: bool
) -> None:
    """List clusters.

    \b
    Example:
      butlerctl cluster list
      butlerctl cluster list -A -o wide
      butlerctl cluster list --watch
    """
    where = Selection("" if all_namespaces else session.namespace, selector)
    shown = Listing(session, where, output, no_headers)
    try:
        with speaking_of(session):
            rows: Sequence[ClusterRow] = session.reader.list(ClusterRow, where).items
    except BadRequest as error:
        raise click.BadParameter(str(error), param_hint="'-l' / '--selector'") from error
    if is_watching:
        shown.go_on(rows)
    else:
        shown.once(rows)


class Listing:
    """Clusters on the screen, in the form that was asked for."""

    def __init__(self, session: Session, where: Selection, output: str, no_headers: bool) -> None:
        self._session, self._where, self._output, self._no_headers = session, where, output, no_headers
        self._is_wide, self._is_everywhere = output == "wide", not where.namespace
        self._seen: dict[tuple[str, str], ClusterRow] = {}

    def once(self, rows: Sequence[ClusterRow]) -> None:
        if self._output in ("json", "yaml"):
            click.echo(document([_item(row) for row in rows], self._output))
        elif self._output == "name":
            click.echo("".join(f"{row.metadata.name}\n" for row in rows), nl=False)
        elif not rows:
            say(f"no clusters {'anywhere' if self._is_everywhere else f'in namespace {self._where.namespace}'}")
        else:
            lines = Lines(self._headings(), [self._cells(row) for row in rows])
            click.echo("\n".join(lines.of([self._cells(row) for row in rows], no_headers=self._no_headers)))

    def go_on(self, rows: Sequence[ClusterRow]) -> None:
        """Print what there is, then whatever changes, until somebody does not want to see more."""
        import asyncio

        self._session.when_interrupted = "stopped watching; the clusters go on"
        widest = [_LONGEST if heading == "PHASE" else "" for heading in self._headings()]
        lines = Lines(self._headings(), [widest, *(self._cells(row) for row in rows)])
        if self._output in ("table", "wide") and not self._no_headers:
            click.echo("\n".join(lines.of([], no_headers=False)))
        for row in self._news(rows):
            self._print(row, lines)

        async def follow() -> None:
            try:
                async for changed in self._changes():
                    self._print(changed, lines)
            finally:
                await self._session.close()

        asyncio.run(follow())

    async def _changes(self) -> AsyncIterator[ClusterRow]:
        from kubekit.client.endless_watch import follow
        from kubekit.client.protocol import Listed, Signal
        from kubekit.clock import SystemChance

        clock = self._session.clock
        async for change in follow(self._session.client, ClusterRow, self._where, clock=clock, chance=SystemChance()):
            if isinstance(change, Listed):
                there = {_key(row) for row in change.items}
                rows = [*change.items, *(_gone(row) for key, row in self._seen.items() if key not in there)]
            elif change.signal is Signal.BOOKMARK or change.item is None:
                continue
            else:
                rows = [_gone(change.item) if change.signal is Signal.DELETED else change.item]
            for row in self._news(rows):
                yield row

    def _news(self, rows: Sequence[ClusterRow]) -> Iterator[ClusterRow]:
        """Those of which something else would be shown than before."""
        for row in rows:
            before = self._seen.get(_key(row))
            if before is None or _item(before) != _item(row):
                yield row
            if row.status.phase == _GONE:
                self._seen.pop(_key(row), None)
            else:
                self._seen[_key(row)] = row

    def _print(self, row: ClusterRow, lines: Lines) -> None:
        if self._output in ("json", "yaml"):
            click.echo(("---\n" if self._output == "yaml" else "") + document(_item(row), self._output))
        elif self._output == "name":
            click.echo(row.metadata.name)
        else:
            click.echo("\n".join(lines.of([self._cells(row)])))

    def _headings(self) -> list[str]:
        space = ["NAMESPACE"] if self._is_everywhere else []
        more = ["ENDPOINT", "PROVIDER"] if self._is_wide else []
        return ["NAME", *space, "PHASE", "K8S VERSION", "WORKERS", "AGE", *more]

    def _cells(self, row: ClusterRow) -> list[str]:
        meta = row.metadata
        phase = f"{row.phase} (refused)" if row.is_refused and row.phase != "Failed" else row.phase
        space = [meta.namespace] if self._is_everywhere else []
        more = [row.status.control_plane_endpoint or "", row.provider] if self._is_wide else []
        old = age(meta.creation_timestamp, self._session.clock.now())
        return [meta.name, *space, phase, row.version, row.workers, old, *more]


def _key(row: ClusterRow) -> tuple[str, str]:
    return row.metadata.namespace, row.metadata.name


def _gone(row: ClusterRow) -> ClusterRow:
    return msgspec.structs.replace(row, status=msgspec.structs.replace(row.status, phase=_GONE))


def _item(row: ClusterRow) -> dict[str, Any]:
    """A cluster in a few words, for programs; `cluster get -o json` has all of it."""
    return {
        "name": row.metadata.name,
        "namespace": row.metadata.namespace,
        "phase": row.phase,
        "kubernetesVersion": row.version or None,
        "workers": {"ready": row.status.worker_nodes_ready or 0, "desired": row.desired},
        "endpoint": row.status.control_plane_endpoint,
        "tenantNamespace": row.status.tenant_namespace,
        "providerConfig": row.provider or None,
        "creationTime": row.metadata.creation_timestamp,
    }
