"""Label selectors inside objects: are they valid, do they match, how are they shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, forbidden, refuse_each, required, unchanged

Selector = Mapping[str, Any]

_WITH_VALUES = {"In", "NotIn"}
_WITHOUT_VALUES = {"Exists", "DoesNotExist"}


def check_labels(found: Problems, labels: Mapping[str, str] | None, path: str) -> None:
    for key, value in (labels or {}).items():
        refuse_each(found, path, key, name_rules.qualified_name(key))
        refuse_each(found, path, value, name_rules.label_value(value))


def check_selector(found: Problems, selector: Selector | None, path: str) -> None:
    if not selector:
        return
    check_labels(found, selector.get("matchLabels"), f"{path}.matchLabels")
    for index, rule in enumerate(selector.get("matchExpressions") or ()):
        _check_rule(found, rule, f"{path}.matchExpressions[{index}]")


def _check_rule(found: Problems, rule: Mapping[str, Any], path: str) -> None:
    operator, values = rule.get("operator") or "", rule.get("values") or ()
    if operator in _WITH_VALUES:
        if not values:
            found.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in _WITHOUT_VALUES:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{path}.values", detail))
    else:
        found.append(bad(f"{path}.operator", operator, "not a valid selector operator"))
    key = rule.get("key") or ""
    refuse_each(found, f"{path}.key", key, name_rules.qualified_name(key))
    for index, value in enumerate(values):
        refuse_each(found, f"{path}.values[{index}]", value, name_rules.label_value(value))


def in_order(selector: Selector) -> dict[str, Any]:
    """A selector as error messages show it, its labels sorted."""
    shown: dict[str, Any] = {}
    if selector.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(selector["matchLabels"].items()))
    if selector.get("matchExpressions"):
        shown["matchExpressions"] = selector["matchExpressions"]
    return shown


def check_unchanged(found: Problems, selector: Selector | None, old: Selector | None) -> None:
    """A workload keeps the selector it was made with."""
    unchanged(found, "spec.selector", *(None if one is None else in_order(one) for one in (selector, old)))


def is_empty(selector: Selector | None) -> bool:
    return not selector or not (selector.get("matchLabels") or selector.get("matchExpressions"))


def matches(selector: Selector | None, labels: Mapping[str, str] | None) -> bool:
    """Whether labels satisfy a selector; an empty one is satisfied by all, a missing one by none."""
    if selector is None:
        return False
    labels = labels or {}
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_satisfied(rule, labels) for rule in selector.get("matchExpressions") or ())


def _satisfied(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = rule.get("key", ""), rule.get("values") or ()
    match rule.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False


def shown_labels(labels: Mapping[str, str] | None, nothing: str = "<none>") -> str:
    """`a=b,c=d`, sorted."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or nothing


def shown(selector: Selector | None, nothing: str = "<none>") -> str:
    """A selector as kubectl prints it: `a=b,c in (d,e),!f`."""
    if selector is None:
        return nothing
    parts = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    parts += [(rule.get("key", ""), _shown_rule(rule)) for rule in selector.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(parts)) or nothing


def _shown_rule(rule: Mapping[str, Any]) -> str:
    key, values = rule.get("key", ""), ",".join(sorted(rule.get("values") or ()))
    match rule.get("operator"):
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
        case _:
            return f"!{key}"
