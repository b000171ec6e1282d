"""The quantities inside objects: compared and spelt as Kubernetes does."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kubekit.model.quantity import Quantity, parse

_MILLI = -3

ZERO = Quantity(0)


@lru_cache(maxsize=4096)
def amount(text: str) -> Quantity:
    """The number a quantity stands for."""
    return parse(text)


@lru_cache(maxsize=4096)
def canonical(value: str | float) -> str:
    """The one spelling Kubernetes stores."""
    found = parse(str(value))
    return str(Quantity(found.digits, found.exponent, found.format))


@lru_cache(maxsize=4096)
def _rounded(text: str) -> str:
    found = parse(text)
    if found.exponent >= _MILLI:
        return str(Quantity(found.digits, found.exponent, found.format))
    digits = found.sign * -(-abs(found.digits) // 10 ** (_MILLI - found.exponent))
    return str(Quantity(digits, _MILLI, found.format))


def settle(listed: dict[str, Any]) -> None:
    """Spell all quantities of a resource list as they are stored, in place: rounded up to thousandths."""
    for name, value in listed.items():
        listed[name] = _rounded(str(value))


def number(text: str) -> float:
    """As near as a floating-point number comes, in thousandths."""
    found = amount(text)
    return float(found.digits) * 10.0**found.exponent


def is_whole(text: str) -> bool:
    found = amount(text)
    return found.exponent >= 0 or found.digits % 10**-found.exponent == 0
