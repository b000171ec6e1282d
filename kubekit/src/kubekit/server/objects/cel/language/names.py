"""Property names as CEL identifiers."""

from __future__ import annotations

import re

_RESERVED = frozenset(
    ("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import")
) | {"let", "loop", "package", "namespace", "return", "var", "void", "while"}
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


def escape(name: str) -> str:
    """The identifier under which rules reach a property; empty when there is none."""
    if name in _RESERVED:
        return f"__{name}__"
    if not re.fullmatch(r"[A-Za-z_.\-/][A-Za-z0-9_.\-/]*", name):
        return ""
    return re.sub(r"__|[.\-/]", lambda found: _ESCAPES[found[0]], name)
