"""Log lines for operators: one per decision, `key=value`, no payloads."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

log = logging.getLogger("kubekit.runtime")

_LONGEST = 500
_LINE = "time=%(asctime)s level=%(levelname)s logger=%(name)s %(message)s"


class _Lines(logging.Formatter):
    """Times in UTC, as objects have them."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 -- its name
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def set_up(level: int = logging.INFO) -> None:
    """Write the log of this process to stderr; nothing happens when someone has set up logging before."""
    root = logging.getLogger()
    if root.hasHandlers():
        return
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines(_LINE))
    root.addHandler(handler)
    root.setLevel(level)


def say(level: int, what: str, /, *, trace: BaseException | None = None, **fields: Any) -> None:
    """Write `what` and the fields that have a value, each on the same line."""
    if log.isEnabledFor(level):
        shown = " ".join(f"{name}={_text(value)}" for name, value in fields.items() if value not in (None, ""))
        log.log(level, "%s %s" if shown else "%s%s", what, shown, exc_info=trace)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)[:_LONGEST]
    if text.isprintable() and not any(letter in text for letter in ' ="'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
