"""Numbers that may be a percentage, as rollouts and disruption budgets use them."""

from __future__ import annotations

from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, refuse_each

IntOrPercent = int | str


def check_int_or_percent(found: Problems, value: IntOrPercent, path: str) -> None:
    if isinstance(value, str):
        refuse_each(found, path, value, name_rules.percent(value))
    elif value < 0:
        found.append(bad(path, value, "must be greater than or equal to 0"))


def check_not_above_all(found: Problems, value: IntOrPercent, path: str) -> None:
    if isinstance(value, str) and not name_rules.percent(value) and _number(value) > 100:
        found.append(bad(path, value, "must not be greater than 100%"))


def is_zero(value: IntOrPercent) -> bool:
    return _number(value) == 0


def _number(value: IntOrPercent) -> int:
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    return int(digits) if digits.isdecimal() else 0
