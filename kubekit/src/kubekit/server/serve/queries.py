"""Query parameters and delete bodies as options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import unquote_plus

from kubekit.errors import BadRequest, FieldError, FieldProblem, go_quoted, invalid, not_supported
from kubekit.model.selectors import FieldSelector, LabelSelector, SelectorError, parse_fields, parse_labels
from kubekit.server.objects import name_rules
from kubekit.server.objects.cel.language.times import duration
from kubekit.server.objects.object_metadata import field_manager_problems
from kubekit.server.objects.request import DeleteOptions, FieldValidation, ListOptions, WatchOptions


class Query(dict[str, str]):
    """The parameters of a request; of several values for one name the first counts, unless all are asked for."""

    repeated: Mapping[str, list[str]] = MappingProxyType({})

    def all(self, name: str) -> list[str]:
        return self.repeated.get(name) or ([self[name]] if name in self else [])


_MATCHES = ("Exact", "NotOlderThan")
_LONGEST_MANAGER = 128
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
APPLY = "apply"
_PATCHES = {"PatchOptions": "PatchOptions", APPLY: "PatchOptions"}
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_INTEGER = re.compile("[+-]?[0-9]+")
_PROPAGATIONS = ("Foreground", "Background", "Orphan")
DEFAULT_WATCH_SECONDS = 3600.0


_NOTHING = Query()


def parse(raw: str) -> Query:
    """The parameters of a query string; parts that cannot be decoded are ignored."""
    if not raw:
        return _NOTHING
    query = Query()
    repeated: dict[str, list[str]] = {}
    for name, value in _parts(raw):
        if name in query:
            repeated.setdefault(name, [query[name]]).append(value)
        else:
            query[name] = value
    if repeated:
        query.repeated = repeated
    return query


def is_broken(text: str) -> bool:
    """Whether a percent sign stands for nothing."""
    return "%" in text and _BAD_ESCAPE.search(text) is not None


def _parts(raw: str) -> Iterator[tuple[str, str]]:
    for part in raw.split("&"):
        if not part or ";" in part or is_broken(part):
            continue
        name, _, value = part.partition("=")
        yield unquote_plus(name), unquote_plus(value)


def is_true(query: Query, name: str) -> bool:
    """Everything but `0` and `false` is true, if it is there."""
    return name in query and query[name] != "0" and query[name].lower() != "false"


def list_options(query: Query) -> ListOptions:
    """Raises BadRequest."""
    if not query:
        return ListOptions()
    labels, fields = _selectors(query)
    limit, _ = _number(query, "limit"), _number(query, "timeoutSeconds")
    problems = list(_list_problems(query))
    if problems:
        raise invalid("ListOptions", "meta.k8s.io", "", problems)
    return ListOptions(
        labels=labels,
        fields=fields,
        # Whoever takes any version gets all there is at once, as from a cache.
        limit=0 if query.get("resourceVersion") == "0" else max(limit, 0),
        continuation=query.get("continue", ""),
        resource_version=query.get("resourceVersion", ""),
        version_match=cast(Any, query.get("resourceVersionMatch", "")),
    )


def watch_options(query: Query) -> WatchOptions:
    """Raises BadRequest or Invalid."""
    labels, fields = _selectors(query)
    seconds, _ = _number(query, "timeoutSeconds"), _number(query, "limit")
    initial = is_true(query, "sendInitialEvents") if "sendInitialEvents" in query else None
    match = query.get("resourceVersionMatch", "")
    if initial is None and not match and query.get("resourceVersion", "") in ("", "0"):
        # Whoever starts from nothing gets what there is, and is told where that ends.
        initial, match = True, "NotOlderThan"
    problems = list(_watch_problems(match, initial, "continue" in query))
    if problems:
        raise invalid("ListOptions", "meta.k8s.io", "", problems)
    return WatchOptions(
        labels=labels,
        fields=fields,
        resource_version=query.get("resourceVersion", ""),
        bookmarks=is_true(query, "allowWatchBookmarks"),
        send_initial_events=initial,
        timeout=float(seconds) or DEFAULT_WATCH_SECONDS,
    )


def _list_problems(query: Query) -> Iterator[FieldError]:
    match, version = query.get("resourceVersionMatch", ""), query.get("resourceVersion", "")
    if match:
        if not version:
            yield _forbidden_match("resourceVersionMatch is forbidden unless resourceVersion is provided")
        if query.get("continue"):
            yield _forbidden_match("resourceVersionMatch is forbidden when continue is provided")
        if match not in _MATCHES:
            yield not_supported("resourceVersionMatch", match, (*_MATCHES, ""))
        if match == "Exact" and version == "0":
            yield _forbidden_match('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if "sendInitialEvents" in query:
        detail = "sendInitialEvents is forbidden for list"
        yield FieldError(FieldProblem.FORBIDDEN, "sendInitialEvents", detail)


def _watch_problems(match: str, initial: bool | None, is_continued: bool) -> Iterator[FieldError]:
    if initial is not None and match != "NotOlderThan":
        yield _forbidden_match("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    if not match:
        return
    if initial is None:
        yield _forbidden_match("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
    if match != "NotOlderThan":
        yield not_supported("resourceVersionMatch", match, ("NotOlderThan",))
    if is_continued:
        yield _forbidden_match("resourceVersionMatch is forbidden when continue is provided")


def _forbidden_match(detail: str) -> FieldError:
    return FieldError(FieldProblem.FORBIDDEN, "resourceVersionMatch", detail)


def check_timeout(query: Query) -> None:
    """`timeout` must be a duration, though nothing here takes so long. Raises BadRequest."""
    text = query.get("timeout", "")
    if not text:
        return
    try:
        duration(text)
    except ValueError as error:
        raise BadRequest(f"invalid timeout specified in the request URL - {error}") from error


def write_settings(query: Query, kind: str, user_agent: str) -> tuple[str, bool, FieldValidation]:
    """Who owns what is written, whether it is only tried, and how unknown fields are treated. Raises Invalid."""
    problems = list(_patch_problems(query, kind)) if kind in _PATCHES else []
    manager = query.get("fieldManager", "")
    problems += field_manager_problems(manager, "fieldManager")
    dry_run = query.all("dryRun")
    if any(value != "All" for value in dry_run):
        problems.append(not_supported("dryRun", dry_run, ("All",)))
    validation = query.get("fieldValidation", "") or "Warn"
    if validation not in _VALIDATIONS:
        problems.append(not_supported("fieldValidation", validation, _VALIDATIONS))
    if problems:
        raise invalid(_PATCHES.get(kind, kind), "meta.k8s.io", "", problems)
    name = manager or user_agent.partition("/")[0][:_LONGEST_MANAGER] or "unknown"
    return name, bool(dry_run), cast(FieldValidation, validation)


def _patch_problems(query: Query, kind: str) -> Iterator[FieldError]:
    if kind == APPLY:
        if not query.get("fieldManager"):
            yield FieldError(FieldProblem.REQUIRED, "fieldManager", "is required for apply patch")
    elif "force" in query:
        yield FieldError(FieldProblem.FORBIDDEN, "force", "may not be specified for non-apply patch")


def delete_options(query: Query, body: Mapping[str, Any] | None) -> DeleteOptions:
    """From the body, or without one from the query. Raises BadRequest or Invalid."""
    given = dict(body or {})
    if body is not None:
        query = _NOTHING
    elif "dryRun" in query:
        given["dryRun"] = query.all("dryRun")
    conditions = given.get("preconditions") or {}
    propagation = given.get("propagationPolicy") or query.get("propagationPolicy")
    orphan = given.get("orphanDependents")
    if orphan is None and "orphanDependents" in query:
        orphan = is_true(query, "orphanDependents")
    _check_delete(given, propagation, orphan)
    if orphan is not None and not propagation:
        propagation = "Orphan" if orphan else "Background"
    grace = given.get("gracePeriodSeconds")
    if grace is None and "gracePeriodSeconds" in query:
        grace = _number(query, "gracePeriodSeconds")
    return DeleteOptions(
        propagation=cast(Any, propagation or ""),
        grace_period=grace,
        uid=conditions.get("uid") or "",
        resource_version=conditions.get("resourceVersion") or "",
        dry_run=bool(given.get("dryRun")),
    )


def _check_delete(given: Mapping[str, Any], propagation: str | None, orphan: bool | None) -> None:
    problems = []
    if propagation and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        problems.append(FieldError(FieldProblem.INVALID, "propagationPolicy", detail, propagation))
    if propagation is not None and propagation not in _PROPAGATIONS:
        problems.append(not_supported("propagationPolicy", propagation, (*_PROPAGATIONS, "nil")))
    if any(value != "All" for value in given.get("dryRun") or ()):
        problems.append(not_supported("dryRun", given["dryRun"], ("All",)))
    if problems:
        raise invalid("DeleteOptions", "meta.k8s.io", "", problems)


def named(query: Query) -> str:
    """The one name a field selector asks for, so that who may see one object may also list just that."""
    if not query.get("fieldSelector"):
        return ""
    try:
        name = _selectors(query)[1].exactly("metadata.name") or ""
        _number(query, "limit")
        _number(query, "timeoutSeconds")
    except BadRequest:
        # Nothing is believed of a query that cannot be read as a whole.
        return ""
    return "" if any(name_rules.path_segment(name)) else name


def _selectors(query: Query) -> tuple[LabelSelector, FieldSelector]:
    try:
        labels = parse_labels(query["labelSelector"]) if query.get("labelSelector") else LabelSelector()
        fields = parse_fields(query["fieldSelector"]) if query.get("fieldSelector") else FieldSelector()
    except SelectorError as error:
        raise BadRequest(str(error)) from error
    return labels, fields


def _number(query: Query, name: str) -> int:
    """Raises BadRequest for what is no number of 64 bits."""
    text = query.get(name)
    if text is None:
        return 0
    if not _INTEGER.fullmatch(text):
        raise BadRequest(f"strconv.ParseInt: parsing {go_quoted(text)}: invalid syntax")
    digits = text.lstrip("+-0")
    number = int(f"{'-' if text[0] == '-' else ''}{digits[:20] or 0}")
    if len(digits) > 19 or not -(2**63) <= number < 2**63:
        raise BadRequest(f"strconv.ParseInt: parsing {go_quoted(text)}: value out of range")
    return number
