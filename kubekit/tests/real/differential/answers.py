"""What a server said to one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    """Decoded JSON, the events of a watch as a list, or text."""
    headers: Mapping[str, Any] = field(default_factory=dict)
    """In small letters, with all values in a list."""

    def at(self, path: str) -> Any:
        """The value at a place in the body, None when there is none."""
        found = self.body
        for part in path.split(".") if path else ():
            if isinstance(found, list) and part.lstrip("-").isdigit() and -len(found) <= int(part) < len(found):
                found = found[int(part)]
            elif isinstance(found, dict):
                found = found.get(part)
            else:
                return None
        return found
