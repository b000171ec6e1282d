"""Helm values that are kept in Secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from butler.api.addon import ValuesSource
from butler.engines.core import Secret
from kubekit.errors import NotFound

from ..lazy import MISSING, Failure
from ..session import Session
from . import value_flags


async def read(session: Session, sources: Sequence[ValuesSource]) -> list[dict[str, Any]]:
    """Those of each source. Raises Failure, which tells none of them, and Forbidden."""
    return [await _read(session, source) for source in sources]


async def _read(session: Session, source: ValuesSource) -> dict[str, Any]:
    name = source.secret_ref.name
    where = f"Secret {session.namespace}/{name}"
    try:
        secret: Secret = await session.client.get(Secret, name, session.namespace)
    except NotFound as error:
        raise Failure(f"{where}, which is to hold values, is not there", MISSING) from error
    content = secret.data.get(source.key)
    if content is None:
        there = ", ".join(sorted(secret.data)) or "nothing"
        raise Failure(f"{where} has no {source.key}; it has {there}", MISSING)
    try:
        return value_flags.parsed(content.decode(errors="replace"), where)
    except Failure as failure:
        # What is wrong with a text may be told in words of that text.
        raise Failure(f"{where}: what it has under {source.key} is no mapping in YAML", failure.code) from None
