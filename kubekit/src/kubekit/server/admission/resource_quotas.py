"""ResourceQuotas: what a namespace uses of what it may."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from kubekit.model.quantity import Quantity
from kubekit.server.kinds.builtin.quantities import ZERO
from kubekit.server.kinds.platform.usage import (
    CLAIMS,
    PODS,
    SERVICES,
    counted_resource,
    is_in_scope,
    is_terminating,
    left_unsaid,
    usage,
)
from kubekit.server.kinds.pods.totals import Amounts, amounts
from kubekit.server.objects import refusals

if TYPE_CHECKING:
    from kubekit.model.resource import Object
    from kubekit.server.objects.request import Target

Stored = Callable[[str, str], Iterable[tuple[str, int, "Object"]]]
"""Answers name, revision and content of every object of a resource (by its storage key) in a namespace."""


class Quota:
    """One quota, and what counts towards it."""

    def __init__(self, name: str, spec: Object) -> None:
        self.name, self.spec = name, spec
        self.hard = amounts(spec.get("hard"))
        self.resources = {found for one in self.hard if (found := counted_resource(one))}
        self._used: Amounts = {}
        self._counted: dict[tuple[str, str], tuple[int, Amounts]] = {}

    def status(self) -> Object:
        return {
            "hard": dict(self.spec.get("hard") or {}),
            "used": {name: str(self.used(name)) for name in self.hard},
        }

    def used(self, name: str) -> Quantity:
        return self._used.get(name, ZERO)

    def asked_by(self, resource: str, obj: Object | None) -> Amounts:
        """What an object takes of it, without what it does not limit."""
        if obj is None or resource not in self.resources or not is_in_scope(self.spec, resource, obj):
            return {}
        return {name: value for name, value in usage(resource, obj).items() if name in self.hard and value.sign}

    def count(self, resource: str, name: str, revision: int, obj: Object | None) -> bool:
        """Take in a version of an object, None when it is gone; says whether anything has changed."""
        key = (resource, name)
        seen, before = self._counted.get(key, (0, {}))
        if revision < seen:
            return False
        asked = self.asked_by(resource, obj)
        if obj is None:
            self._counted.pop(key, None)
        else:
            self._counted[key] = (revision, asked)
        for one in before.keys() | asked.keys():
            self._used[one] = self.used(one) - before.get(one, ZERO) + asked.get(one, ZERO)
        return asked != before


class Quotas:
    """The ResourceQuotas of one space. Requests elsewhere cost a glance at an empty dict."""

    def __init__(self) -> None:
        self._by_namespace: dict[str, dict[str, Quota]] = {}
        self._bounds: dict[str, tuple[int, Callable[[], int]]] = {}
        self.tell: Callable[[str], None] = lambda key: None
        """Called with the key of a quota of which something was taken or given back."""

    def bound(self, resource: str, most: int, count: Callable[[], int]) -> None:
        """Let there be no more than so many objects of a resource in the space, whatever its quotas say."""
        self._bounds[resource] = most, count

    def find(self, namespace: str, name: str) -> Quota | None:
        return self._by_namespace.get(namespace, {}).get(name)

    def note(self, key: str, spec: Object | None, stored: Stored) -> None:
        """Take in a quota by its key in the store, or forget it (None)."""
        namespace, _, name = key.partition("/")
        known = self.find(namespace, name)
        if known is not None and known.spec == spec:
            return
        quotas = {one: quota for one, quota in self._by_namespace.get(namespace, {}).items() if one != name}
        if spec is not None:
            made = quotas[name] = Quota(name, spec)
            for resource in made.resources:
                for counted, revision, obj in stored(resource, namespace):
                    made.count(resource, counted, revision, obj)
        self._by_namespace[namespace] = dict(sorted(quotas.items()))
        if not quotas:
            del self._by_namespace[namespace]

    def concern(self, resource: str, key: str) -> bool:
        """Whether objects of such a resource are counted where this one is."""
        if not self._by_namespace:
            return False
        namespace, is_namespaced, _ = key.partition("/")
        quotas = self._by_namespace.get(namespace, {}).values()
        return bool(is_namespaced) and any(resource in one.resources for one in quotas)

    def count(self, resource: str, key: str, revision: int, obj: Object | None) -> None:
        """Take in a version of an object they are concerned with, None when it is gone."""
        namespace, _, name = key.partition("/")
        for quota in self._by_namespace[namespace].values():
            if resource in quota.resources and quota.count(resource, name, revision, obj):
                self.tell(f"{namespace}/{quota.name}")

    def check(self, target: Target, obj: Object, old: Object | None) -> None:
        """Raises Forbidden when a namespace, or the space, may not have that much."""
        if self._bounds and old is None and not target.subresource:
            self._check_bound(target)
        quotas = self._by_namespace.get(target.namespace)
        if quotas is None or not _takes(target, obj, old):
            return
        resource = target.resource.storage_key
        concerned = [
            one for one in quotas.values() if resource in one.resources and is_in_scope(one.spec, resource, obj)
        ]
        for quota in concerned:
            if resource == PODS and (silent := left_unsaid(quota.hard, obj)):
                raise refusals.forbidden(target, f"failed quota: {quota.name}: must specify {silent}")
        for quota in concerned:
            asked = dict(_more(quota.asked_by(resource, obj), quota.asked_by(resource, old)))
            exceeded = sorted(one for one in asked if quota.used(one) + asked[one] > quota.hard[one])
            if exceeded:
                raise refusals.forbidden(target, _exceeded(quota, asked, exceeded))

    def _check_bound(self, target: Target) -> None:
        most, count = self._bounds.get(target.resource.storage_key, (0, int))
        if most and (used := count()) >= most:
            what = target.resource.plural
            parts = f"requested: {what}=1, used: {what}={used}, limited: {what}={most}"
            raise refusals.forbidden(target, f"exceeded quota: {what}-of-the-cluster, {parts}")


def _takes(target: Target, obj: Object, old: Object | None) -> bool:
    """Whether such a request may take anything: most objects do only when they are made."""
    if target.subresource or old is None:
        return not target.subresource
    if target.resource.storage_key == PODS:
        return is_terminating(obj) != is_terminating(old)
    return target.resource.storage_key in (SERVICES, CLAIMS)


def _more(asked: Amounts, before: Amounts) -> Iterator[tuple[str, Quantity]]:
    for name, value in asked.items():
        added = value - before.get(name, ZERO)
        if added.sign > 0:
            yield name, added


def _exceeded(quota: Quota, asked: Amounts, names: list[str]) -> str:
    used = {name: quota.used(name) for name in names}
    parts = (("requested", asked), ("used", used), ("limited", quota.hard))
    shown = (f"{what}: {','.join(f'{name}={values[name]}' for name in names)}" for what, values in parts)
    return f"exceeded quota: {quota.name}, {', '.join(shown)}"
