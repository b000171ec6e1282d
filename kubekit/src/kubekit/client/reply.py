"""What a server answered, whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_json(self) -> bool:
        return self.headers.get("Content-Type", "").partition(";")[0].strip() == JSON
