"""Helm values that are kept in Secrets, with the rights of whoever asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from butler.addons import secret_values
from butler.addons.credentials import secrets_of
from butler.addons.errors import InvalidValues, ValuesMissing
from butler.api.addon import ValuesSource

from ..lazy import MISSING, USAGE, Failure
from ..session import Session


async def read(session: Session, addon: str, sources: Sequence[ValuesSource]) -> Sequence[Mapping[str, Any]]:
    """Those of each source. Raises Failure, which tells none of them, and Forbidden."""
    try:
        return await secret_values.read(secrets_of(session.client), addon, sources, session.namespace)
    except ValuesMissing as error:
        has = f"; it has {', '.join(error.keys)}" if error.keys else ""
        raise Failure(f"{error}{has}", MISSING) from None
    except InvalidValues as error:
        raise Failure(str(error), USAGE) from None
