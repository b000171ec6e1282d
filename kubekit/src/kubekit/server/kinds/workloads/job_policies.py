"""When a job has failed, when it has succeeded, and how large one with indexes may be."""

from __future__ import annotations

import re

from kubekit.errors import OMITTED, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    first_places,
    not_negative,
    refuse_each,
    required,
    too_long,
    too_many,
)

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES, _MOST_CODES, _MOST_PATTERNS = 20, 255, 20
_LONGEST_INDEXES = 64 * 1024
_MOST_INDEXES, _MOST_OF_MANY = 100_000, 10_000
_OF_MANY = f"when completions are above {_MOST_INDEXES} and used with backoff limit per index"
_is_number = re.compile(r"[+-]?[0-9]+").fullmatch


def check_size(found: Problems, spec: Object, path: str) -> None:
    """How many indexes there may be, at once and failed."""
    completions, parallelism, failed = (spec.get(n) for n in ("completions", "parallelism", "maxFailedIndexes"))
    if parallelism is not None and parallelism > _MOST_INDEXES:
        detail = f"must be less than or equal to {_MOST_INDEXES} when completion mode is Indexed"
        found.append(bad(f"{path}.parallelism", parallelism, detail))
    if completions is not None and failed is not None and failed > completions:
        found.append(bad(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions"))
    if failed is not None and failed > _MOST_INDEXES:
        found.append(bad(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MOST_INDEXES}"))
    if (completions or 0) > _MOST_INDEXES and spec.get("backoffLimitPerIndex") is not None:
        if failed is None:
            detail = f"must be specified when completions is above {_MOST_INDEXES}"
            found.append(required(f"{path}.maxFailedIndexes", detail))
        for name, number in (("parallelism", parallelism), ("maxFailedIndexes", failed)):
            if number is not None and number > _MOST_OF_MANY:
                detail = f"must be less than or equal to {_MOST_OF_MANY} {_OF_MANY}"
                found.append(bad(f"{path}.{name}", number, detail))


def check_failure_policy(found: Problems, spec: Object, path: str) -> None:
    """`podFailurePolicy`."""
    rules = spec["podFailurePolicy"].get("rules") or []
    if len(rules) > _MOST_RULES:
        found.append(too_many(f"{path}.rules", len(rules), _MOST_RULES))
    pods = spec["template"].get("spec") or {}
    containers = {one.get("name") for part in ("containers", "initContainers") for one in pods.get(part) or ()}
    for index, rule in enumerate(rules):
        place, codes, patterns = f"{path}.rules[{index}]", rule.get("onExitCodes"), rule.get("onPodConditions") or []
        _check_action(found, spec, rule.get("action") or "", f"{place}.action")
        if codes is not None:
            _check_codes(found, codes, f"{place}.onExitCodes", containers)
        _check_patterns(found, patterns, f"{place}.onPodConditions")
        if codes is not None and patterns:
            detail = "specifying both OnExitCodes and OnPodConditions is not supported"
            found.append(bad(place, OMITTED, detail))
        if codes is None and not patterns:
            detail = "specifying one of OnExitCodes and OnPodConditions is required"
            found.append(bad(place, OMITTED, detail))


def _check_action(found: Problems, spec: Object, action: str, path: str) -> None:
    if action == "FailIndex":
        if spec.get("backoffLimitPerIndex") is None:
            found.append(bad(path, action, "requires the backoffLimitPerIndex to be set"))
    else:
        _check_choice(found, action, path, _ACTIONS)


def _check_choice(found: Problems, value: str, path: str, choices: tuple[str, ...]) -> None:
    if not value:
        listed = " ".join(f'"{one}"' for one in choices)
        found.append(required(path, f"valid values: [{listed}]"))
    elif value not in choices:
        found.append(not_supported(path, value, choices))


def _check_patterns(found: Problems, patterns: list[Object], path: str) -> None:
    if len(patterns) > _MOST_PATTERNS:
        found.append(too_many(path, len(patterns), _MOST_PATTERNS))
    for index, pattern in enumerate(patterns):
        kind = pattern.get("type") or ""
        refuse_each(found, f"{path}[{index}].type", kind, name_rules.qualified_name(kind))
        _check_choice(found, pattern.get("status") or "", f"{path}[{index}].status", _STATUSES)


def _check_codes(found: Problems, codes: Object, path: str, containers: set[str | None]) -> None:
    operator, container = codes.get("operator") or "", codes.get("containerName")
    _check_choice(found, operator, f"{path}.operator", _OPERATORS)
    if container is not None and container not in containers:
        detail = "must be one of the container or initContainer names in the pod template"
        found.append(bad(f"{path}.containerName", container, detail))
    values, place = codes.get("values") or [], f"{path}.values"
    if not values:
        found.append(bad(place, [], "at least one value is required"))
    elif len(values) > _MOST_CODES:
        found.append(too_many(place, len(values), _MOST_CODES))
    first = first_places(values)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            found.append(bad(f"{place}[{index}]", value, "must not be 0 for the In operator"))
        if first[value] < index:
            found.append(duplicate(f"{place}[{index}]", value))
    if values != sorted(values):
        found.append(bad(place, values, "must be ordered"))


def check_success_policy(found: Problems, spec: Object, path: str) -> None:
    """`successPolicy` of a job with indexes."""
    rules = spec["successPolicy"].get("rules") or []
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        found.append(required(f"{path}.rules", detail))
    if len(rules) > _MOST_RULES:
        found.append(too_many(f"{path}.rules", len(rules), _MOST_RULES))
    for index, rule in enumerate(rules):
        _check_success(found, rule, f"{path}.rules[{index}]", spec.get("completions") or 0)


def _check_success(found: Problems, rule: Object, path: str, completions: int) -> None:
    count, indexes, total = rule.get("succeededCount"), rule.get("succeededIndexes"), 0
    if count is None and indexes is None:
        detail = "at least one of succeededCount or succeededIndexes must be specified"
        found.append(required(path, detail))
    if indexes is not None:
        if len(indexes) > _LONGEST_INDEXES:
            found.append(too_long(f"{path}.succeededIndexes", _LONGEST_INDEXES))
        try:
            total = _count(indexes, completions)
        except ValueError as error:
            detail = f"error parsing succeededIndexes: {error}"
            found.append(bad(f"{path}.succeededIndexes", indexes, detail))
    not_negative(found, rule, "succeededCount", path)
    if count is not None and count > completions:
        detail = f"must be less than or equal to {completions} (the number of specified completions)"
        found.append(bad(f"{path}.succeededCount", count, detail))
    if count is not None and indexes is not None and count > total:
        detail = f"{total} (the number of indexes in the specified succeededIndexes field)"
        found.append(bad(f"{path}.succeededCount", count, f"must be less than or equal to {detail}"))


def _count(indexes: str, completions: int) -> int:
    """How many indexes a text such as `0,2-4` names. Raises ValueError with what is wrong with it."""
    total, last = 0, None
    for interval in indexes.split(",") if indexes else ():
        first, end = _bounds(interval, completions)
        if last is not None and last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total, last = total + end - first + 1, end
    return total


def _bounds(interval: str, completions: int) -> tuple[int, int]:
    parts = interval.split("-")
    if len(parts) > 2:
        rule = "an index interval can have at most two parts separated by '-'"
        raise ValueError(f'the fragment "{interval}" violates the requirement that {rule}')
    bounds = []
    for part in parts:
        if not _is_number(part):
            raise ValueError(f'cannot convert string to integer for index: "{part}"')
        if int(part) >= completions:
            raise ValueError(f'too large index: "{part}"')
        bounds.append(int(part))
    if len(bounds) == 2 and bounds[0] >= bounds[1]:
        raise ValueError(f"non-increasing order, previous: {bounds[0]}, current: {bounds[1]}")
    return bounds[0], bounds[-1]
