"""Stored objects that are not what they should be."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("kubekit.server")


@contextmanager
def passing_over(resource: str, key: str) -> Iterator[None]:
    """Take in one of many. It was damaged, or written by another version: the others may not suffer from that."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        tell(resource, key, f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else str(error))


def tell(resource: str, key: str, problem: str) -> None:
    """Say what is wrong with an object."""
    log.warning("a stored object is passed over resource=%s key=%s error=%s", resource, key, problem)
