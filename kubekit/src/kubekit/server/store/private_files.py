"""Private files that are either as they were or as they should be, never in between.

Whatever the umask says and whatever was there before: files of ours are for their owner alone, and so are the
directories they lie in.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubekit.errors import DataDamaged, DataInUse, StorageError

_FILE, _DIRECTORY = 0o600, 0o700


def write_private(path: Path, content: bytes) -> None:
    """Replace a file in one step; only its owner may read it."""
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    with open(open_private(draft, os.O_WRONLY | os.O_EXCL), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_directory(path.parent)


def open_private(path: Path, flags: int) -> int:
    """A handle on a file that is made if need be, and is its owner's alone from now on."""
    handle = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, _FILE)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != _FILE:
            os.fchmod(handle, _FILE)
    except OSError:
        os.close(handle)
        raise
    return handle


def create_directory(path: Path, files: dict[str, bytes]) -> None:
    """Make a private directory with these files in it, all of them or nothing."""
    make_private(path.parent)
    draft = path.with_name(f".{path.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    make_private(draft)
    for name, content in files.items():
        write_private(draft / name, content)
    draft.rename(path)
    sync_directory(path.parent)


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """A draft of a directory that takes its name when this ends well; else nothing is left of it.

    Raises DataInUse when there is something in a directory of that name, StorageError when it cannot be made."""
    import tempfile  # noqa: PLC0415 - slow to import, and a start does without it

    try:
        if path.exists() and any(path.iterdir()):
            raise DataInUse(f"{path}: is not empty; move it away or choose another directory")
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-"))
        draft.chmod(_DIRECTORY)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from error
    try:
        yield draft
        try:
            # Takes the place of an empty directory and of nothing else.
            draft.rename(path)
            sync_directory(path.parent)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def make_private(path: Path) -> None:
    """Make a directory only its owner may enter, also of one that others could.

    One that is shared on purpose, or that is somebody else's, stays as it is: what lies in it is private all the same.
    """
    path.mkdir(mode=_DIRECTORY, parents=True, exist_ok=True)
    found = path.stat()
    if not found.st_mode & stat.S_ISVTX:
        _set(path, found, _DIRECTORY)


def close_to_others(directory: Path, *patterns: str) -> None:
    """Take everybody else's rights from the files that match, and from all that is in directories that do."""
    for path in [found for pattern in patterns for found in directory.glob(pattern)]:
        found = path.lstat()
        if stat.S_ISDIR(found.st_mode):
            _set(path, found, _DIRECTORY)
            close_to_others(path, "*")
        elif not stat.S_ISLNK(found.st_mode):
            _set(path, found, _FILE)


def _set(path: Path, found: os.stat_result, mode: int) -> None:
    if stat.S_IMODE(found.st_mode) != mode and os.geteuid() in (found.st_uid, 0):
        path.chmod(mode)


def sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path) -> bytes:
    """What stands in a file that must be there."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataDamaged(f"{path}: {error.strerror or error}; restore it from a backup") from error
