"""Releases by the real Helm."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import msgspec

from kubekit.clock import Clock, SystemClock
from kubekit.errors import KubeError
from kubekit.model.resource import Object

from . import failures, locks, program, records, workspace
from .archives import Archives
from .charts import LOCAL, Mirrors, content_digest, no_mirrors
from .errors import HelmError, ReleaseBusy, ReleaseNotReady, ReleaseRefused
from .objects import definitions, drift, health, live, manifest
from .objects.kinds import Kinds
from .program import Program, Ran
from .protocol import Cluster, Deployed, Difference, Place, Release, Rendered, Unready
from .records import Record, ReleaseStatus
from .redaction import Redaction
from .session import Session, public_names
from .workspace import Workspace

_USUAL = timedelta(minutes=5)
_MARK = "Deployed by Butler as "


class Helm:
    """`butler.engines.helm.protocol.Releases` by the `helm` program, version 3 or 4.

    `folder` is for this process and those after it: charts that were fetched, locks, and private folders of runs."""

    def __init__(
        self,
        folder: Path,
        helm: Path | None = None,
        *,
        mirrors: Mirrors = no_mirrors,
        most: int = 4,
        clock: Clock | None = None,
    ) -> None:
        self._runs, self._locks = folder / "runs", folder / "locks"
        workspace.sweep(self._runs)
        self.program = Program(helm or program.find(), most=most)
        self._archives = Archives(self.program, folder / "charts", mirrors)
        self._kinds = Kinds()
        self._clock = clock or SystemClock()

    async def find(self, cluster: Cluster, place: Place) -> Record | None:
        place.check()
        return await records.newest(cluster.client, place.name, place.namespace)

    async def is_current(self, release: Release, found: Record) -> bool:
        return _is_current(found, await _mark(release))

    async def history(self, cluster: Cluster, place: Place) -> tuple[Record, ...]:
        place.check()
        return await records.history(cluster.client, place.name, place.namespace)

    async def deploy(self, cluster: Cluster, release: Release, *, again: bool = False) -> Deployed:
        release.chart.check()
        mark = await _mark(release)
        found = await self.find(cluster, release.place)
        if not again and _is_current(found, mark):
            assert found is not None
            locks.clear(self._locks, cluster, release.place)
            return Deployed(found, changed=False)
        with self._session(cluster, release.place, found) as session:
            found = await self._recovered(session, patience_of(release.timeout))
            chart = await self._archives.put(release.chart, release.credentials, session.workspace)
            await session.open(release)
            if found is not None and release.update_definitions and found.chart_version != release.chart.version:
                await self._update_definitions(session, release, chart)
            flags = session.commands.upgrade(release, chart, f"{_MARK}{mark}")
            ran = await session.run(*flags, revision=_next(found), patience=patience_of(release.timeout))
            if not ran.succeeded:
                await self._fail(session, release, ran, found)
        record = await self.find(cluster, release.place)
        if record is None:
            raise HelmError(str(release.place), "Helm says it is deployed, and the cluster has no record of it")
        return Deployed(record, changed=True)

    async def _update_definitions(self, session: Session, release: Release, chart: Path) -> None:
        patience = patience_of(release.timeout)
        ran = await session.run(*session.commands.template(release, chart), patience=patience)
        if not ran.succeeded:
            raise failures.of_release(str(release.place), ran, session.redaction)
        found = await asyncio.to_thread(definitions.in_crds, ran.output, str(release.place))
        await definitions.write(session.cluster.client, found)

    async def _fail(self, session: Session, release: Release, ran: Ran, before: Record | None) -> None:
        """Raise what went wrong, after it was undone."""
        error = failures.of_release(str(release.place), ran, session.redaction)
        if isinstance(error, ReleaseNotReady):
            error = await self._not_ready(session, error)
        revisions = await self.history(session.cluster, release.place)
        is_written = bool(revisions) and revisions[-1].revision == _next(before)
        good = [one for one in revisions if _is_good(one, revisions[-1])]
        if release.roll_back and is_written and good:
            try:
                await self._roll_back(session, good[-1].revision, release.timeout)
            except HelmError as another:
                raise error from another
            error.rolled_back = True
        raise error

    async def _not_ready(self, session: Session, error: ReleaseNotReady) -> ReleaseNotReady:
        try:
            objects = await self.health(session.cluster, session.place)
        except KubeError:
            return error
        return ReleaseNotReady(str(session.place), error.message, tuple(map(str, objects)))

    async def rollback(self, cluster: Cluster, place: Place, revision: int = 0) -> Record:
        with self._session(cluster, place, await self.find(cluster, place)) as session:
            await self._recovered(session, patience_of(_USUAL))
            target = revision or _last_good(await self.history(cluster, place), place)
            await self._roll_back(session, target, _USUAL)
        record = await self.find(cluster, place)
        assert record is not None
        return record

    async def _roll_back(self, session: Session, revision: int, limit: timedelta, hooks: bool = True) -> None:
        await session.open()
        newest = await self.find(session.cluster, session.place)
        flags = session.commands.rollback(session.place, revision, limit, hooks)
        ran = await session.run(*flags, revision=_next(newest), patience=patience_of(limit))
        if not ran.succeeded:
            raise failures.of_release(f"{session.place}: rollback to revision {revision}", ran, session.redaction)

    async def uninstall(self, cluster: Cluster, place: Place, *, wait: bool = True) -> bool:
        found = await self.find(cluster, place)
        if found is None:
            return False
        with self._session(cluster, place, found) as session:
            found = await self.find(cluster, place)
            if found is not None:
                self._check_idle(session, found, patience_of(_USUAL))
                await self._uninstall(session, found, wait)
        return True

    async def _uninstall(self, session: Session, found: Record, wait: bool = True, hooks: bool = True) -> None:
        await session.open()
        flags = session.commands.uninstall(session.place, _USUAL, wait, hooks)
        ran = await session.run(*flags, revision=found.revision, patience=patience_of(_USUAL))
        if not ran.succeeded:
            raise failures.of_release(f"{session.place}: uninstall", ran, session.redaction)

    async def _recovered(self, session: Session, stale: float) -> Record | None:
        """The newest revision, after what a killed run left was brought to an end."""
        found = await self.find(session.cluster, session.place)
        if found is None or not found.is_unfinished:
            return found
        self._check_idle(session, found, stale)
        good = [one for one in await self.history(session.cluster, session.place) if _is_good(one, found)]
        if good and found.status is not ReleaseStatus.UNINSTALLING:
            # Only Helm's own way back also removes what the dead run had already added.
            await self._roll_back(session, good[-1].revision, _USUAL, hooks=False)
        else:
            await self._uninstall(session, found, hooks=False)
        return await self.find(session.cluster, session.place)

    def _check_idle(self, session: Session, found: Record, stale: float) -> None:
        """Raises ReleaseBusy unless nobody can be at work: our own run is dead, or so old that any would be."""
        if not found.is_unfinished or session.abandoned == found.revision:
            return
        age = (self._clock.now() - found.begun_at).total_seconds() if found.begun_at else stale
        if age < stale:
            message = f"revision {found.revision} is {found.status}, by somebody who may still be at work"
            raise ReleaseBusy(str(session.place), message)

    async def render(self, cluster: Cluster, release: Release) -> Rendered:
        release.place.check()
        release.chart.check()
        with Workspace(self._runs) as folder:
            session = Session(self.program, cluster, release.place, folder)
            chart = await self._archives.put(release.chart, release.credentials, folder)
            await session.open(release)
            ran = await session.run(*session.commands.dry_run(release, chart), patience=patience_of(release.timeout))
            if ran.succeeded:
                return Rendered(msgspec.json.decode(ran.output, type=_Output).manifest, is_exact=True)
            error = failures.of_release(str(release.place), ran, session.redaction)
            if not isinstance(error, ReleaseRefused):
                raise error
            ran = await session.run(*session.commands.template(release, chart), patience=patience_of(release.timeout))
            if not ran.succeeded:
                raise failures.of_release(str(release.place), ran, session.redaction)
            return Rendered(ran.output, is_exact=False)

    async def drift(self, cluster: Cluster, place: Place, record: Record | None = None) -> tuple[Difference, ...]:
        record = record or await self.find(cluster, place)
        if record is None or record.status is not ReleaseStatus.DEPLOYED:
            return ()
        declared = await _objects(record, place)
        return await drift.differences(
            cluster, place, await live.found(cluster, self._kinds, declared, place.namespace)
        )

    async def repair(self, cluster: Cluster, place: Place, differences: tuple[Difference, ...]) -> None:
        wanted = [manifest.ref_of(one.wanted) for one in differences]
        addresses = await self._kinds.addresses(cluster, {(ref.api_version, ref.kind) for ref in wanted})
        for ref, one in zip(wanted, differences, strict=True):
            address = addresses.get((ref.api_version, ref.kind))
            if address is None:
                raise ReleaseRefused(str(place), f"{one.object}: the cluster does not know this kind")
            await cluster.client.apply(one.wanted, address, manager=drift.MANAGER)

    async def health(self, cluster: Cluster, place: Place, record: Record | None = None) -> tuple[Unready, ...]:
        record = record or await self.find(cluster, place)
        if record is None:
            return (Unready(str(place), "is missing"),)
        declared = [one for one in await _objects(record, place) if health.has_health(one)]
        redaction = Redaction(record.values, public=public_names(place, record.chart))
        found = await live.found(cluster, self._kinds, declared, place.namespace)
        answers = (health.unready(one, redaction) for one in found)
        return tuple(one for one in answers if one is not None)

    @contextmanager
    def _session(self, cluster: Cluster, place: Place, found: Record | None) -> Iterator[Session]:
        with locks.held(self._locks, cluster, place) as lock, Workspace(self._runs) as folder:
            yield Session(self.program, cluster, place, folder, lock, found)


class _Output(msgspec.Struct):
    manifest: str = ""


def patience_of(timeout: timedelta) -> float:
    """Seconds that a run may take as a whole: hooks before, objects, hooks after, and a start."""
    return 3 * timeout.total_seconds() + 60


async def _objects(record: Record, place: Place) -> tuple[Object, ...]:
    return await asyncio.to_thread(manifest.objects, record.manifest, str(place))


async def _mark(release: Release) -> str:
    """By which a revision is known to be just what is wanted: the chart, who vouches for it, and all values."""
    chart = release.chart
    if chart.scheme == LOCAL:
        origin = await asyncio.to_thread(content_digest, chart.local())
    else:
        origin = chart.repository.rstrip("/")
    told = (origin, chart.name, chart.version, chart.digest, release.values)
    return hashlib.sha256(msgspec.json.encode(told, order="sorted")).hexdigest()


def _is_current(found: Record | None, mark: str) -> bool:
    return found is not None and found.status is ReleaseStatus.DEPLOYED and found.description == f"{_MARK}{mark}"


def _next(found: Record | None) -> int:
    return found.revision + 1 if found else 1


def _is_good(record: Record, newest: Record) -> bool:
    return record.revision < newest.revision and record.status in (ReleaseStatus.DEPLOYED, ReleaseStatus.SUPERSEDED)


def _last_good(history: tuple[Record, ...], place: Place) -> int:
    good = [one.revision for one in history if _is_good(one, history[-1])]
    if not good:
        raise ReleaseRefused(str(place), "there is no earlier revision to go back to")
    return good[-1]
