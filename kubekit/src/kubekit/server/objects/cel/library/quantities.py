"""Quantities such as `1.5Gi`."""

from __future__ import annotations

from kubekit.model.quantity import Format, Quantity, is_quantity, parse

from ..language.functions import Implementation, Overload, Priced, functions, members
from ..language.values import CelError, name_type

NAME = "kubernetes.Quantity"
name_type(Quantity, NAME)


def _quantity(text: str) -> Quantity:
    try:
        return parse(text)
    except ValueError as error:
        raise CelError(str(error)) from None


def _counted(run: Implementation) -> Priced:
    """Arithmetic on numbers of many digits."""
    return Priced(lambda *_: 30, run)


def _reading(text: str) -> int:
    return 40 + len(text)


def _whole(number: int) -> Quantity:
    return Quantity(number, 0, Format.EXPONENT)


def _as_integer(quantity: Quantity) -> int:
    whole = quantity.exact_int
    if whole is None:
        raise CelError("cannot convert value to integer")
    return whole


def overloads() -> list[Overload]:
    return [
        *functions(
            ("quantity", f"string -> {NAME}", Priced(_reading, _quantity)),
            ("isQuantity", "string -> bool", Priced(_reading, is_quantity)),
            ("sign", f"{NAME} -> int", lambda one: one.sign),
        ),
        *members(
            ("isGreaterThan", f"{NAME}, {NAME} -> bool", _counted(lambda one, other: one > other)),
            ("isLessThan", f"{NAME}, {NAME} -> bool", _counted(lambda one, other: one < other)),
            ("compareTo", f"{NAME}, {NAME} -> int", _counted(Quantity.compare)),
            ("asApproximateFloat", f"{NAME} -> double", _counted(Quantity.as_float)),
            ("asInteger", f"{NAME} -> int", _as_integer),
            ("isInteger", f"{NAME} -> bool", lambda one: one.exact_int is not None),
            ("add", f"{NAME}, {NAME} -> {NAME}", _counted(lambda one, other: one + other)),
            ("add", f"{NAME}, int -> {NAME}", _counted(lambda one, other: one + _whole(other))),
            ("sub", f"{NAME}, {NAME} -> {NAME}", _counted(lambda one, other: one - other)),
            ("sub", f"{NAME}, int -> {NAME}", _counted(lambda one, other: one - _whole(other))),
        ),
    ]
