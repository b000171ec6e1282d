"""Making a data directory that starts out of one that does not, and saying what was lost on the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from kubekit.clock import Clock
from kubekit.errors import DataDamaged, DataInUse, StorageError
from kubekit.server.access.pki import ROOT, Pki
from kubekit.server.store import data_lock, high_water, inspection, private_files
from kubekit.server.store.salvage import rebuilt, survivors
from kubekit.server.store.salvage.finds import Finds, Names, Place, search, value_of
from kubekit.server.store.salvage.pages import Pages
from kubekit.server.store.salvage.rebuilt import Kept
from kubekit.server.store.salvage.survivors import Survivors

from . import space_record
from .beginnings import StoredBase

_DATABASE, _KEYS, _UNPLACED = "state.db", "pki", "unplaced.json"
_BASES = "base"
_PLAUSIBLE = 1_000_000
"""So many revisions may be missing at the end before the note of the newest is taken for damaged itself."""
Progress = Callable[[str], None]


class Loss(msgspec.Struct, frozen=True, rename="camel"):
    """An object that is not, or may not be, what it last was."""

    space: str
    resource: str
    key: str


class Report(msgspec.Struct, rename="camel", kw_only=True):
    """What was brought out of a damaged data directory, and what was not."""

    objects: int = 0
    """How many were brought out."""
    revision: int = 0
    """The next change will have the one after it."""
    lost: list[Loss] = []
    """Nothing of these can be read."""
    older: list[Loss] = []
    """The newest version of these is lost, and the one before was brought out."""
    doubtful: list[Loss] = []
    """These were brought out, and may have been deleted before."""
    unplaced: int = 0
    """Objects that can be read, but not what kind they are: they are in `unplaced.json`."""
    missing_revisions: int = 0
    """How many writes of the time before the damage are not there; of which objects, only the lists above say."""
    unreadable_pages: list[int] = []
    damaged_log_frames: int = 0
    remarks: list[str] = []
    """What else is different from before."""

    @property
    def is_complete(self) -> bool:
        return not (self.lost or self.older or self.doubtful or self.unplaced or self.missing_revisions or self.remarks)


def salvage(data: Path, target: Path, clock: Clock, say: Progress = lambda _: None) -> Report:
    """Bring what can be read of a data directory into a new one. The damaged one is only read.

    Raises DataInUse, DataDamaged when nothing can be read at all, and StorageError."""
    if data_lock.is_held(data):
        raise DataInUse(f"{data}: is in use; stop the process that uses it first")
    source = data / _DATABASE
    if not any(data.glob(f"{_DATABASE}*")):
        raise StorageError(f"{data}: there is no data to salvage ({_DATABASE} is missing)")
    report = Report(lost=[], older=[], doubtful=[], remarks=[])
    acknowledged = _acknowledged(source, report)
    with private_files.new_directory(target) as draft, closing(Pages(source)) as pages:
        say(f"reading {source}, {pages.count} pages")
        finds = search(pages, acknowledged, say)
        chosen = survivors.choose(finds, pages)
        if not chosen.places:
            raise DataDamaged(f"{source}: nothing in it can be read; restore a backup")
        say(f"writing {target}")
        try:
            _write(draft, finds, chosen, pages, report, acknowledged)
            report.remarks += Pki(draft / _KEYS, clock).salvage(data / _KEYS)
        except (OSError, sqlite3.DatabaseError) as error:
            raise StorageError(f"{target}: {getattr(error, 'strerror', None) or error}") from error
        say("checking what was written")
        inspection.check_whole(draft / _DATABASE)
    return report


def _acknowledged(source: Path, report: Report) -> int:
    try:
        return high_water.noted(source)
    except DataDamaged:
        report.remarks.append(f"{high_water.beside(source).name} cannot be read, which says what was acknowledged last")
        return 0


def _write(draft: Path, finds: Finds, chosen: Survivors, pages: Pages, report: Report, acknowledged: int) -> None:
    buckets = finds.buckets()
    plausible = acknowledged if acknowledged <= finds.newest + _PLAUSIBLE else 0
    report.revision = max(finds.newest, plausible, 1)
    report.missing_revisions = finds.missing(plausible, is_log_damaged=pages.damaged_frames > 0)
    report.unreadable_pages, report.damaged_log_frames = finds.unreadable, pages.damaged_frames
    report.lost, report.older, report.doubtful = (
        _losses(places, buckets) for places in (chosen.lost, chosen.older, chosen.doubtful)
    )
    unplaced = [place for place in chosen.places if place[0] not in buckets]
    if unplaced:
        report.unplaced = len(unplaced)
        found = [_shown(place, value_of(chosen.places[place], pages)) for place in sorted(unplaced)]
        private_files.write_private(draft / _UNPLACED, msgspec.json.format(msgspec.json.encode(found), indent=2))
    beginnings = _Beginnings(buckets, chosen, pages, report.remarks)
    beginnings.look()
    objects = _kept(finds, chosen, pages, buckets, beginnings)
    replaced = {place for place in finds.replaced if place[0] in buckets} | beginnings.replaced
    report.objects = rebuilt.write(draft / _DATABASE, buckets, objects, sorted(replaced), report.revision)


def _kept(
    finds: Finds, chosen: Survivors, pages: Pages, buckets: dict[int, Names], beginnings: _Beginnings
) -> Iterable[Kept]:
    for place, version in sorted(chosen.places.items(), key=lambda item: item[1].revision):
        names = buckets.get(place[0])
        if names is None or place in beginnings.dropped:
            continue
        value = beginnings.rewritten.get(place) or value_of(version, pages)
        pointer = finds.pointers.get(place)
        expires = pointer.expires if pointer is not None else rebuilt.expiry(names, value)
        yield Kept(place, version.revision, value, expires)


def _losses(places: Iterable[Place], buckets: dict[int, Names]) -> list[Loss]:
    found = [Loss(*buckets.get(bucket, ("", f"bucket {bucket}")), key) for bucket, key in places]
    return sorted(found, key=lambda loss: (loss.space, loss.resource, loss.key))


def _shown(place: Place, value: bytes) -> dict[str, object]:
    return {"bucket": place[0], "key": place[1], "value": msgspec.Raw(value)}


@dataclass
class _Beginnings:
    """What is known of spaces beside their objects: without it they could not be opened."""

    buckets: dict[int, Names]
    chosen: Survivors
    pages: Pages
    remarks: list[str]
    rewritten: dict[Place, bytes] = field(default_factory=dict)
    dropped: set[Place] = field(default_factory=set)
    replaced: set[Place] = field(default_factory=set)
    """Objects of bases that are stored, so that they are not there twice."""

    def look(self) -> None:
        bases = self._bases()
        records = {names[0]: number for number, names in self.buckets.items() if names[1] == space_record.RESOURCE}
        for space in sorted({names[0] for names in self.buckets.values()}):
            place = (records.get(space, 0), space_record.KEY)
            record = self._record(place)
            if record is None:
                self.dropped.add(place)
                kept = (
                    ""
                    if space == ROOT
                    else ", its keys too: it gets new ones, and its kubeconfigs must be handed out again"
                )
                self.remarks.append(f"{space}: what was known of this API is lost{kept}")
            elif record.begun is not None and record.begun.base not in bases:
                whole = msgspec.structs.replace(record, begun=None, furnished="")
                self.rewritten[place] = whole.encode()
                self.remarks.append(f"{space}: what this API began with is lost; what every API has is made anew")
            elif record.begun is not None:
                self._replace(space, bases[record.begun.base])

    def _bases(self) -> dict[str, StoredBase]:
        found: dict[str, StoredBase] = {}
        for place, version in self.chosen.places.items():
            if self.buckets.get(place[0]) == (ROOT, _BASES):
                try:
                    found[place[1]] = msgspec.json.decode(value_of(version, self.pages), type=StoredBase)
                except msgspec.DecodeError:
                    self.dropped.add(place)
        return found

    def _record(self, place: Place) -> space_record.Record | None:
        version = self.chosen.places.get(place)
        try:
            return space_record.decode(value_of(version, self.pages)) if version is not None else None
        except msgspec.DecodeError:
            return None

    def _replace(self, space: str, base: StoredBase) -> None:
        for place in self.chosen.places:
            name, resource = self.buckets.get(place[0], ("", ""))
            if name == space and place[1] in base.objects.get(resource, ()):
                self.replaced.add(place)
