"""How Compute Engine words its answers: errors, lists, pages and filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from aiohttp import web

from butler.providers.testing import Fault
from butler.providers.testing.faults import RETRY_AFTER

Json = dict[str, Any]
Holds = Callable[[Json], bool]
WWW = "https://www.googleapis.com/compute/v1"
_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}


class Refused(Exception):
    """An error answer."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message


def error(refused: Refused, headers: dict[str, str] | None = None) -> web.Response:
    domain = "usageLimits" if "xceeded" in refused.reason else "global"
    inner = {"message": refused.message, "domain": domain, "reason": refused.reason}
    body: Json = {"code": refused.code, "message": refused.message, "errors": [inner]}
    if status := _STATUS.get(refused.code):
        body["status"] = status
    return web.json_response({"error": body}, status=refused.code, headers=headers)


def troubled(fault: Fault) -> web.Response:
    """429 and 500 in Google's format."""
    if fault is Fault.LIMITED:
        refused = Refused(429, "rateLimitExceeded", "Quota exceeded for quota metric 'Queries'")
        return error(refused, {"Retry-After": f"{RETRY_AFTER:g}"})
    return error(Refused(500, "backendError", "Internal error. Please try again."))


def not_found(path: str) -> Refused:
    return Refused(404, "notFound", f"The resource '{path}' was not found")


def invalid(message: str) -> Refused:
    return Refused(400, "invalid", message)


def chosen(filter_text: str, things: Iterable[Json]) -> list[Json]:
    """What a filter lets through: `a = "b"`, `labels.a:*`, `(…) OR (…)`, or one regular expression."""
    if found := re.fullmatch(r"([\w.]+) (eq|ne) (.+)", filter_text):
        name, operator, pattern = found.groups()
        return [one for one in things if bool(re.fullmatch(pattern, _at(one, name))) == (operator == "eq")]
    terms = re.split(r"\s+(OR|AND)\s+", filter_text)
    if len(set(terms[1::2])) > 1:
        raise invalid(f"Invalid value for field 'filter': '{filter_text}'. Invalid list filter expression.")
    tests = [_term(term) for term in terms[::2]]
    combine = any if "OR" in terms[1::2] else all
    return [one for one in things if combine(test(one) for test in tests)]


def _term(text: str) -> Holds:
    found = re.fullmatch(r"([\w.-]+)\s*(=|!=|:)\s*(?:\"([^\"]*)\"|([^\s\"()]+))", text.strip().strip("()"))
    if found is None or (found[2] == ":" and found[4] != "*"):
        raise invalid(f"Invalid value for field 'filter': '{text}'. Invalid list filter expression.")
    name, operator, quoted, plain = found.groups()
    if operator == ":":
        return lambda thing: _at(thing, name) != ""
    wanted = quoted if quoted is not None else plain
    return lambda thing: (_at(thing, name) == wanted) == (operator == "=")


def _at(thing: Any, name: str) -> str:
    for part in name.split("."):
        if isinstance(thing, list):
            thing = thing[0] if thing else {}
        thing = thing.get(part, "") if isinstance(thing, dict) else ""
    return str(thing)


def page_of(things: list[Json], query: dict[str, str], most: int) -> tuple[list[Json], str]:
    """Part of a list, and the token of what comes next."""
    size = min(int(query.get("maxResults", "500")), most)
    token = query.get("pageToken", "")
    if token and not re.fullmatch(r"page-\d+", token):
        raise invalid("Invalid value for field 'pageToken'")
    start = int(token.removeprefix("page-") or 0)
    return things[start : start + size], f"page-{start + size}" if len(things) > start + size else ""


def listed(kind: str, things: list[Json], next_page: str) -> Json:
    answer: Json = {"kind": f"compute#{kind}List", "id": "x", **({"items": things} if things else {})}
    return {**answer, "nextPageToken": next_page} if next_page else answer


def aggregated(collection: str, scopes: Iterable[str], things: list[Json], next_page: str, down: set[str]) -> Json:
    """By zone and region; those that have nothing say so in a warning, and so do those that cannot be reached."""
    items: Json = {}
    for scope in scopes:
        held = [one for one in things if scope == scope_of(one)]
        empty = {"code": "NO_RESULTS_ON_PAGE", "message": f"There are no results for scope '{scope}' on this page."}
        items[scope] = {collection: held} if held else {"warning": empty}
        if scope in down:
            items[scope] = {"warning": {"code": "UNREACHABLE", "message": f"Scope '{scope}' is unreachable."}}
    answer: Json = {"kind": "compute#aggregatedList", "id": "x", "items": items}
    return {**answer, "nextPageToken": next_page} if next_page else answer


def scope_of(thing: Json) -> str:
    for name in ("zone", "region"):
        if name in thing:
            return f"{name}s/{thing[name].rpartition('/')[2]}"
    return "global"
