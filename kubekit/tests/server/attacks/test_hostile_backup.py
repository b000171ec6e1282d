"""A backup may come from anywhere: nothing outside the new directory is touched, and nothing unknown gets into it."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubekit.errors import DataDamaged, DataInUse, DataVersion, StorageError
from kubekit.server.serve.server import Server
from kubekit.server.store import backup
from tests.server.attacks.damage import full_disk, snapshot

CREATED = "2026-01-01T00:00:00Z"
Files = dict[str, bytes]
Change = Callable[[dict[str, Any], Files, list[tarfile.TarInfo]], None]


@pytest.fixture
async def made(tmp_path: Path) -> Path:
    async with Server(tmp_path / "data"):
        pass
    backup.make(tmp_path / "data", tmp_path / "backup", CREATED)
    return tmp_path / "backup"


def rewritten(source: Path, change: Change) -> None:
    """Pack a backup again, otherwise."""
    with tarfile.open(source) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    manifest, extra = msgspec.json.decode(files.pop("manifest.json")), list[tarfile.TarInfo]()
    change(manifest, files, extra)
    with tarfile.open(source, "w:gz") as archive:
        for name, content in {"manifest.json": msgspec.json.encode(manifest), **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in extra:
            archive.addfile(member)


def sum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def link(name: str, to: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


def with_trigger(path: Path) -> bytes:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TRIGGER own AFTER INSERT ON revisions BEGIN DELETE FROM objects; END")
    connection.commit()
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("name", ["../outside", "/{tmp}/outside", "pki/../../outside", "pki/a/b", "kubeconfig", "lock"])
def test_a_path_in_the_sums_leads_nowhere(tmp_path: Path, made: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("of somebody else")
    outside.chmod(0o644)
    name = name.format(tmp=tmp_path)

    def change(manifest: dict[str, Any], files: Files, extra: list[tarfile.TarInfo]) -> None:
        manifest["sums"][name] = sum_of(b"of somebody else")

    rewritten(made, change)
    with pytest.raises(DataDamaged, match="is no part of a data directory"):
        backup.restore(made, tmp_path / "restored")
    assert outside.stat().st_mode & 0o777 == 0o644
    assert not (tmp_path / "restored").exists()


@pytest.mark.parametrize(
    "member",
    [
        link("pki/link", "/etc/passwd"),
        link("pki/link", "ca.key"),
        link("pki/link", "pki/ca.key", tarfile.LNKTYPE),
        link("link", ".."),
        link("pipe", "", tarfile.FIFOTYPE),
        link("device", "", tarfile.CHRTYPE),
        link("folder", "", tarfile.DIRTYPE),
        tarfile.TarInfo("log"),
        tarfile.TarInfo("../outside"),
        tarfile.TarInfo("pki/other.key"),
    ],
)
def test_nothing_but_the_files_of_a_backup_comes_out(tmp_path: Path, made: Path, member: tarfile.TarInfo) -> None:
    rewritten(made, lambda _manifest, _files, extra: extra.append(member))
    with pytest.raises(DataDamaged):
        backup.restore(made, tmp_path / "restored")
    assert sorted(os.listdir(tmp_path)) == ["backup", "data"]


def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path, made: Path) -> None:
    def change(manifest: dict[str, Any], files: Files, extra: list[tarfile.TarInfo]) -> None:
        del files["pki/sa.key"]
        extra.append(link("pki/sa.key", "ca.key"))

    rewritten(made, change)
    with pytest.raises(DataDamaged):
        backup.restore(made, tmp_path / "restored")


@pytest.mark.parametrize(
    "change",
    [
        {"sums": {}},
        {"sums": []},
        {"revision": 10**18},
        {"revision": -1},
        {"objects": 10**6},
        {"created": "\x1b[2J"},
        {"format": "1"},
    ],
)
def test_a_manifest_that_lies_is_refused(tmp_path: Path, made: Path, change: dict[str, Any]) -> None:
    rewritten(made, lambda manifest, _files, _extra: manifest.update(change))
    with pytest.raises(DataDamaged):
        backup.restore(made, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


def test_another_format_is_named(tmp_path: Path, made: Path) -> None:
    rewritten(made, lambda manifest, _files, _extra: manifest.update(format=9))
    with pytest.raises(DataVersion, match="format 9"):
        backup.read(made)


def test_a_database_that_would_act_by_itself_is_refused(tmp_path: Path, made: Path) -> None:
    def change(manifest: dict[str, Any], files: Files, extra: list[tarfile.TarInfo]) -> None:
        path = tmp_path / "state.db"
        path.write_bytes(files["state.db"])
        files["state.db"] = with_trigger(path)
        manifest["sums"]["state.db"] = sum_of(files["state.db"])

    rewritten(made, change)
    with pytest.raises(DataDamaged, match="trigger 'own', which is none of ours"):
        backup.restore(made, tmp_path / "restored")


def test_more_than_the_disk_holds_is_refused_before_it_is_full(tmp_path: Path, made: Path) -> None:
    manifest = {"format": 1, "created": CREATED, "revision": 1, "objects": 0, "sums": {"state.db": "0" * 64}}
    text = msgspec.json.encode(manifest)
    with gzip.open(made, "wb") as file:
        for name, size, content in (("manifest.json", len(text), text), ("state.db", 1 << 60, b"")):
            member = tarfile.TarInfo(name)
            member.size = size
            file.write(member.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512))
    with pytest.raises(StorageError, match=f"state.db needs {1 << 60} bytes"):
        backup.restore(made, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


@pytest.mark.parametrize("size", [-1, 10_000_000])
def test_sizes_that_cannot_be_are_refused(tmp_path: Path, made: Path, size: int) -> None:
    member = tarfile.TarInfo("manifest.json")
    member.size = size
    made.write_bytes(gzip.compress(member.tobuf(tarfile.GNU_FORMAT)))
    with pytest.raises(DataDamaged):
        backup.read(made)


def test_a_backup_overwrites_nothing(tmp_path: Path, made: Path) -> None:
    before = made.read_bytes()
    with pytest.raises(StorageError, match="exists already, and a backup overwrites nothing"):
        backup.make(tmp_path / "data", made, CREATED)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="exists already"):
        backup.make(tmp_path / "data", tmp_path / "link", CREATED)
    assert made.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


def test_a_restore_overwrites_nothing(tmp_path: Path, made: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(DataInUse, match="is not empty"):
        backup.restore(made, tmp_path / "full")
    with pytest.raises(StorageError):
        backup.restore(made, tmp_path / "full" / "file")


def test_a_place_that_takes_nothing_is_named(tmp_path: Path, made: Path) -> None:
    with pytest.raises(StorageError, match=r"nowhere/backup: No such file"):
        backup.make(tmp_path / "data", tmp_path / "nowhere" / "backup", CREATED)
    with pytest.raises(StorageError, match="/proc/restored: No such file"):
        backup.restore(made, Path("/proc/restored"))


def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path: Path, made: Path) -> None:
    with full_disk():
        with pytest.raises(StorageError, match=r"backup2: "):
            backup.make(tmp_path / "data", tmp_path / "backup2", CREATED)
        with pytest.raises(StorageError, match=r"restored: File too large"):
            backup.restore(made, tmp_path / "restored")
        with pytest.raises(StorageError, match=r": File too large"):
            backup.read(made)
    assert sorted(os.listdir(tmp_path)) == ["backup", "data"]


async def test_a_backup_of_what_a_killed_server_left_changes_nothing(tmp_path: Path, made: Path) -> None:
    killed = tmp_path / "killed"
    async with Server(tmp_path / "data"):
        shutil.copytree(tmp_path / "data", killed)
    before = snapshot(killed)
    backup.make(killed, tmp_path / "other", CREATED)
    assert snapshot(killed) == before


def test_a_backup_without_keys_is_not_made(tmp_path: Path, made: Path) -> None:
    for key in (tmp_path / "data" / "pki").iterdir():
        key.unlink()
    with pytest.raises(DataDamaged, match="the keys are missing"):
        backup.make(tmp_path / "data", tmp_path / "other", CREATED)
    assert not (tmp_path / "other").exists()
