"""What a request for the log of a pod may ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kubekit.errors import BadRequest, go_quoted, invalid
from kubekit.server.objects.go.times import second_text
from kubekit.server.objects.problems import Problems, bad, forbidden

_LOWEST = {"tailLines": 0, "limitBytes": 1, "sinceSeconds": 1}
_WHOLE = re.compile(r"[+-]?[0-9]+").fullmatch


def check_log_options(name: str, query: Mapping[str, str]) -> None:
    """Raises BadRequest for what cannot be read, Invalid for what makes no sense; `name` is the pod's."""
    numbers = {field: _number(query[field]) for field in _LOWEST if query.get(field)}
    if query.get("sinceTime"):
        _check_time(query["sinceTime"])
    problems = _problems(numbers, query)
    if problems:
        raise invalid("PodLogOptions", "", name, problems)


def _number(text: str) -> int:
    problem = "" if _WHOLE(text) else "invalid syntax"
    if not problem and not -(2**63) <= int(text[:30]) < 2**63:
        problem = "value out of range"
    if problem:
        raise BadRequest(f"strconv.ParseInt: parsing {go_quoted(text)}: {problem}")
    return int(text)


def _check_time(text: str) -> None:
    try:
        second_text(text)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def _problems(numbers: Mapping[str, int], query: Mapping[str, str]) -> Problems:
    found: Problems = []
    for field, lowest in _LOWEST.items():
        if field == "sinceSeconds" and field in numbers and query.get("sinceTime"):
            found.append(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
        elif numbers.get(field, lowest) < lowest:
            words = "greater than or equal to 0" if lowest == 0 else "greater than 0"
            found.append(bad(field, numbers[field], f"must be {words}"))
    if query.get("stream"):
        found.append(forbidden("stream", "may not be specified"))
    return found
