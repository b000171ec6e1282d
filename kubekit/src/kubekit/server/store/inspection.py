"""Looking at a database without changing a byte of it, nor of any file beside it.

SQLite itself cannot promise that: when it opens a file it rolls back a journal, and when it closes one it moves what is
in the log into it. So it is shown the file read-only, and of a log or a journal a copy in a directory apart.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubekit.errors import DataDamaged

from . import database, high_water, private_files

QUICK_CHECK_LIMIT = 64 * 1024 * 1024
"""Files up to this size are read from end to end at every start; of larger ones only what the start needs."""

_TABLES = ("buckets", "facts", "objects", "ending", "replaced")
_LIVE = (
    "SELECT o.bucket, o.key, o.revision, r.bucket, r.key, r.checksum, r.value FROM objects o"
    " LEFT JOIN revisions r ON r.revision = o.revision"
)
_RECORDS = f"{_LIVE} WHERE o.bucket IN (SELECT id FROM buckets WHERE resource NOT LIKE '%/%')"  # noqa: S608 - fixed texts


def check(path: Path) -> int:
    """Raises DataDamaged or DataVersion unless a server can start from a database; answers its newest revision.

    For whoever holds the data directory. A database that is not there yet is of revision 0."""
    acknowledged = high_water.noted(path)
    if not path.exists() or not path.stat().st_size:
        if acknowledged:
            raise DataDamaged(f"{path}: is missing, though revision {acknowledged} was acknowledged{database.REMEDY}")
        if _is_there(_log(path)):
            raise DataDamaged(f"{path}: is missing, though its log {_log(path).name} is there{database.REMEDY}")
        return 0
    try:
        with viewing(path) as connection:
            database.check_identity(connection, path)
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return 0
            _check_structure(connection, path)
            newest = database.newest_revision(connection)
    except sqlite3.DatabaseError as error:
        raise database.refusal(path, error) from error
    high_water.verify(path, newest)
    return newest


def check_whole(path: Path) -> None:
    """Read a file that nobody uses from end to end. Raises DataDamaged unless every page and every object is intact."""
    try:
        with viewing(path) as connection:
            database.check_identity(connection, path)
            _check_schema(connection, path)
            _require_ok(connection, path, "integrity_check")
            _check_objects(connection, path, _LIVE)
            query = "SELECT revision, checksum, value FROM revisions"
            for revision, checksum, value in connection.execute(query):
                if not isinstance(value, bytes) or database.checksum_of(value) != checksum:
                    raise DataDamaged(f"{path}: the object stored at revision {revision} is not what was written")
    except sqlite3.DatabaseError as error:
        raise database.refusal(path, error) from error


@contextmanager
def viewing(path: Path) -> Iterator[sqlite3.Connection]:
    """What is committed, for as long as this lasts; nobody else may use the file meanwhile."""
    scratch = path.with_name(f".{path.name}.check")
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        connection = _apart(path, scratch) if _is_there(_log(path)) or _is_there(_journal(path)) else _unchanging(path)
        try:
            yield connection
        finally:
            connection.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def copy_apart(path: Path, directory: Path) -> Path:
    """Copy a database and what is beside it, as they are."""
    copied = directory / path.name
    for source, target in ((path, copied), (_log(path), _log(copied)), (_journal(path), _journal(copied))):
        if source.exists():
            shutil.copyfile(source, target)
    return copied


def _unchanging(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _apart(path: Path, scratch: Path) -> sqlite3.Connection:
    private_files.make_private(scratch)
    if _is_there(_journal(path)):
        # What has to be undone first can only be read after that.
        return sqlite3.connect(copy_apart(path, scratch), isolation_level=None)
    apart = scratch / path.name
    try:
        # The same file under another name, beside another log: as large as it may be, it need not be copied.
        os.link(path, apart)
    except OSError:
        shutil.copyfile(path, apart)
    shutil.copyfile(_log(path), _log(apart))
    return sqlite3.connect(f"{apart.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _check_structure(connection: sqlite3.Connection, path: Path) -> None:
    """Everything a start reads can be read, and is what was written."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    _check_schema(connection, path)
    is_small = path.stat().st_size <= QUICK_CHECK_LIMIT
    if is_small:
        _require_ok(connection, path, "quick_check")
    for table in _TABLES:
        # Older formats have fewer.
        if version == database.SCHEMA_VERSION or table not in ("ending", "replaced"):
            for _ in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - fixed texts
                pass
    names = {name for (name,) in connection.execute("SELECT name FROM facts")}
    if missing := {"compacted", "newest"} - names:
        raise DataDamaged(f"{path}: does not say what is {min(missing)}{database.REMEDY}")
    _check_objects(connection, path, _LIVE if is_small else _RECORDS)


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Nothing in it acts by itself: whoever made the file has no say in what happens later."""
    query = "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE '%virtual%'"
    if found := connection.execute(query).fetchone():
        raise DataDamaged(f"{path}: it has a {found[0]} {found[1]!r}, which is none of ours{database.REMEDY}")


def _check_objects(connection: sqlite3.Connection, path: Path, query: str) -> None:
    known = {number for (number,) in connection.execute("SELECT id FROM buckets")}
    for bucket, key, revision, found_bucket, found_key, checksum, value in connection.execute(query):
        if (bucket, key) != (found_bucket, found_key) or bucket not in known:
            raise DataDamaged(f"{path}: what is stored at revision {revision} is not {key!r}{database.REMEDY}")
        if not isinstance(value, bytes) or database.checksum_of(value) != checksum:
            raise DataDamaged(
                f"{path}: {key!r}, stored at revision {revision}, is not what was written{database.REMEDY}"
            )


def defect(connection: sqlite3.Connection, pragma: str = "quick_check") -> str:
    """What SQLite finds wrong with the pages of a database; nothing when all is well."""
    found: str = connection.execute(f"PRAGMA {pragma}(1)").fetchone()[0]
    return "" if found == "ok" else found.replace("\n", " ")


def _require_ok(connection: sqlite3.Connection, path: Path, pragma: str) -> None:
    if found := defect(connection, pragma):
        raise DataDamaged(f"{path}: {found}{database.REMEDY}")


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _is_there(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
