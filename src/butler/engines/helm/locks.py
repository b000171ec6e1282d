"""Who works on a release: a lock that lasts as long as the run of Helm does, even when we are killed.

The lock is held on an open file that the run inherits: while it lives, nobody else gets it. The file says which
revision the last run was about to write, until that run has come to its end before our eyes. Where the cluster has
this very revision unfinished, and the lock can be had, the run is dead for certain."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import ReleaseBusy
from .protocol import Cluster, Place


class Lock:
    """A lock that is held."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        written = os.pread(descriptor, 32, 0)
        self.abandoned = int(written) if written.isdigit() else 0
        """The revision of the run that was not seen to end; 0 when there is none."""

    def begin(self, revision: int) -> None:
        """Before Helm starts: write down which revision it will write, or remove."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, str(revision).encode(), 0)
        os.fsync(self.descriptor)

    def end(self) -> None:
        """Helm has ended by itself: nothing is abandoned."""
        os.ftruncate(self.descriptor, 0)


@contextmanager
def held(folder: Path, cluster: Cluster, place: Place) -> Iterator[Lock]:
    """The lock on a release. Raises ReleaseBusy when a run of ours, or of a process before us, has it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _path(folder, cluster, place)
    descriptor = _taken(path, place)
    try:
        yield Lock(descriptor)
    finally:
        if os.fstat(descriptor).st_size == 0:
            path.unlink(missing_ok=True)
        os.close(descriptor)


def clear(folder: Path, cluster: Cluster, place: Place) -> None:
    """The run that was not seen to end has done its work: nothing is abandoned. One that still runs is left alone."""
    if _path(folder, cluster, place).exists():
        with suppress(ReleaseBusy), held(folder, cluster, place) as lock:
            lock.end()


def _path(folder: Path, cluster: Cluster, place: Place) -> Path:
    key = f"{cluster.config.cluster.server}\0{place.namespace}\0{place.name}"
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.lock"


def _taken(path: Path, place: Place) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise ReleaseBusy(str(place), "a run of Helm is at work on it") from None
        except BaseException:
            os.close(descriptor)
            raise
        # Whoever had it removed the file meanwhile: this one is nobody's.
        os.close(descriptor)
