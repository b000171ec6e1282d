"""The log file of a platform."""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from kubekit.server.store import private_files

_LARGEST = 20 * 1024 * 1024
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
