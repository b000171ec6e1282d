"""How deep a YAML text is nested, found out before anything is built from it.

PyYAML builds nested values by recursion in C, which ends the whole process when a text of some kilobytes is nested deep
enough. Events, on the other hand, come one after the other however deep they are."""

from __future__ import annotations

from typing import Any

LIMIT = 500
"""Far below what recursion can bear, far above what anybody writes."""


class TooDeep(ValueError):
    """The text is nested deeper than the limit."""


def check(content: bytes | str, loader: Any) -> None:
    """Raises TooDeep; `loader` is the class that will read the text. What is no YAML is left to it."""
    text = content.encode() if isinstance(content, str) else content
    if _most_levels(text) > LIMIT:
        _count(text, loader)


def _most_levels(text: bytes) -> int:
    """No text has more levels: each takes a bracket, or a column of its own, of which a list may share its map's."""
    columns = max(map(len, text.splitlines()), default=0)
    return text.count(b"[") + text.count(b"{") + 2 * columns


def _count(text: bytes, loader: Any) -> None:
    import yaml  # noqa: PLC0415 - whoever runs in a cluster reads no YAML

    depth = 0
    reader = loader(text)
    try:
        while reader.check_event():
            event = reader.get_event()
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > LIMIT:
                    raise TooDeep(f"exceeded max depth of {LIMIT}")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError:
        return
    finally:
        reader.dispose()
