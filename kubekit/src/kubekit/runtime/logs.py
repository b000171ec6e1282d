"""Log lines for operators: one per decision, `key=value`, no payloads."""

from __future__ import annotations

import logging
from typing import Any

log = logging.getLogger("kubekit.runtime")

_LONGEST = 500


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
