"""Values that depend on the cluster: `$(cluster.name)` and its like, in what a definition says.

Only in definitions, which the platform's people write: what users write is taken as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\$\(([a-zA-Z][a-zA-Z0-9.]*)\)")


class UnknownPlaceholder(KeyError):
    """Nothing has that name."""


class AbsentFact(UnknownPlaceholder):
    """Something has that name, and this cluster has none of it."""


def filled(value: Any, facts: Mapping[str, Any]) -> Any:
    """With every placeholder replaced. One that is the whole text keeps its type: `$(cluster.workers)` is a number.
    Raises UnknownPlaceholder, and AbsentFact for what is known to be None."""
    if isinstance(value, Mapping):
        return {name: filled(one, facts) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [filled(one, facts) for one in value]
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    if whole is not None:
        return _fact(facts, whole[1])
    return _PLACEHOLDER.sub(lambda found: str(_fact(facts, found[1])), value)


def without(value: Mapping[str, Any]) -> dict[str, Any]:
    """What does not depend on the cluster: lists and texts with placeholders are left out."""
    kept = {name: without(one) if isinstance(one, Mapping) else one for name, one in value.items()}
    return {name: one for name, one in kept.items() if isinstance(one, Mapping) or not _asks(one)}


def _asks(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_asks, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_asks, value))
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


def _fact(facts: Mapping[str, Any], name: str) -> Any:
    if name not in facts:
        raise UnknownPlaceholder(name)
    if facts[name] is None:
        raise AbsentFact(name)
    return facts[name]
