"""Changes of objects, as JSON merge patches."""

from __future__ import annotations

from typing import Any

Change = dict[str, Any]
"""A merge patch: what is None goes."""


def put(tree: dict[str, Any], path: str, value: Any) -> None:
    """Set a value at a path of names with dots between them."""
    *above, last = path.split(".")
    for name in above:
        tree = tree.setdefault(name, {})
    if isinstance(value, dict) and isinstance(tree.get(last), dict):
        tree[last] |= value
    else:
        tree[last] = value


def merged(base: Any, change: Any) -> Any:
    """A JSON merge patch, applied."""
    if not isinstance(change, dict):
        return change
    found = dict(base) if isinstance(base, dict) else {}
    for name, value in change.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found


def difference(old: Any, new: Any) -> Change:
    """The merge patch that leads from one object to another."""
    change: Change = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            if below := difference(before, value):
                change[name] = below
        elif name not in old or before != value:
            change[name] = value
    return change
