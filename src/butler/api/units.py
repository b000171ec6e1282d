"""Amounts, durations and address ranges as people write them."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import ROUND_CEILING, Decimal
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError

from kubekit.model.resource import QUANTITY_PATTERN

from .shared import IPRange

MIB = 2**20
GIB = 2**30

_QUANTITY = re.compile(QUANTITY_PATTERN)
_AMOUNT = re.compile(r"^([+-]?[0-9.]+)(.*)$")
_BINARY = {f"{letter}i": Decimal(1024**power) for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def amount(quantity: str | int) -> Decimal:
    """The number a Kubernetes quantity stands for: `8Gi`, `500m`, `1e3`, 4. Raises ValueError."""
    text = str(quantity)
    found = _AMOUNT.match(text)
    if not found or not _QUANTITY.match(text):
        raise ValueError(f"{text!r} is not a quantity such as 8Gi, 500m or 4")
    number, suffix = found.groups()
    if suffix in _BINARY:
        return Decimal(number) * _BINARY[suffix]
    exponent = suffix[1:] if suffix[:1] in ("e", "E") and len(suffix) > 1 else str(_DECIMAL[suffix])
    return Decimal(number) * Decimal(10) ** Decimal(exponent)


def whole(quantity: str | int, unit: int = 1) -> int:
    """A quantity in whole units (such as MIB), rounded up."""
    return int((amount(quantity) / unit).to_integral_value(ROUND_CEILING))


def duration(text: str) -> timedelta:
    """A Go duration: `4h`, `1h30m`, `0`. Raises ValueError."""
    digits = text.removeprefix("-").removeprefix("+")
    if digits == "0":
        return timedelta()
    parts = _DURATION.findall(digits)
    if not parts or "".join(number + unit for number, unit in parts) != digits:
        raise ValueError(f"{text!r} is not a duration such as 4h or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return timedelta(seconds=-seconds if text.startswith("-") else seconds)


def address_ranges(text: str) -> tuple[IPRange, ...]:
    """`a-b`, one address, a CIDR, or several of these with commas; neighbours become one. Raises ValueError."""
    spans = sorted(_span(part.strip()) for part in text.split(","))
    joined: list[tuple[IPv4Address, IPv4Address]] = []
    for start, end in spans:
        if joined and int(start) <= int(joined[-1][1]) + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(IPRange(start=str(start), end=str(end)) for start, end in joined)


def _span(text: str) -> tuple[IPv4Address, IPv4Address]:
    try:
        if "/" in text:
            network = IPv4Network(text, strict=False)
            return network[0], network[-1]
        first, _, last = text.partition("-")
        start = IPv4Address(first.strip())
        end = IPv4Address(last.strip()) if last else start
    except (AddressValueError, NetmaskValueError) as error:
        raise ValueError(f"{text!r} is not an IPv4 address, a range a-b or a CIDR") from error
    if end < start:
        raise ValueError(f"{text!r} ends before it begins")
    return start, end
