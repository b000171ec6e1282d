"""Telling those who listen of what has become durable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

log = logging.getLogger("kubekit.server")

Told = TypeVar("Told")


def tell(listeners: Iterable[Callable[[Told], None]], event: Told, revision: int) -> None:
    """Call each. It has happened: one who cannot cope with it may not keep the writer and all others waiting."""
    for listener in listeners:
        try:
            listener(event)
        except Exception:
            log.exception("a listener failed on revision %d", revision)
