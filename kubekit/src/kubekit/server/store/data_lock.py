"""One process at a time works on a data directory."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from kubekit.errors import DataInUse

from . import private_files


def take(data: Path) -> int:
    """Hold the data directory for this process until the answer is closed, and change nothing. Raises DataInUse."""
    handle = private_files.open_private(_path(data), os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(handle, 32, 0).decode(errors="replace").strip()
        os.close(handle)
        raise DataInUse(f"{data}: already in use by process {holder or 'unknown'}; stop it first") from None
    return handle


def note_holder(handle: int) -> None:
    """For those who wonder who holds it."""
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)


def is_held(data: Path) -> bool:
    """Whether a process works on the data at this moment."""
    try:
        handle = os.open(_path(data), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _path(data: Path) -> Path:
    return data / "lock"
