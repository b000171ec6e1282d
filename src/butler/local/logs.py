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


def write_to(path: Path) -> None:
    """Send what this process logs to a file. The file of the last start is kept beside it, as is one that is full."""
    handler = PrivateFile(path, maxBytes=_LARGEST, backupCount=1, encoding="utf-8", delay=True)
    if path.exists() and path.stat().st_size:
        handler.doRollover()
    handler.setFormatter(logging.Formatter(_FORMAT))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("butler").setLevel(logging.INFO)
    logging.captureWarnings(True)
