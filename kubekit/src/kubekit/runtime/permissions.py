"""RBAC out of what controllers declare, so that nobody has to guess and nobody may do more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kubekit.client.protocol import address_of

from .events import EVENT
from .leader import LEASE, Election
from .objects import Kind
from .reconciler import Permission, Reconciler

_READ = ("get", "list", "watch")
_ORDER = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")

Rule = dict[str, list[str]]


def rules_for(
    reconcilers: Iterable[Reconciler[Any]],
    name: str,
    *,
    election: Election | None = None,
    also: Iterable[Permission] = (),
) -> dict[str, Any]:
    """A ClusterRole that allows exactly what these controllers do, together with what the runtime does for them, and
    `also` what runs beside them.

    Raises ValueError for a wildcard."""
    wanted = [permission for reconciler in reconcilers for permission in _of(reconciler)]
    wanted.extend(also)
    wanted.append(Permission(EVENT, ("create", "patch")))
    if election is not None:
        wanted.append(Permission(LEASE, ("create",)))
        wanted.append(Permission(LEASE, ("get", "patch"), names=(election.name,)))
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": _rules(wanted),
    }


def _of(reconciler: Reconciler[Any]) -> Iterator[Permission]:
    """Declared and implied: to read what is watched, to write status and finalizers of its own kind."""
    yield Permission(reconciler.kind, _READ)
    yield Permission(reconciler.kind, ("patch",), "status")
    if reconciler.finalizer:
        yield Permission(reconciler.kind, ("patch",))
    for watch in reconciler.watches:
        yield Permission(watch.kind, _READ)
    yield from reconciler.permissions


def _rules(wanted: Iterable[Permission]) -> list[Rule]:
    """One rule for all resources of a group that allow the same."""
    verbs: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for one in wanted:
        resource = _resource(one.kind, one.subresource)
        if "*" in (*one.verbs, *one.names, resource):
            raise ValueError(f"{resource}: a wildcard is no declaration")
        place = (address_of(one.kind).group, resource, tuple(sorted(one.names)))
        verbs.setdefault(place, set()).update(one.verbs)
    alike: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (group, resource, names), allowed in sorted(verbs.items()):
        alike.setdefault((group, _ordered(allowed), names), []).append(resource)
    return [_rule(group, resources, allowed, names) for (group, allowed, names), resources in alike.items()]


def _resource(kind: Kind, subresource: str) -> str:
    plural = address_of(kind).plural
    return f"{plural}/{subresource}" if subresource else plural


def _ordered(verbs: set[str]) -> tuple[str, ...]:
    return tuple(sorted(verbs, key=lambda verb: (_ORDER.index(verb) if verb in _ORDER else len(_ORDER), verb)))


def _rule(group: str, resources: list[str], verbs: tuple[str, ...], names: tuple[str, ...]) -> Rule:
    rule = {"apiGroups": [group], "resources": resources, "verbs": list(verbs)}
    return {**rule, "resourceNames": list(names)} if names else rule
