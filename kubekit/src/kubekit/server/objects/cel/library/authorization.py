"""What somebody may do, as expressions of admission ask: `authorizer.group('').resource('pods').check('get')`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..language.functions import Implementation, Overload, Priced, members
from ..rights import (
    AUTHORIZER,
    DECISION,
    GROUP_CHECK,
    PATH_CHECK,
    RESOURCE_CHECK,
    Authorizer,
    GroupCheck,
    PathCheck,
    ResourceCheck,
)
from . import costs

_CHECK, _BUILDING = 350_000, 20
"""What an answer costs, two of which are allowed for, and what it takes to word the question."""


def _path(authorizer: Authorizer, path: str) -> PathCheck:
    return PathCheck(authorizer.decide, replace(authorizer.asked, path=path))


def _group(authorizer: Authorizer, group: str) -> GroupCheck:
    return GroupCheck(authorizer.decide, replace(authorizer.asked, group=group))


def _resource(check: GroupCheck, resource: str) -> ResourceCheck:
    return ResourceCheck(check.decide, replace(check.asked, resource=resource))


def _narrowed(part: str) -> Callable[[ResourceCheck, str], ResourceCheck]:
    def narrow(check: ResourceCheck, value: str) -> ResourceCheck:
        changed: dict[str, Any] = {part: value}
        return replace(check, asked=replace(check.asked, **changed))

    return narrow


def _unchanged(check: ResourceCheck, _selector: str) -> ResourceCheck:
    """Rights here do not depend on selectors."""
    return check


def _account_cost(_authorizer: Authorizer, namespace: str, name: str) -> int:
    return _BUILDING + len(namespace) + len(name)


def overloads() -> list[Overload]:
    def built(run: Implementation) -> Priced:
        return Priced(costs.fixed(_BUILDING), run)

    narrowing = f"{RESOURCE_CHECK}, string -> {RESOURCE_CHECK}"
    return members(
        ("path", f"{AUTHORIZER}, string -> {PATH_CHECK}", built(_path)),
        ("group", f"{AUTHORIZER}, string -> {GROUP_CHECK}", built(_group)),
        (
            "serviceAccount",
            f"{AUTHORIZER}, string, string -> {AUTHORIZER}",
            Priced(_account_cost, Authorizer.for_account),
        ),
        ("resource", f"{GROUP_CHECK}, string -> {RESOURCE_CHECK}", built(_resource)),
        ("subresource", narrowing, built(_narrowed("subresource"))),
        ("namespace", narrowing, built(_narrowed("namespace"))),
        ("name", narrowing, built(_narrowed("name"))),
        ("fieldSelector", narrowing, _unchanged),
        ("labelSelector", narrowing, _unchanged),
        ("check", f"{PATH_CHECK}, string -> {DECISION}", Priced(costs.fixed(_CHECK), Authorizer.check)),
        ("check", f"{RESOURCE_CHECK}, string -> {DECISION}", Priced(costs.fixed(_CHECK), Authorizer.check)),
        ("allowed", f"{DECISION} -> bool", lambda decision: decision.is_allowed),
        ("reason", f"{DECISION} -> string", lambda decision: decision.reason),
        ("errored", f"{DECISION} -> bool", lambda _: False),
        ("error", f"{DECISION} -> string", lambda _: ""),
    )
