"""The newest acknowledged revision, in a small file of its own.

SQLite takes a write-ahead log that was cut short for one that ends there. The number in this file is written after each
commit and never synced, so it may lag behind the database after a power cut but can never be ahead of it: if it is,
acknowledged writes are missing.
"""

from __future__ import annotations

import os
from pathlib import Path

from kubekit.errors import DataDamaged

from . import private_files


class HighWater:
    """Notes each revision that is acknowledged."""

    def __init__(self, database: Path) -> None:
        self._file = private_files.open_private(beside(database), os.O_RDWR)

    def note(self, revision: int) -> None:
        os.pwrite(self._file, b"%-20d\n" % revision, 0)

    def close(self) -> None:
        os.close(self._file)


def beside(database: Path) -> Path:
    """Where the number of a database stands."""
    return database.with_suffix(".revision")


def noted(database: Path) -> int:
    """The newest revision that was acknowledged; 0 where none was noted. Raises DataDamaged."""
    path = beside(database)
    try:
        text = path.read_bytes()[:32].strip(b"\0 \n")
    except FileNotFoundError:
        return 0
    try:
        return int(text or b"0")
    except ValueError:
        raise DataDamaged(f"{path}: not a revision: {text!r}; restore a backup") from None


def verify(database: Path, newest: int) -> None:
    """Raises DataDamaged when a database ends before what was acknowledged."""
    acknowledged = noted(database)
    if acknowledged > newest:
        raise DataDamaged(
            f"{database}: ends at revision {newest}, but revision {acknowledged} was acknowledged; part of the "
            "database or its write-ahead log is missing. Restore a backup, salvage what can be read, or remove "
            f"{beside(database)} to accept that"
        )
