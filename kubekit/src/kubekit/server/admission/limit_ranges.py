"""LimitRanges: what the containers of a namespace get unasked, and what they and its claims may ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kubekit.model.quantity import Quantity
from kubekit.server.kinds.builtin.quantities import amount
from kubekit.server.kinds.pods.totals import Amounts, amounts, total
from kubekit.server.objects import refusals

if TYPE_CHECKING:
    from kubekit.model.resource import Object
    from kubekit.server.objects.request import Target

ANNOTATION = "kubernetes.io/limit-ranger"
_GROUPS = {"containers": "container", "initContainers": "init container"}
_PARTS = {"requests": "defaultRequest", "limits": "default"}


class Limits:
    """The LimitRanges of one space."""

    def __init__(self) -> None:
        self._by_namespace: dict[str, dict[str, list[Object]]] = {}

    def note(self, key: str, obj: Object | None) -> None:
        """Take in a LimitRange by its key in the store, or forget it (None)."""
        namespace, _, name = key.partition("/")
        ranges = self._by_namespace.setdefault(namespace, {})
        ranges.pop(name, None)
        if obj is not None:
            ranges[name] = obj["spec"].get("limits") or []
            self._by_namespace[namespace] = dict(sorted(ranges.items()))
        elif not ranges:
            del self._by_namespace[namespace]

    def fill(self, namespace: str, pod: Object) -> None:
        """Give, in place, the containers of a new pod what they do not ask for themselves."""
        for limits in self._by_namespace.get(namespace, {}).values():
            given = {part: _defaults(limits, source) for part, source in _PARTS.items()}
            told = [text for container, kind in _containers(pod["spec"]) for text in _fill(container, kind, given)]
            if told:
                annotations = pod["metadata"].get("annotations") or {}
                pod["metadata"]["annotations"] = {
                    **annotations,
                    ANNOTATION: f"LimitRanger plugin set: {'; '.join(told)}",
                }

    def check(self, target: Target, obj: Object, old: Object | None) -> None:
        """Raises Forbidden for what asks for too much or too little. Pods are judged only when they are new."""
        ranges = self._by_namespace.get(target.namespace)
        judge = _JUDGES.get(target.resource.storage_key)
        if ranges is None or judge is None or target.subresource:
            return
        if old is not None and (judge is _pod_problems or "deletionTimestamp" in old["metadata"]):
            return
        for limits in ranges.values():
            problems = list(dict.fromkeys(text for limit in limits for text in judge(limit, obj["spec"])))
            if problems:
                raise refusals.forbidden(target, problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _containers(spec: Object) -> Iterator[tuple[Object, str]]:
    return ((container, kind) for group, kind in _GROUPS.items() for container in spec.get(group) or ())


def _defaults(limits: Iterable[Object], source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for limit in limits:
        if limit.get("type") == "Container":
            found |= limit.get(source) or {}
    return found


def _fill(container: Object, kind: str, given: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    resources = container.setdefault("resources", {})
    for part, values in given.items():
        asked = resources.get(part) or {}
        added = {name: values[name] for name in sorted(values) if name not in asked}
        if added:
            resources[part] = {**asked, **added}
            yield f"{', '.join(added)} {part.removesuffix('s')} for {kind} {container['name']}"


def _pod_problems(limit: Object, spec: Object) -> Iterator[str]:
    kind = limit.get("type")
    if kind == "Container":
        for container, _ in _containers(spec):
            resources = container.get("resources") or {}
            yield from _problems(limit, amounts(resources.get("requests")), amounts(resources.get("limits")))
    elif kind == "Pod":
        yield from _problems(limit, total(spec, "requests"), total(spec, "limits"))


def _claim_problems(limit: Object, spec: Object) -> Iterator[str]:
    if limit.get("type") != "PersistentVolumeClaim":
        return
    asked = amounts((spec.get("resources") or {}).get("requests"))
    for name, bound in _bounds(limit, "min"):
        yield from _too_little(f"minimum {name} usage per PersistentVolumeClaim", bound, asked.get(name), None)
    for name, bound in _bounds(limit, "max"):
        words = f"maximum {name} usage per PersistentVolumeClaim is {bound}"
        if name not in asked:
            yield f"{words}.  No request is specified"
        elif asked[name] > bound:
            yield f"{words}, but request is {asked[name]}"


_JUDGES = {"/pods": _pod_problems, "/persistentvolumeclaims": _claim_problems}


def _problems(limit: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = limit["type"]
    for name, bound in _bounds(limit, "min"):
        yield from _too_little(f"minimum {name} usage per {kind}", bound, requests.get(name), limits.get(name))
    for name, bound in _bounds(limit, "max"):
        yield from _too_much(f"maximum {name} usage per {kind}", bound, requests.get(name), limits.get(name))
    for name, bound in _bounds(limit, "maxLimitRequestRatio"):
        what = f"{name} max limit to request ratio per {kind}"
        yield from _too_far_apart(what, bound, requests.get(name), limits.get(name))


def _bounds(limit: Object, member: str) -> Iterator[tuple[str, Quantity]]:
    return ((name, amount(value)) for name, value in sorted((limit.get(member) or {}).items()))


def _too_little(what: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    if request is None:
        yield f"{what} is {bound}.  No request is specified"
    elif request < bound:
        yield f"{what} is {bound}, but request is {request}"
    elif limit is not None and limit < bound:
        yield f"{what} is {bound}, but limit is {limit}"


def _too_much(what: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    if limit is None:
        yield f"{what} is {bound}.  No limit is specified"
    elif limit > bound:
        yield f"{what} is {bound}, but limit is {limit}"
    elif request is not None and request > bound:
        yield f"{what} is {bound}, but request is {request}"


def _too_far_apart(what: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    if request is None or not request.sign:
        yield f"{what} is {bound}, but no request is specified or request is 0"
    elif limit is None or not limit.sign:
        yield f"{what} is {bound}, but no limit is specified or limit is 0"
    elif (ratio := _thousandths(limit) / _thousandths(request)) * 1000 > _thousandths(bound):
        yield f"{what} is {bound}, but provided ratio is {ratio:.6f}"


def _thousandths(value: Quantity) -> int:
    return Quantity(value.digits, value.exponent + 3).as_int()
