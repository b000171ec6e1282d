"""Quantities such as `1.5Gi`."""

from __future__ import annotations

from kubekit.model.quantity import Format, Quantity, is_quantity, parse

from ..language.functions import Overload, functions, members
from ..language.values import CelError, name_type

NAME = "kubernetes.Quantity"
name_type(Quantity, NAME)


def _quantity(text: str) -> Quantity:
    try:
        return parse(text)
    except ValueError as error:
        raise CelError(str(error)) from None


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
            ("quantity", f"string -> {NAME}", _quantity),
            ("isQuantity", "string -> bool", is_quantity),
            ("sign", f"{NAME} -> int", lambda one: one.sign),
        ),
        *members(
            ("isGreaterThan", f"{NAME}, {NAME} -> bool", lambda one, other: one > other),
            ("isLessThan", f"{NAME}, {NAME} -> bool", lambda one, other: one < other),
            ("compareTo", f"{NAME}, {NAME} -> int", Quantity.compare),
            ("asApproximateFloat", f"{NAME} -> double", Quantity.as_float),
            ("asInteger", f"{NAME} -> int", _as_integer),
            ("isInteger", f"{NAME} -> bool", lambda one: one.exact_int is not None),
            ("add", f"{NAME}, {NAME} -> {NAME}", lambda one, other: one + other),
            ("add", f"{NAME}, int -> {NAME}", lambda one, other: one + _whole(other)),
            ("sub", f"{NAME}, {NAME} -> {NAME}", lambda one, other: one - other),
            ("sub", f"{NAME}, int -> {NAME}", lambda one, other: one - _whole(other)),
        ),
    ]
