"""The log file of a platform."""

from __future__ import annotations

import logging
import os
from collections import deque
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

import click

from butler.cli.lazy import MISSING, Failure
from kubekit.clock import SystemClock
from kubekit.server.store import private_files

_LARGEST = 20 * 1024 * 1024
_BETWEEN_LOOKS = 0.2
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s %(message)s"


class PrivateFile(RotatingFileHandler):
    """A log nobody else can read, whatever the umask is."""

    def _open(self) -> TextIOWrapper:
        handle = private_files.open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND)
        return open(handle, "a", encoding=self.encoding)


def end() -> None:
    """Let go of the file."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, PrivateFile)]:
        root.removeHandler(handler)
        handler.close()


def _is_for_the_log(record: logging.LogRecord) -> bool:
    """A file is for what happened, however much somebody wants to see on the screen."""
    return record.levelno >= (logging.INFO if record.name.startswith("butler") else logging.WARNING)


def write_to(path: Path) -> None:
    """Send what this process logs to a file. The file of the last start is kept beside it, as is one that is full."""
    handler = PrivateFile(path, maxBytes=_LARGEST, backupCount=1, encoding="utf-8", delay=True)
    if path.exists() and path.stat().st_size:
        handler.doRollover()
    handler.setFormatter(logging.Formatter(_FORMAT))
    root = logging.getLogger()
    # Whoever said -v goes on seeing everything.
    shown, ours = root.handlers, logging.getLogger("butler")
    root.handlers[:] = [handler, *(shown if ours.level == logging.DEBUG else ())]
    root.setLevel(logging.WARNING)
    handler.addFilter(_is_for_the_log)
    ours.setLevel(ours.level or logging.INFO)
    logging.captureWarnings(True)


async def show(path: Path, tail: int | None, follow: bool) -> None:
    """Print a log, and with `follow` what is added until Ctrl-C. Raises Failure when there is none."""
    if _size(path) is None:
        raise Failure(f"there is no {path}: no platform was ever started there", MISSING)
    seen = _print(path, 0, tail)
    clock = SystemClock()
    while follow:
        await clock.sleep(_BETWEEN_LOOKS)
        size = _size(path) or 0
        # A start begins a new file.
        seen = _print(path, seen if seen <= size else 0, None) if size else 0


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None


def _print(path: Path, since: int, tail: int | None) -> int:
    """Print what is behind a position, or the last lines of it; answers the position behind that."""
    with path.open("rb") as file:
        file.seek(since)
        lines = deque(file, tail)
        click.echo(b"".join(lines), nl=False)
        return file.tell()
