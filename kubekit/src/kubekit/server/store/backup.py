"""Backups: a consistent copy of a data directory in one file, made while the server runs, checked both ways."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from kubekit.errors import DataDamaged, DataInUse, DataVersion, StorageError

from . import database, inspection

FORMAT = 1
_MANIFEST, _DATABASE = "manifest.json", "state.db"
Progress = Callable[[str], None]


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """What a backup holds; the first member of its archive."""

    format: int
    created: str
    revision: int
    objects: int
    sums: dict[str, str]
    """SHA-256 of every file."""


def make(data: Path, target: Path, created: str, say: Progress = lambda _: None) -> Manifest:
    """Write a backup of the data directory to `target`, which appears only when it is complete and checked."""
    source = data / _DATABASE
    if not source.exists():
        raise StorageError(f"{data}: there is no data to back up ({_DATABASE} is missing)")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as scratch:
        copy = Path(scratch) / _DATABASE
        say(f"copying {source}")
        reader = database.open_reader(source)
        try:
            reader.execute("PRAGMA query_only=OFF")
            reader.execute("VACUUM INTO ?", (str(copy),))
        finally:
            reader.close()
        say("checking the copy")
        inspection.check_whole(copy)
        manifest = _describe(copy, data, created)
        say(f"writing {target}")
        packed = Path(scratch) / "packed"
        _pack(packed, copy, data, manifest)
        os.replace(packed, target)
    return manifest


def read(source: Path) -> Manifest:
    """Check a backup from end to end. Raises DataDamaged or DataVersion."""
    with tempfile.TemporaryDirectory() as scratch:
        return _unpack(source, Path(scratch))


def restore(source: Path, data: Path, say: Progress = lambda _: None) -> Manifest:
    """Make a data directory out of a backup. It must be new or empty: nothing is ever overwritten."""
    if data.exists() and any(data.iterdir()):
        raise DataInUse(f"{data}: is not empty; move it away or choose another directory")
    data.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=data.parent, prefix=".restore-"))
    try:
        say(f"checking {source}")
        manifest = _unpack(source, scratch)
        (scratch / "state.revision").write_text(f"{manifest.revision:<20d}\n")
        (scratch / "state.revision").chmod(0o600)
        if data.exists():
            data.rmdir()
        os.replace(scratch, data)
        say(f"restored {data}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return manifest


def _describe(copy: Path, data: Path, created: str) -> Manifest:
    reader = database.open_reader(copy)
    try:
        revision = database.newest_revision(reader)
        objects = reader.execute("SELECT count(*) FROM objects").fetchone()[0]
    finally:
        reader.close()
    sums = {_DATABASE: _sum(copy)} | {name: _sum(data / name) for name in _keys(data)}
    return Manifest(FORMAT, created, revision, objects, sums)


def _keys(data: Path) -> list[str]:
    """The keys and certificates: without them the copy would not be recognised by its clients."""
    return sorted(str(path.relative_to(data)) for path in (data / "pki").rglob("*") if path.is_file())


def _pack(target: Path, copy: Path, data: Path, manifest: Manifest) -> None:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
            text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
            member = tarfile.TarInfo(_MANIFEST)
            member.size, member.mode = len(text), 0o600
            archive.addfile(member, io.BytesIO(text))
            archive.add(copy, _DATABASE)
            for name in _keys(data):
                archive.add(data / name, name)
        file.flush()
        os.fsync(file.fileno())


def _unpack(source: Path, into: Path) -> Manifest:
    try:
        with tarfile.open(source, mode="r:gz") as archive:
            archive.extractall(into, filter="data")
        manifest = msgspec.json.decode((into / _MANIFEST).read_bytes(), type=Manifest)
    except (tarfile.TarError, OSError, EOFError, msgspec.DecodeError, KeyError) as error:
        raise DataDamaged(f"{source}: is not a complete backup: {error}") from error
    if manifest.format != FORMAT:
        raise DataVersion(f"{source}: a backup of format {manifest.format}; this version reads format {FORMAT}")
    (into / _MANIFEST).unlink()
    for name, expected in manifest.sums.items():
        path = into / name
        if not path.is_file() or _sum(path) != expected:
            raise DataDamaged(f"{source}: {name} is missing or not what was backed up")
        path.chmod(0o600)
    for directory in (into, *(path for path in into.rglob("*") if path.is_dir())):
        directory.chmod(0o700)
    inspection.check_whole(into / _DATABASE)
    return manifest


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
