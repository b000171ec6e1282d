"""Keeping values out of what people read.

Helm repeats values in its errors: a template may fail with one, an API server shows the field it refuses. Nobody can
tell which of them are secrets, so that none of them is shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HIDDEN = "***"
_SHORTEST = 4
"""Shorter texts are in every message, and no secret."""
_WORDS = frozenset(["true", "false", "null", "none", "latest", "default"])


class Redaction:
    """`redaction(text)` is the text without any of the given values, however Helm may have written them."""

    def __init__(self, *given: Any, public: Iterable[str] = ()) -> None:
        self._given, self._public = given, frozenset(public)
        self._pattern: re.Pattern[str] | None = None

    def __call__(self, text: str) -> str:
        if self._pattern is None:
            self._pattern = self._compiled()
        return self._pattern.sub(HIDDEN, text)

    def _compiled(self) -> re.Pattern[str]:
        secret = {text for text in _texts(self._given) if text not in self._public and text.lower() not in _WORDS}
        written = {form for text in secret for form in _forms(text) if len(form) >= _SHORTEST}
        return re.compile("|".join(re.escape(one) for one in sorted(written, key=len, reverse=True)) or r"(?!)")


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        match pending.pop():
            case str(text):
                yield text
            case bytes(raw):
                yield raw.decode(errors="replace")
            case Mapping() as mapping:
                pending += mapping.values()
            case list() | tuple() as items:
                pending += items
            case _:
                pass


def _forms(text: str) -> Iterator[str]:
    """As it is, by its lines, in quotes, and as a Secret holds it."""
    for part in {text, text.strip(), *map(str.strip, text.splitlines())}:
        yield part
        yield json.dumps(part, ensure_ascii=False)[1:-1]
        yield json.dumps(part)[1:-1]
        if len(part) >= _SHORTEST:
            yield base64.b64encode(part.encode()).decode()
    if len(text) >= _SHORTEST:
        yield base64.b64encode(text.encode()).decode()
