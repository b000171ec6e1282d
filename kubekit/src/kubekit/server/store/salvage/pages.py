"""The pages of a database and of its log, as far as they are there."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from . import journal, log

_SIZES = frozenset(1 << power for power in range(9, 17))
_TREE_PAGES = frozenset((2, 5, 10, 13))
_USUAL = (16384, 4096)
_SAMPLE = 8 * 1024 * 1024
_PART = 65536
_FILE_HEADER = 100


@dataclass(frozen=True, slots=True)
class Page:
    """What stands in a page, or once stood there."""

    number: int
    content: bytes
    is_current: bool = True
    """Whether it can be asked for again by its number."""
    is_stale: bool = False
    """Whether a newer version was in the log, and is damaged."""

    @property
    def begin(self) -> int:
        """Where the head of the page is: the first one begins with that of the file."""
        return _FILE_HEADER if self.number == 1 else 0

    @property
    def kind(self) -> int:
        return self.content[self.begin]


class Pages:
    """Every page in its newest version that is intact; reads only."""

    def __init__(self, database: Path) -> None:
        self._file = _File(database)
        beside = _File(database.with_name(f"{database.name}-wal"))
        logged = beside.read(0, beside.size)
        beside.close()
        self.size = _page_size(self._file, logged)
        undone = _File(database.with_name(f"{database.name}-journal"))
        self._current = journal.originals(undone.read(0, undone.size), self.size)
        undone.close()
        frames = log.frames(logged, self.size)
        ends = max(
            (index + 1 for index, frame in enumerate(frames) if frame.is_intact and frame.ends_commit), default=0
        )
        self._stale: set[int] = set()
        self.doubtful: list[Page] = []
        """What stands in damaged parts of the log, and what was not committed."""
        self.superseded: list[Page] = []
        """Versions of pages that newer ones took the place of, some of which may be lost."""
        for index, frame in enumerate(frames):
            if index < ends and frame.is_intact:
                if (before := self._version(frame.number)) is not None:
                    self.superseded.append(replace(before, is_current=False))
                self._current[frame.number] = frame.content
                self._stale.discard(frame.number)
            else:
                self.doubtful.append(Page(frame.number, frame.content, is_current=False))
                self._stale.add(frame.number)
        self.damaged_frames = sum(not frame.is_intact for frame in frames[:ends])
        self.count = max([-(-self._file.size // self.size), *self._current])

    def get(self, number: int) -> Page | None:
        return self._version(number) if 1 <= number <= self.count else None

    def _version(self, number: int) -> Page | None:
        found = self._current.get(number) or self._file.read((number - 1) * self.size, self.size)
        if not found:
            return None
        # A file that was cut short may end within a page.
        return Page(number, found.ljust(self.size, b"\0"), is_stale=number in self._stale)

    def close(self) -> None:
        self._file.close()

    def unused(self) -> set[int]:
        """Pages that are free: what stands in them was deleted. None, if the list of them is not to be trusted."""
        first = self.get(1)
        found: set[int] = set()
        trunk, total = struct.unpack_from(">II", first.content, 32) if first is not None else (0, 0)
        while (page := self.get(trunk)) is not None and trunk not in found:
            found.add(trunk)
            trunk, count = struct.unpack_from(">II", page.content)
            if count > self.size // 4 - 2:
                return set()
            found.update(struct.unpack_from(f">{count}I", page.content, 8))
        return found if len(found) == total and all(number <= self.count for number in found) else set()

    def chain(self, number: int) -> Iterator[Page]:
        """The pages a long value goes on in."""
        seen: set[int] = set()
        while number not in seen and (page := self.get(number)) is not None:
            seen.add(number)
            yield page
            (number,) = struct.unpack_from(">I", page.content)


class _File:
    """A file of which some parts may be unreadable, or all of it: those are zeros."""

    def __init__(self, path: Path) -> None:
        try:
            self._handle: int | None = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self.size = os.fstat(self._handle).st_size
        except OSError:
            self._handle, self.size = None, 0

    def read(self, begin: int, size: int) -> bytes:
        size = max(0, min(size, self.size - begin))
        parts = range(begin, begin + size, _PART)
        return b"".join(self._part(part, min(_PART, begin + size - part)) for part in parts)

    def _part(self, begin: int, size: int) -> bytes:
        try:
            return os.pread(self._handle, size, begin) if self._handle is not None else bytes(size)
        except OSError:
            return bytes(size)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)


def _page_size(file: _File, logged: bytes) -> int:
    """As the file says, unless its pages look more like those of another size."""
    sample = file.read(0, _SAMPLE)
    said = [int.from_bytes(sample[16:18], "big"), int.from_bytes(logged[8:12], "big")]
    candidates = [65536 if size == 1 else size for size in (*said, *_USUAL)]
    return max((size for size in candidates if size in _SIZES), key=lambda size: _likelihood(sample, logged, size))


def _likelihood(sample: bytes, logged: bytes, size: int) -> float:
    """Which part of what could be pages could be pages of this size."""
    pages = [(sample, begin, _FILE_HEADER if begin == 0 else 0) for begin in range(0, len(sample), size)]
    frames = range(log.HEADER + log.FRAME_HEADER, min(len(logged), _SAMPLE), size + log.FRAME_HEADER)
    pages += [(logged, begin, 0) for begin in frames]
    return sum(_looks_right(*page, size) for page in pages) / max(1, len(pages))


def _looks_right(content: bytes, begin: int, skip: int, size: int) -> bool:
    head = content[begin + skip : begin + skip + 8]
    if len(head) < 8 or head[0] not in _TREE_PAGES:
        return False
    cells, start = struct.unpack_from(">HH", head, 3)
    return bool(0 < cells < size // 4 and skip + 8 + 2 * cells <= (start or 65536) <= size)
