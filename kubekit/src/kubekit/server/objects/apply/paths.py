"""Path elements of a field set: `f:name`, `k:{"port":80}`, `v:"x"`, `i:0`, and the order and words for them."""

from __future__ import annotations

import json
from typing import Any

from kubekit.errors import go_text

from ..bounded_cache import remember_short

# Go's encoder writes these characters escaped inside JSON strings.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}

_RANK = {"f": 0, "k": 1, "v": 2, "i": 3}


class UnknownElement(ValueError):
    """The element is of a kind this server does not know; such elements are dropped, not refused."""


def go_json(value: Any) -> str:
    """JSON as Go writes it: sorted keys, no blanks, HTML characters escaped, whole floats as integers."""
    text = json.dumps(_whole(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.translate(_ESCAPES)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


def key_element(name: str, value: Any) -> str:
    """The element of a list item with one key."""
    return f'k:{{"{name}":{_written(value)}}}' if name.isalnum() else keys_element({name: value})


@remember_short(16384)
def _written(value: Any) -> str:
    return go_json(value)


def keys_element(keys: dict[str, Any]) -> str:
    """The element of a list item with several keys."""
    return f"k:{go_json(keys)}"


@remember_short(16384)
def value_element(value: Any) -> str:
    """The element of a set member."""
    return f"v:{go_json(value)}"


@remember_short(16384)
def canonical(element: str) -> str:
    """The element as this server writes it. Raises ValueError when it is none."""
    if len(element) < 2:
        raise ValueError("key must be 2 characters long:")
    if element[1] != ":":
        raise ValueError(f"missing colon: {element}")
    kind, text = element[0], element[2:]
    if kind not in _RANK:
        raise UnknownElement(element)
    if kind == "f":
        return element
    if kind == "i":
        return f"i:{int(text)}"
    parsed = json.loads(text)
    if kind == "k" and not isinstance(parsed, dict):
        raise ValueError(f"not an object: {element}")
    return f"{kind}:{go_json(parsed)}"


@remember_short(16384)
def order(element: str) -> tuple[Any, ...]:
    """Sorts elements as Kubernetes does: names, keys, values, positions; numbers by size."""
    kind, text = element[0], element[2:]
    if kind == ".":
        return (-1,)
    if kind == "f":
        return (0, text)
    parsed = json.loads(text)
    if kind == "k":
        return (1, tuple((name, _value_order(value)) for name, value in sorted(parsed.items())))
    return (_RANK[kind], _value_order(parsed))


def _value_order(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    return (3, go_json(value))


def text(element: str) -> str:
    """The element as error messages show it: `.name`, `[port=80]`, `[="x"]`."""
    kind, rest = element[0], element[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        return "[" + ",".join(f"{name}={go_text(value)}" for name, value in sorted(json.loads(rest).items())) + "]"
    return f"[={go_text(json.loads(rest))}]" if kind == "v" else f"[{rest}]"
