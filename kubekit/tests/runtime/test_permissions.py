"""RBAC out of declarations."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from kubekit.runtime.events import EVENT
from kubekit.runtime.leader import Election
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.permissions import rules_for
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, children
from kubekit.server.client import DirectClient
from kubekit.server.objects.user import UserInfo
from kubekit.server.spaces.served_space import ServedSpace
from kubekit.testing.deterministic_loop import Loop
from tests.runtime.world import NAMESPACE, PART, Cloud, Paint, Widget, Widgets, WidgetSpace, widget


class Declared(Reconciler[Widget]):
    kind = Widget
    finalizer = "test/held"
    watches = (children(PART, of=Widget),)
    permissions: tuple[Permission, ...] = (
        Permission(PART, ("create", "delete")),
        Permission(Paint, ("get",), names=("matt",)),
    )

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


async def test_controllers_run_with_exactly_these_rights(kubekit_loop: Loop) -> None:
    loop = kubekit_loop
    space = WidgetSpace(loop.clock, loop.chance)
    election = Election("lock", NAMESPACE)
    settings = ManagerSettings("test", election)
    user = UserInfo("controllers")
    manager = Manager(DirectClient(cast(ServedSpace, space), user), settings, clock=loop.clock, chance=loop.chance)
    controller = manager.add(Widgets(manager, Cloud(loop.clock)))
    role = rules_for([controller.reconciler], "controllers", election=election)
    space.rbac.upsert("ClusterRole", role)
    space.rbac.upsert("ClusterRoleBinding", binding(user.name))
    running = asyncio.ensure_future(manager.run())
    client = space.client()
    await client.create(widget("a", 2))
    await asyncio.sleep(20)
    await client.patch(Widget, "a", {"spec": {"size": 1}}, NAMESPACE)
    await asyncio.sleep(20)
    await client.delete(Widget, "a", NAMESPACE)
    await asyncio.sleep(20)
    assert (await client.list(Widget)).items == ()
    assert len((await client.list(EVENT)).items) > 0
    assert manager.metrics.requests.get("403", "PATCH") == manager.metrics.requests.get("403", "POST") == 0
    running.cancel()


def binding(user: str) -> dict[str, Any]:
    return {
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "controllers"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
