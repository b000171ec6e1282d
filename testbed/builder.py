"""Make what is missing, one part after another; what was made before an interruption stays."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed.go import run_go
from testbed.manifests import extract
from testbed.parts import Manifests, Program
from testbed.places import arguments, kept, linked, root


def build(parts: Iterable[Program | Manifests]) -> None:
    """Make each part once and link it where it is looked for. Raises BuildFailed."""
    parts = tuple(parts)
    with _alone():
        missing = [part for part in parts if not kept(part).exists()]
        for number, part in enumerate(missing, 1):
            what = part.name if isinstance(part, Program) else f"manifests of {part.name}"
            _make(part, f"{number} of {len(missing)}: {what}")
        for part in parts:
            _link(part)


def is_missing(part: Program | Manifests) -> bool:
    return not linked(part).exists()


def _make(part: Program | Manifests, title: str) -> None:
    progress = _Progress(title)
    place = kept(part)
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_name(f".{place.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.unlink(missing_ok=True)
    if isinstance(part, Program):
        verb, *rest = arguments(part)
        run_go(part.folder, verb, "-o", str(unfinished), *rest, tick=progress.tick)
    else:
        unfinished.mkdir()
        extract(part, unfinished)
    # It appears whole or not at all.
    unfinished.rename(place)
    progress.end()


def _link(part: Program | Manifests) -> None:
    place, link = kept(part), linked(part)
    link.parent.mkdir(parents=True, exist_ok=True)
    target = os.path.relpath(place, link.parent)
    if link.is_symlink() and os.readlink(link) == target:
        return
    unfinished = link.with_name(f".{link.name}")
    unfinished.unlink(missing_ok=True)
    unfinished.symlink_to(target)
    unfinished.rename(link)


@contextmanager
def _alone() -> Iterator[None]:
    """Two builds at once would only slow each other down: the second waits and finds everything made."""
    root().mkdir(parents=True, exist_ok=True)
    with Path(root(), "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("testbed: waiting for another build", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class _Progress:
    """One line per part; on a terminal the seconds count while it is made."""

    def __init__(self, title: str) -> None:
        self._title, self._started = title, time.monotonic()
        self._is_live = sys.stderr.isatty()
        if not self._is_live:
            print(f"testbed: {title}", file=sys.stderr, flush=True)

    def tick(self) -> None:
        if self._is_live:
            print(f"\rtestbed: {self._title}, {self._seconds()} s", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        start = "\r" if self._is_live else ""
        print(f"{start}testbed: {self._title}, done in {self._seconds()} s", file=sys.stderr, flush=True)

    def _seconds(self) -> int:
        return round(time.monotonic() - self._started)
