"""Backups: a consistent copy of a data directory in one file, made while the server runs, checked both ways.

A backup that is made never takes the place of another file, and one that is restored may come from anywhere: of an
archive only what is named below is taken, as plain files, and each must be what its manifest says.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated

import msgspec

from kubekit.errors import DataDamaged, DataVersion, StorageError

from . import data_lock, database, high_water, inspection, private_files

FORMAT = 1
_MANIFEST, _DATABASE, _KEYS = "manifest.json", "state.db", "pki"
_NAME = re.compile(rf"{re.escape(_DATABASE)}|{_KEYS}/[A-Za-z0-9][A-Za-z0-9._-]*")
_LARGEST_SMALL = 1024 * 1024
"""Bytes of a manifest, a key or a certificate."""
_PART = 1024 * 1024
Progress = Callable[[str], None]


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """What a backup holds; the first member of its archive."""

    format: int
    created: Annotated[str, msgspec.Meta(pattern="^[0-9TZ:.+-]{1,40}$")]
    revision: Annotated[int, msgspec.Meta(ge=0)]
    objects: int
    sums: dict[str, str]
    """SHA-256 of every file."""


def make(data: Path, target: Path, created: str, say: Progress = lambda _: None) -> Manifest:
    """Write a backup of the data directory to `target`, which appears only when it is complete and checked.

    Raises StorageError; of what is there already nothing is overwritten."""
    source = data / _DATABASE
    if not source.exists():
        raise StorageError(f"{data}: there is no data to back up ({_DATABASE} is missing)")
    _require_free(target)
    with _telling(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as scratch:
        say(f"copying {source}")
        copy = _consistent_copy(data, Path(scratch))
        say("checking the copy")
        inspection.check_whole(copy)
        keys = _keys(data)
        manifest = _described(copy, keys, created)
        if manifest.objects and not keys:
            raise DataDamaged(
                f"{data / _KEYS}: the keys are missing; nothing can be started from a backup without them"
            )
        say(f"writing {target}")
        packed = Path(scratch) / "packed"
        _pack(packed, copy, keys, manifest)
        _publish(packed, target)
    return manifest


def read(source: Path) -> Manifest:
    """Check a backup from end to end. Raises DataDamaged, DataVersion or StorageError."""
    with tempfile.TemporaryDirectory() as scratch, _telling(Path(scratch)):
        return _unpack(source, Path(scratch))


def restore(source: Path, data: Path, say: Progress = lambda _: None) -> Manifest:
    """Make a data directory out of a backup. It must be new or empty: nothing is ever overwritten.

    Raises DataInUse, DataDamaged, DataVersion or StorageError."""
    with private_files.new_directory(data) as draft, _telling(data):
        say(f"checking {source}")
        manifest = _unpack(source, draft)
        private_files.write_private(high_water.beside(draft / _DATABASE), b"%-20d\n" % manifest.revision)
    say(f"restored {data}")
    return manifest


def _consistent_copy(data: Path, scratch: Path) -> Path:
    """What is committed, in a file that is complete without a log."""
    source, copy = data / _DATABASE, scratch / _DATABASE
    if not data_lock.is_held(data):
        # Nobody writes to it now; and what a server left that was killed stays as it is.
        apart = scratch / "apart"
        private_files.make_private(apart)
        source = inspection.copy_apart(source, apart)
    try:
        with closing(sqlite3.connect(source, isolation_level=None)) as reader:
            os.close(private_files.open_private(copy, os.O_RDWR))
            reader.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.DatabaseError as error:
        raise database.refusal(data / _DATABASE, error) from error
    return copy


def _described(copy: Path, keys: dict[str, bytes], created: str) -> Manifest:
    revision, objects = _figures(copy)
    with copy.open("rb") as file:
        sums = {_DATABASE: hashlib.file_digest(file, "sha256").hexdigest()}
    sums |= {name: hashlib.sha256(content).hexdigest() for name, content in keys.items()}
    return Manifest(FORMAT, created, revision, objects, sums)


def _figures(path: Path) -> tuple[int, int]:
    """The newest revision of a database and how many objects are in it."""
    with inspection.viewing(path) as reader:
        return database.newest_revision(reader), reader.execute("SELECT count(*) FROM objects").fetchone()[0]


def _keys(data: Path) -> dict[str, bytes]:
    """The keys and certificates: without them the copy would not be recognised by its clients."""
    found = sorted(path for path in (data / _KEYS).glob("*") if path.is_file())
    return {
        f"{_KEYS}/{path.name}": private_files.read(path) for path in found if _NAME.fullmatch(f"{_KEYS}/{path.name}")
    }


def _pack(target: Path, copy: Path, keys: dict[str, bytes], manifest: Manifest) -> None:
    with os.fdopen(private_files.open_private(target, os.O_WRONLY | os.O_EXCL), "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive, copy.open("rb") as content:
            text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
            _add(archive, _MANIFEST, io.BytesIO(text), len(text))
            _add(archive, _DATABASE, content, copy.stat().st_size)
            for name, key in keys.items():
                _add(archive, name, io.BytesIO(key), len(key))
        file.flush()
        os.fsync(file.fileno())


def _add(archive: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    archive.addfile(member, content)


def _publish(packed: Path, target: Path) -> None:
    """Give a complete file its name, if that is still free."""
    try:
        os.link(packed, target)
    except FileExistsError:
        _require_free(target)
    except OSError:
        # Not every file system knows a second name for a file.
        _require_free(target)
        packed.rename(target)
    private_files.sync_directory(target.parent)


def _require_free(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise StorageError(f"{target}: exists already, and a backup overwrites nothing; choose another name")


def _unpack(source: Path, into: Path) -> Manifest:
    """Take the files of a backup out of it, each checked."""
    try:
        with gzip.open(source) as file:
            members = _members(file)
            manifest = _manifest(source, members)
            _unpack_files(source, members, manifest.sums, into)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, msgspec.DecodeError, ValueError) as error:
        raise DataDamaged(f"{source}: is not a complete backup: {str(error)!r}") from error
    inspection.check_whole(into / _DATABASE)
    if _figures(into / _DATABASE) != (manifest.revision, manifest.objects):
        raise DataDamaged(f"{source}: its manifest does not describe what is in it")
    return manifest


@dataclass(frozen=True, slots=True)
class _Member:
    """A plain file in an archive; its parts must be read before the next one's."""

    name: str
    size: int
    parts: Iterator[bytes]


def _members(file: gzip.GzipFile) -> Iterator[_Member]:
    """The plain files of an archive, and nothing else that archives can hold. Raises ValueError, TarError, EOFError."""
    while (head := _exactly(file, tarfile.BLOCKSIZE)) != bytes(tarfile.BLOCKSIZE):
        found = tarfile.TarInfo.frombuf(head, "utf-8", "strict")
        if found.size < 0:
            raise ValueError(f"{found.name} has no size")
        parts = _parts(file, found.size)
        if found.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
            yield _Member(found.name, found.size, parts)
        elif found.type != tarfile.XHDTYPE or found.size > _LARGEST_SMALL:
            raise ValueError(f"{found.name} is no plain file")
        for _ in parts:
            pass


def _parts(file: gzip.GzipFile, size: int) -> Iterator[bytes]:
    padding = -size % tarfile.BLOCKSIZE
    while size:
        part = _exactly(file, min(size, _PART))
        size -= len(part)
        yield part
    _exactly(file, padding)


def _exactly(file: gzip.GzipFile, size: int) -> bytes:
    found = file.read(size)
    if len(found) != size:
        raise EOFError("it ends too early")
    return found


def _manifest(source: Path, members: Iterator[_Member]) -> Manifest:
    first = next(members, None)
    if first is None or first.name != _MANIFEST or first.size > _LARGEST_SMALL:
        raise DataDamaged(f"{source}: is not a backup: it does not begin with {_MANIFEST}")
    text = b"".join(first.parts)
    if (found := msgspec.json.decode(text, type=_Format).format) != FORMAT:
        raise DataVersion(f"{source}: a backup of format {found}; this version reads format {FORMAT}")
    manifest = msgspec.json.decode(text, type=Manifest)
    foreign = sorted(name for name in manifest.sums if not _NAME.fullmatch(name))
    if foreign:
        raise DataDamaged(f"{source}: {foreign[0]!r} is no part of a data directory")
    if _DATABASE not in manifest.sums:
        raise DataDamaged(f"{source}: {_DATABASE} is missing")
    return manifest


class _Format(msgspec.Struct):
    """What every manifest says, of whatever format it is."""

    format: int


def _unpack_files(source: Path, members: Iterator[_Member], sums: dict[str, str], into: Path) -> None:
    left = dict(sums)
    for member in members:
        expected = left.pop(member.name, None)
        if expected is None:
            raise DataDamaged(f"{source}: its manifest says nothing of {member.name!r}")
        if member.name != _DATABASE and member.size > _LARGEST_SMALL:
            raise DataDamaged(f"{source}: {member.name} is too large to be a key")
        if member.size > (free := shutil.disk_usage(into).free):
            raise StorageError(f"{into.parent}: {member.name} needs {member.size} bytes, and {free} are free")
        if _written(member, into / member.name) != expected:
            raise DataDamaged(f"{source}: {member.name} is not what was backed up")
    if left:
        raise DataDamaged(f"{source}: {min(left)} is missing")


def _written(member: _Member, path: Path) -> str:
    """Write a file; answers its SHA-256."""
    private_files.make_private(path.parent)
    digest = hashlib.sha256()
    with os.fdopen(private_files.open_private(path, os.O_WRONLY | os.O_EXCL), "wb") as file:
        for part in member.parts:
            digest.update(part)
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """What the disk refuses, such as when it is full, in one line."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from error
    except sqlite3.DatabaseError as error:
        raise StorageError(f"{path}: {error}") from error
