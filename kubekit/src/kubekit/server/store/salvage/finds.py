"""What is found in the pages of a damaged database.

Every version of an object carries a checksum of its value, so it can be told to be intact wherever it is found. Rows of
the other tables are known by their shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .. import database
from ..changes import Change
from . import cells
from .cells import Cell
from .pages import Page, Pages

Place = tuple[int, str]
"""Bucket and key."""
Names = tuple[str, str]
"""Space and resource of a bucket."""

_EVERY = 1000
_BEFORE_ALL = 1
"""The revision of a store in which nothing is yet."""
_RECORDS = ("space", "base")
_COLUMNS = 7
_HEAD = re.compile(rb"(?=[\x08-\x20]\x00[\x01-\x06\x08\x09])")
"""How the description of a version begins: its length, then nothing for the revision, which is the number of the row,
then the size of a bucket's number."""
_LONGEST_START = 18
"""Bytes before that, in which the length and the number of a row stand."""


@dataclass(frozen=True, slots=True)
class Version:
    """One intact version of an object, and where its value can be read."""

    revision: int
    bucket: int
    key: str
    change: Change
    page: Page | int
    """Its number, if that is enough to find it."""
    pointer: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """Which version of an object is the newest, and when it ends by itself."""

    revision: int
    expires: int | None


@dataclass
class Finds:
    """All that was found."""

    versions: dict[int, Version] = field(default_factory=dict)
    """By revision."""
    broken: dict[int, Place] = field(default_factory=dict)
    """Versions whose value is not what was written."""
    pointers: dict[Place, Pointer] = field(default_factory=dict)
    names: dict[int, Counter[Names]] = field(default_factory=dict)
    """How often each name was found for a bucket: each is written down twice."""
    replaced: dict[Place, int] = field(default_factory=dict)
    compacted: int | None = None
    """Up to which revision history was forgotten on purpose, if that can be read."""
    newest: int = 0
    """The newest revision that is known to have been."""
    unreadable: list[int] = field(default_factory=list)
    """Pages of which nothing, or not everything, can be read."""
    pointers_complete: bool = False
    """Whether an object to which nothing points is gone for sure."""

    def is_history(self, revision: int) -> bool:
        """Whether a version of that revision has not been forgotten on purpose."""
        return self.compacted is not None and revision > self.compacted

    def missing(self, acknowledged: int, *, is_log_damaged: bool) -> int:
        """How many revisions there should be that are not.

        In history, a gap is no proof of anything: what was in an API that was removed is gone too. So gaps count only
        where there is damage."""
        missing = max(0, acknowledged - self.newest)
        if self.compacted is not None and (self.unreadable or self.broken or is_log_damaged):
            known = self.versions.keys() | self.broken.keys()
            missing += sum(
                revision not in known for revision in range(max(self.compacted, _BEFORE_ALL) + 1, self.newest + 1)
            )
        return missing

    def buckets(self) -> dict[int, Names]:
        """The names of the buckets. Where there are two for one, those that others share are the right ones."""
        common: Counter[str] = Counter(part for found in self.names.values() for names in found for part in names)

        def likelihood(candidate: tuple[Names, int]) -> tuple[int, int]:
            names, count = candidate
            return count, sum(common[part] for part in names)

        return {number: max(found.items(), key=likelihood)[0] for number, found in self.names.items()}


def search(pages: Pages, acknowledged: int, progress: Callable[[str], None]) -> Finds:
    """Look through all pages. Versions that no commit is known of count only if they were acknowledged."""
    finds, unused, overflow = Finds(), pages.unused(), set[int]()
    unread: list[Page] = []
    for number in range(1, pages.count + 1):
        if number % _EVERY == 0:
            progress(f"page {number} of {pages.count}")
        page = pages.get(number)
        if page is None:
            finds.unreadable.append(number)
        elif number not in unused and not _take(finds, page, pages, overflow):
            unread.append(page)
    unread = [page for page in unread if page.number not in overflow]
    finds.unreadable += [page.number for page in unread]
    # Which page a damaged frame was of cannot be told for sure, so any may be older than it should.
    finds.pointers_complete = not pages.damaged_frames and _is_complete(pages)
    for page in unread:
        _add(finds, _carved(page, pages))
    for page in pages.doubtful:
        _add(finds, _carved(page, pages), lambda revision: revision <= acknowledged)
    pointed = {pointer.revision for pointer in finds.pointers.values()}
    for page in pages.superseded:
        _add(finds, _alone(page, pages), lambda revision: revision in pointed or finds.is_history(revision))
    finds.newest = max([0, *finds.versions, *finds.broken, *pointed])
    return finds


def value_of(version: Version, pages: Pages) -> bytes:
    """What an intact version holds."""
    page = pages.get(version.page) if isinstance(version.page, int) else version.page
    assert page is not None
    cell = cells.cell_at(page, version.pointer, pages, cells.TABLE)
    assert cell is not None
    value = cell.columns[6]
    assert isinstance(value, bytes)
    return value


def _take(finds: Finds, page: Page, pages: Pages, overflow: set[int]) -> bool:
    """Take in what stands in a page; answers whether all of it could be read."""
    if page.kind == cells.INNER_TABLE:
        return True
    if page.kind not in (cells.TABLE, cells.INDEX, cells.INNER_INDEX):
        return False
    is_whole = True
    for pointer in cells.pointers(page):
        cell = cells.cell_at(page, pointer, pages)
        if cell is None:
            is_whole = False
            continue
        overflow.update(cell.overflow)
        if page.kind == cells.TABLE:
            is_whole = _take_row(finds, cell, page, pointer) and is_whole
        else:
            _take_entry(finds, cell)
    return is_whole


def _alone(page: Page, pages: Pages) -> Finds:
    found = Finds()
    _take(found, page, pages, set())
    return found


def _carved(page: Page, pages: Pages) -> Finds:
    """What can be found in a page whose head is not to be trusted: a row may begin anywhere."""
    found = _alone(page, pages)
    for head in _HEAD.finditer(page.content, page.begin):
        for pointer in range(max(page.begin, head.start() - _LONGEST_START), head.start() - 1):
            cell = cells.cell_at(page, pointer, pages, cells.TABLE)
            if cell is not None and cell.row > 0 and len(cell.columns) == _COLUMNS:
                _take_row(found, cell, page, pointer)
    return found


def _add(finds: Finds, found: Finds, is_wanted: Callable[[int], bool] = lambda _: True) -> None:
    """Of a page that may not be what was written, take what is intact for sure, and names nobody else has."""
    for revision, version in found.versions.items():
        if is_wanted(revision):
            finds.versions.setdefault(revision, version)
    for number, names in found.names.items():
        finds.names.setdefault(number, names)


def _take_row(finds: Finds, cell: Cell, page: Page, pointer: int) -> bool:
    match cell.columns:
        case (None, int(bucket), str(key), int(change), int() | None, int(checksum), bytes(value)):
            if database.checksum_of(value) != checksum or change not in Change.__members__.values():
                finds.broken[cell.row] = (bucket, key)
                return False
            found_in = page.number if page.is_current else page
            finds.versions[cell.row] = Version(cell.row, bucket, key, Change(change), found_in, pointer)
        case (None, str(space), str(resource)):
            _take_names(finds, cell.row, (space, resource))
    return True


def _take_entry(finds: Finds, cell: Cell) -> None:
    match cell.columns:
        case (int(bucket), str(key), int(revision), int() | None as expires):
            finds.pointers[bucket, key] = Pointer(revision, expires)
        case (int(bucket), str(key), int(revision)):
            finds.replaced[bucket, key] = revision
        case (str(space), str(resource), int(number)):
            _take_names(finds, number, (space, resource))
        case ("compacted", int(revision)):
            finds.compacted = revision


def _take_names(finds: Finds, number: int, names: Names) -> None:
    if "/" in names[1] or names[1] in _RECORDS:
        finds.names.setdefault(number, Counter())[names] += 1


def _is_complete(pages: Pages) -> bool:
    """Whether the table of pointers can be read from its root to its last leaf."""
    first = pages.get(1)
    if first is None or first.kind != cells.TABLE:
        return False
    for cell in cells.cells(first, pages):
        match cell.columns if cell is not None else ():
            case ("table", "objects", "objects", int(root), str()):
                return _is_whole_tree(pages, root)
    return False


def _is_whole_tree(pages: Pages, root: int) -> bool:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        number = waiting.pop()
        page = pages.get(number)
        if page is None or page.is_stale or number in seen or page.kind not in (cells.INDEX, cells.INNER_INDEX):
            return False
        if any(cell is None or len(cell.columns) != 4 for cell in cells.cells(page, pages)):
            return False
        seen.add(number)
        if page.kind == cells.INNER_INDEX:
            waiting += cells.children(page)
    return True
