"""Query parameters and delete bodies as options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import parse_qsl

from butler.apiserver.requests import DeleteOptions, FieldValidation, ListOptions, WatchOptions
from butler.errors import BadRequest, FieldError, FieldProblem, invalid, not_supported
from butler.kube.selectors import FieldSelector, LabelSelector, SelectorError, parse_fields, parse_labels

Query = Mapping[str, str]

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_LONGEST_MANAGER = 128
_PROPAGATIONS = ("Foreground", "Background", "Orphan")
DEFAULT_WATCH_SECONDS = 3600.0


def parse(raw: str) -> Query:
    """The parameters of a query string; the first of several values counts."""
    if not raw:
        return {}
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(raw, keep_blank_values=True):
        parameters.setdefault(name, value)
    return parameters


def is_true(query: Query, name: str) -> bool:
    return query.get(name, "") in _TRUE


def list_options(query: Query) -> ListOptions:
    """Raises BadRequest."""
    if not query:
        return ListOptions()
    labels, fields = _selectors(query)
    match = query.get("resourceVersionMatch", "")
    if match not in ("", "Exact", "NotOlderThan"):
        raise _invalid_list(not_supported("resourceVersionMatch", match, ("Exact", "NotOlderThan", "")))
    if match == "Exact" and query.get("resourceVersion", "") in ("", "0"):
        detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        raise _invalid_list(FieldError(FieldProblem.FORBIDDEN, "resourceVersionMatch", detail))
    return ListOptions(
        labels=labels,
        fields=fields,
        limit=max(_number(query, "limit"), 0),
        continuation=query.get("continue", ""),
        resource_version=query.get("resourceVersion", ""),
        version_match=cast(Any, match),
    )


def watch_options(query: Query) -> WatchOptions:
    """Raises BadRequest or Invalid."""
    labels, fields = _selectors(query)
    initial = is_true(query, "sendInitialEvents") if "sendInitialEvents" in query else None
    match = query.get("resourceVersionMatch", "")
    if initial is not None and match != "NotOlderThan":
        detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        raise _invalid_list(FieldError(FieldProblem.FORBIDDEN, "resourceVersionMatch", detail))
    if initial is None and match:
        detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        raise _invalid_list(FieldError(FieldProblem.FORBIDDEN, "resourceVersionMatch", detail))
    return WatchOptions(
        labels=labels,
        fields=fields,
        resource_version=query.get("resourceVersion", ""),
        bookmarks=is_true(query, "allowWatchBookmarks"),
        send_initial_events=initial,
        timeout=float(_number(query, "timeoutSeconds")) or DEFAULT_WATCH_SECONDS,
    )


def dry_run(query: Query, kind: str) -> bool:
    """`dryRun=All`. Raises Invalid."""
    value = query.get("dryRun", "")
    if value not in ("", "All"):
        raise invalid(kind, "meta.k8s.io", "", [not_supported("dryRun", [value], ("All",))])
    return value == "All"


def field_validation(query: Query, kind: str) -> FieldValidation:
    """Raises Invalid."""
    value = query.get("fieldValidation", "") or "Warn"
    if value not in ("Ignore", "Warn", "Strict"):
        raise invalid(
            kind, "meta.k8s.io", "", [not_supported("fieldValidation", value, ("", "Ignore", "Warn", "Strict"))]
        )
    return cast(FieldValidation, value)


def field_manager(query: Query, kind: str, user_agent: str) -> str:
    """Who owns what is written: as told, else by the client's name. Raises Invalid."""
    manager = query.get("fieldManager", "")
    if len(manager) > _LONGEST_MANAGER:
        detail = f"may not be more than {_LONGEST_MANAGER} bytes"
        raise invalid(kind, "meta.k8s.io", "", [FieldError(FieldProblem.TOO_LONG, "fieldManager", detail, manager)])
    return manager or user_agent.partition("/")[0][:_LONGEST_MANAGER] or "unknown"


def delete_options(query: Query, body: Mapping[str, Any] | None) -> DeleteOptions:
    """From the body, or where it says nothing from the query. Raises BadRequest or Invalid."""
    given = body or {}
    conditions = given.get("preconditions") or {}
    propagation = given.get("propagationPolicy") or query.get("propagationPolicy", "")
    orphan = given.get("orphanDependents")
    if orphan is None and "orphanDependents" in query:
        orphan = is_true(query, "orphanDependents")
    _check_delete(given, propagation, orphan)
    if orphan is not None and not propagation:
        propagation = "Orphan" if orphan else "Background"
    grace = given.get("gracePeriodSeconds")
    if grace is None and query.get("gracePeriodSeconds"):
        grace = _number(query, "gracePeriodSeconds")
    return DeleteOptions(
        propagation=cast(Any, propagation),
        grace_period=grace,
        uid=conditions.get("uid") or "",
        resource_version=conditions.get("resourceVersion") or "",
        dry_run="All" in (given.get("dryRun") or ()) or dry_run(query, "DeleteOptions"),
    )


def _check_delete(given: Mapping[str, Any], propagation: str, orphan: bool | None) -> None:
    problems = []
    if propagation and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        problems.append(FieldError(FieldProblem.INVALID, "propagationPolicy", detail, propagation))
    if propagation and propagation not in _PROPAGATIONS:
        problems.append(not_supported("propagationPolicy", propagation, (*_PROPAGATIONS, "nil")))
    if any(value != "All" for value in given.get("dryRun") or ()):
        problems.append(not_supported("dryRun", given["dryRun"], ("All",)))
    if problems:
        raise invalid("DeleteOptions", "meta.k8s.io", "", problems)


def _selectors(query: Query) -> tuple[LabelSelector, FieldSelector]:
    try:
        labels = parse_labels(query["labelSelector"]) if query.get("labelSelector") else LabelSelector()
        fields = parse_fields(query["fieldSelector"]) if query.get("fieldSelector") else FieldSelector()
    except SelectorError as error:
        raise BadRequest(str(error)) from error
    return labels, fields


def _number(query: Query, name: str) -> int:
    text = query.get(name, "")
    if not text:
        return 0
    try:
        return int(text)
    except ValueError:
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def _invalid_list(problem: FieldError) -> Exception:
    return invalid("ListOptions", "meta.k8s.io", "", [problem])
