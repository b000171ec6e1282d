"""The longer questions put to the database."""

from __future__ import annotations


def after_prefix(prefix: str) -> str:
    """The smallest key behind all keys that start with `prefix`."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else "\U0010ffff"


def page(bucket: int, low: str, high: str, revision: int, *, current: bool) -> tuple[str, tuple[object, ...]]:
    """The live objects; or, at a past revision, those unchanged since and the versions that were current then."""
    live = (
        "SELECT o.key, r.revision, r.checksum, r.value FROM objects o JOIN revisions r ON r.revision = o.revision"
        " WHERE o.bucket = ? AND o.key >= ? AND o.key < ?"
    )
    if current:
        return f"{live} ORDER BY o.key", (bucket, low, high)
    past = (
        "SELECT p.key, p.revision, p.checksum, p.value FROM revisions n JOIN revisions p ON p.revision = n.previous"
        " WHERE n.revision > ? AND n.bucket = ? AND n.key >= ? AND n.key < ? AND p.revision <= ?"
    )
    return (
        f"SELECT * FROM ({live} AND o.revision <= ? UNION ALL {past}) ORDER BY key",  # noqa: S608 - fixed texts
        (bucket, low, high, revision, revision, bucket, low, high, revision),
    )


EVENTS = (
    "SELECT r.revision, r.key, r.change, r.checksum, r.value, p.value FROM revisions r"
    " LEFT JOIN revisions p ON p.revision = r.previous"
    " WHERE r.revision > ? AND r.revision <= ? AND r.bucket = ? AND r.key >= ? AND r.key < ? AND r.change < 3"
    " ORDER BY r.revision LIMIT ?"
)
"""What happened in a range of keys, with the version before."""

ENDING = (
    "SELECT o.bucket, o.key FROM objects o JOIN revisions r ON r.revision = o.revision"
    """ WHERE instr(r.value, CAST('"deletionTimestamp"' AS BLOB)) > 0"""
)
"""Live objects that somebody asked to delete, found by reading all."""

BEREAVED = (
    "SELECT DISTINCT d.bucket, d.key FROM revisions r INDEXED BY revisions_that_replace"
    " JOIN owners d ON d.owner = json_extract(CAST(r.value AS TEXT), '$.metadata.uid')"
    " WHERE r.previous IS NOT NULL AND r.revision > ? AND r.change = 2"
)
"""Live objects whose owner was deleted after a revision."""

TRIAL = "UPDATE facts SET value = value WHERE name = 'newest'"
"""Writes, and changes nothing."""

_REPLACING = (
    "FROM revisions INDEXED BY revisions_that_replace WHERE previous IS NOT NULL"
    " AND revision > (SELECT value FROM facts WHERE name = 'compacted')"
)
COMPACTION_STEP = f"SELECT revision {_REPLACING} AND revision < :revision ORDER BY revision LIMIT 1 OFFSET :most"
"""Where to stop for now; nowhere when the rest can be done at once."""
COMPACT = (
    f"DELETE FROM revisions WHERE revision IN (SELECT previous {_REPLACING} AND revision <= :end)",  # noqa: S608 - fixed texts
    f"DELETE FROM revisions WHERE revision IN (SELECT revision {_REPLACING} AND revision <= :end AND change = 2)",  # noqa: S608 - fixed texts
    "UPDATE facts SET value = :end WHERE name = 'compacted' AND value < :end",
)
"""Versions that were replaced or deleted up to a revision, and the records of those deletions, are forgotten."""

_BUCKETS = "SELECT id FROM buckets WHERE space = :space"
_VERSIONS = (
    f"SELECT revision FROM objects WHERE bucket IN ({_BUCKETS})"  # noqa: S608 - fixed texts
    " UNION SELECT r.previous FROM versions v JOIN revisions r ON r.revision = v.number WHERE r.previous IS NOT NULL"
)
"""Live ones and those they replaced, which are found through them alone. Versions of objects that were deleted before,
and the records of that, are left to the compaction of history."""
DELETE_SPACE = tuple(
    statement.format(buckets=_BUCKETS, versions=_VERSIONS)
    for statement in (
        "WITH RECURSIVE versions (number) AS ({versions}) DELETE FROM revisions WHERE revision IN versions",
        "DELETE FROM objects WHERE bucket IN ({buckets})",
        "DELETE FROM owners WHERE bucket IN ({buckets})",
        "DELETE FROM ending WHERE bucket IN ({buckets})",
        "DELETE FROM replaced WHERE bucket IN ({buckets})",
        "DELETE FROM buckets WHERE space = :space",
        "INSERT OR REPLACE INTO facts (name, value) VALUES ('newest', :newest), ('bucket', :bucket)",
    )
)
