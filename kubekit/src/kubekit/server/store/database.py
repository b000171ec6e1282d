"""The SQLite file: its tables, its versions, and how it is opened without ever being reset.

`revisions` holds every version of every object once, in the order of writing; the row id is the resourceVersion.
`objects` points from a live object's key to its newest revision. An update therefore appends a row and moves a
pointer: no object is written twice, and history (for watches and paged lists) is there until it is compacted.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from pathlib import Path

from kubekit.errors import DataDamaged, DataVersion, StorageError

from . import private_files, queries

APPLICATION_ID = 0x42544C52
SCHEMA_VERSION = 3
_OLDEST_VERSION = 1

_ENDING = "CREATE TABLE ending (bucket INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (bucket, key)) WITHOUT ROWID;"
"""Objects somebody asked to delete, so that a start does not read all others to find them."""

_REPLACED = """
CREATE TABLE replaced (bucket INTEGER NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (bucket, key))
    WITHOUT ROWID;
"""
"""Objects that a base had and somebody changed or deleted, and at which revision."""

_TABLES = """
CREATE TABLE buckets (
    id INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    resource TEXT NOT NULL,
    UNIQUE (space, resource)
);
CREATE TABLE revisions (
    revision INTEGER PRIMARY KEY,
    bucket INTEGER NOT NULL,
    key TEXT NOT NULL,
    change INTEGER NOT NULL,
    previous INTEGER,
    checksum INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE TABLE objects (
    bucket INTEGER NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (bucket, key)
) WITHOUT ROWID;
CREATE INDEX objects_by_expiry ON objects (expires) WHERE expires IS NOT NULL;
CREATE TABLE owners (
    owner TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (owner, bucket, key)
) WITHOUT ROWID;
CREATE INDEX owners_by_dependent ON owners (bucket, key);
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO facts VALUES ('compacted', 0), ('newest', 0);
"""

_INDEXES = """
CREATE INDEX IF NOT EXISTS revisions_by_bucket ON revisions (bucket, revision);
CREATE INDEX IF NOT EXISTS revisions_that_replace ON revisions (revision, previous, change)
    WHERE previous IS NOT NULL;
"""
"""What happened to one resource, and what may be compacted, are found without reading all the rest. A file that was
written before there were these gets them when it is opened."""

_ADDED = {
    2: f"{_ENDING} INSERT INTO ending {queries.ENDING};",
    3: _REPLACED,
}
"""What each format added."""

_WRITES = """
CREATE TEMP VIEW writes (revision, bucket, key, change, previous, checksum, value, expires)
    AS SELECT 0, 0, '', 0, 0, 0, x'', 0;
CREATE TEMP TRIGGER store_write INSTEAD OF INSERT ON writes BEGIN
    INSERT INTO revisions (revision, bucket, key, change, previous, checksum, value)
        VALUES (NEW.revision, NEW.bucket, NEW.key, NEW.change, NEW.previous, NEW.checksum, NEW.value);
    INSERT OR REPLACE INTO objects (bucket, key, revision, expires)
        SELECT NEW.bucket, NEW.key, NEW.revision, NEW.expires WHERE NEW.change < 2;
    DELETE FROM objects WHERE NEW.change = 2 AND bucket = NEW.bucket AND key = NEW.key;
    DELETE FROM ending WHERE NEW.change = 2 AND bucket = NEW.bucket AND key = NEW.key;
    DELETE FROM owners WHERE NEW.previous IS NOT NULL AND bucket = NEW.bucket AND key = NEW.key;
END;
"""
"""What is inserted into `writes` is stored in all tables at once. Not part of the file: the writer makes it anew."""

_LOG_SIZE = 16 * 1024 * 1024


def open_writer(path: Path | None) -> sqlite3.Connection:
    """The one connection that writes; a new file gets its tables, an older one today's format.

    Raises DataDamaged, DataVersion or StorageError."""
    if path is not None:
        # SQLite gives its other files the same rights.
        os.close(private_files.open_private(path, os.O_RDWR))
    connection = _connect(path)
    try:
        if path is not None:
            check_identity(connection, path)
        # Several objects fit into such a page, so that a commit of many writes few. A file that exists keeps its own.
        connection.execute("PRAGMA page_size=16384")
        connection.execute("PRAGMA journal_mode=WAL")
        # FULL makes a commit reach the disk before it is acknowledged, also in WAL mode.
        connection.execute("PRAGMA synchronous=FULL")
        # Pages that many commits change are then copied from the log into the file less often.
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_SIZE // page_size}")
        connection.execute("PRAGMA cache_size=-4096")
        connection.execute("PRAGMA temp_store=MEMORY")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            _create(connection)
        else:
            _bring_up_to_date(connection, version)
        connection.executescript(_INDEXES + _WRITES)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise refusal(path, error) from error
    except (DataDamaged, DataVersion):
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads: it sees what is committed, and never blocks the writer."""
    connection = _connect(path)
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA cache_size=-8192")
    return connection


def fact(connection: sqlite3.Connection, name: str) -> int:
    """A number that is kept beside the objects; 0 when it never was."""
    found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return int(found[0]) if found else 0


def newest_revision(connection: sqlite3.Connection) -> int:
    """The newest revision there ever was; its row may have gone with the space it belonged to."""
    stored = "coalesce((SELECT max(revision) FROM revisions), 0)"
    query = f"SELECT max({stored}, (SELECT value FROM facts WHERE name = 'newest'))"  # noqa: S608 - fixed texts
    return int(connection.execute(query).fetchone()[0])


def checksum_of(value: bytes) -> int:
    return zlib.crc32(value)


def _connect(path: Path | None) -> sqlite3.Connection:
    # Each connection is used by one thread at a time, but not always by the one that opened it.
    return sqlite3.connect(
        ":memory:" if path is None else path, isolation_level=None, check_same_thread=False, cached_statements=64
    )


def check_identity(connection: sqlite3.Connection, path: Path) -> None:
    """Raises DataDamaged or DataVersion for what is no database of this server that this version can read."""
    identity = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and identity == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        return
    if identity != APPLICATION_ID:
        raise DataDamaged(f"{path}: this is not a database of this server (application id {identity:#x}){REMEDY}")
    if not _OLDEST_VERSION <= version <= SCHEMA_VERSION:
        raise DataVersion(
            f"{path}: written in format {version}, this version reads formats {_OLDEST_VERSION} to "
            f"{SCHEMA_VERSION}; "
            "use the version that wrote it, or restore a backup made by this one"
        )


def _create(connection: sqlite3.Connection) -> None:
    facts = f"PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={SCHEMA_VERSION};"
    connection.executescript(f"BEGIN;{_TABLES}{_ENDING}{_REPLACED}{facts}COMMIT;")


def _bring_up_to_date(connection: sqlite3.Connection, version: int) -> None:
    for number in range(version + 1, SCHEMA_VERSION + 1):
        connection.executescript(f"BEGIN IMMEDIATE;{_ADDED[number]}PRAGMA user_version={number};COMMIT;")


REMEDY = "; restore a backup, or salvage what can be read"
"""What to do about damage."""

_PASSING = (
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_PERM",
    "SQLITE_READONLY",
)
"""What says nothing about the contents of a file."""


_LEAVES_NO_TRACE = (
    "SQLITE_BUSY",
    "SQLITE_FULL",
    "SQLITE_IOERR_SHMSIZE",
    "SQLITE_IOERR_WRITE",
    "SQLITE_READONLY",
)
"""Why a transaction may have failed of which nothing is left, so that the next one may succeed. What could not be
synced is not among them: of that the disk may keep anything."""


def may_pass(error: Exception) -> bool:
    """Whether a write that failed with this may succeed later, such as when a full disk has room again."""
    return getattr(error, "sqlite_errorname", "") in _LEAVES_NO_TRACE


def refusal(path: Path | None, error: sqlite3.DatabaseError) -> StorageError:
    """What SQLite's error means to whoever wanted to use the file."""
    if getattr(error, "sqlite_errorname", "").startswith(_PASSING):
        return StorageError(f"{path}: cannot be opened for writing: {error}; nothing in it has changed")
    return DataDamaged(f"{path}: {error}{REMEDY}")
