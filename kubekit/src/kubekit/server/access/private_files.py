"""Private files that are either as they were or as they should be, never in between."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from kubekit.errors import DataDamaged


def write_private(path: Path, content: bytes) -> None:
    """Replace a file in one step; only its owner may read it."""
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_directory(path.parent)


def create_directory(path: Path, files: dict[str, bytes]) -> None:
    """Make a private directory with these files in it, all of them or nothing."""
    make_private(path.parent)
    draft = path.with_name(f".{path.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    for name, content in files.items():
        write_private(draft / name, content)
    draft.rename(path)
    sync_directory(path.parent)


def make_private(path: Path) -> None:
    """Make a directory only its owner may enter; those that exist stay as they are."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


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
