"""RBAC out of declarations."""

from __future__ import annotations

from typing import Any

import pytest

from butler.runtime.leader import Election
from butler.runtime.permissions import rules_for
from butler.runtime.reconciler import Outcome, Permission, Reconciler, children
from tests.runtime.world import PART, Paint, Widget


class Declared(Reconciler[Widget]):
    kind = Widget
    finalizer = "test/held"
    watches = (children(PART, of=Widget),)
    permissions = (Permission(PART, ("create", "delete")), Permission(Paint, ("get",), names=("matt",)))

    async def reconcile(self, obj: Widget) -> Outcome:
        return Outcome()


def rules(role: dict[str, Any]) -> set[tuple[str, ...]]:
    return {
        (rule["apiGroups"][0], resource, verb, *rule.get("resourceNames", ()))
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_the_role_allows_what_is_declared_and_what_the_runtime_does() -> None:
    group = Widget.address.group
    assert rules(rules_for([Declared()], "test", election=Election("lock", "default"))) == {
        *((group, "widgets", verb) for verb in ("get", "list", "watch", "patch")),
        (group, "widgets/status", "patch"),
        *((group, "parts", verb) for verb in ("get", "list", "watch", "create", "delete")),
        (group, "paints", "get", "matt"),
        ("", "events", "create"),
        ("", "events", "patch"),
        ("coordination.k8s.io", "leases", "create"),
        ("coordination.k8s.io", "leases", "get", "lock"),
        ("coordination.k8s.io", "leases", "patch", "lock"),
    }


def test_the_role_is_the_same_in_every_run() -> None:
    assert rules_for([Declared()], "test") == rules_for([Declared()], "test")
    assert rules_for([Declared()], "test")["rules"][0]["verbs"] == ["create", "patch"]


def test_a_wildcard_is_refused() -> None:
    class Greedy(Declared):
        permissions = (Permission(PART, ("*",)),)

    with pytest.raises(ValueError, match="wildcard"):
        rules_for([Greedy()], "test")
