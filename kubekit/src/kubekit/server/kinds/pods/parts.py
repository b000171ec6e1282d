"""The parts of a pod that only endpoints of their own change: ephemeral containers, and resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects.problems import Problems, bad, duplicate, forbidden, shown_changes

from .pods import check_metadata_and_spec, quality_of_service

_LISTS = ("containers", "initContainers")
_RESIZED = ("resources", "resizePolicy")
_RESIZABLE = frozenset({"cpu", "memory"})


@dataclass(frozen=True, slots=True)
class Part:
    """What an endpoint takes out of the pod it is given, and what it has to say about the result."""

    take: Callable[[Object, Object], Object]
    """The new spec, out of the wanted one and the stored one."""
    check: Callable[[Object, Object], list[FieldError]]


def _take_ephemeral(wanted: Object, spec: Object) -> Object:
    kept = {name: value for name, value in spec.items() if name != "ephemeralContainers"}
    added = wanted.get("ephemeralContainers")
    return {**kept, "ephemeralContainers": added} if added else kept


def _check_ephemeral(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    check_metadata_and_spec(found, obj)
    path = "spec.ephemeralContainers"
    named = {one["name"]: one for one in obj["spec"].get("ephemeralContainers") or ()}
    others = {one["name"] for kind in _LISTS for one in obj["spec"].get(kind) or ()}
    for index, name in enumerate(named):
        if name in others:
            found.append(duplicate(f"{path}[{index}].name", name))
    for before in old["spec"].get("ephemeralContainers") or ():
        words, now = f'existing ephemeral containers "{before["name"]}" may not be', named.get(before["name"])
        if now is None:
            found.append(forbidden(path, f"{words} removed\n"))
        elif now != before:
            found.append(forbidden(path, f"{words} changed\n{shown_changes(before, now)}"))
    return found


def _take_resources(wanted: Object, spec: Object) -> Object:
    """Containers that were added, removed or renamed are taken as they are, for the check to refuse them."""
    taken = dict(spec)
    for name in _LISTS:
        new, old = wanted.get(name) or [], spec.get(name) or []
        if [one.get("name") for one in new] != [one["name"] for one in old]:
            return {**spec, name: new}
        if old:
            taken[name] = [_resized(one, before) for one, before in zip(new, old, strict=True)]
    return taken


def _resized(container: Object, before: Object) -> Object:
    kept = {name: value for name, value in before.items() if name not in _RESIZED}
    return {**kept, **{name: container[name] for name in _RESIZED if name in container}}


def _check_resources(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    check_metadata_and_spec(found, obj)
    spec, before = obj["spec"], old["spec"]
    quality = old.get("status", {}).get("qosClass") or quality_of_service(before)
    if quality_of_service(spec) != quality:
        found.append(bad("spec", quality, "Pod QOS Class may not change as a result of resizing"))
    for name in _LISTS:
        _check_same_names(found, spec.get(name) or [], before.get(name) or [], name)
    if any(problem.path.startswith(("spec.containers", "spec.initContainers")) for problem in found):
        return found
    for name in _LISTS:
        for index, (new, past) in enumerate(zip(spec.get(name) or (), before.get(name) or (), strict=True)):
            _check_resize(found, new, past, f"spec.{name}[{index}].resources")
    return found


def _check_same_names(found: Problems, new: list[Object], old: list[Object], name: str) -> None:
    if len(new) != len(old):
        found.append(forbidden(f"spec.{name}", f"{name} may not be added or removed on resize"))
        return
    for index, (one, before) in enumerate(zip(new, old, strict=True)):
        if one.get("name") != before["name"]:
            detail = f"{name} may not be renamed or reordered on resize"
            found.append(forbidden(f"spec.{name}[{index}].name", detail))


def _check_resize(found: Problems, new: Object, old: Object, path: str) -> None:
    now, before = new.get("resources") or {}, old.get("resources") or {}
    for kind in ("requests", "limits"):
        if (before.get(kind) or {}).keys() - (now.get(kind) or {}).keys():
            found.append(forbidden(f"{path}.{kind}", f"resource {kind} cannot be removed"))
    if _others(new) != _others(old):
        found.append(forbidden("spec", "only cpu and memory resources are mutable"))


def _others(container: Object) -> dict[str, Any]:
    """What a resize may not touch."""
    resources = container.get("resources") or {}
    kinds = ("requests", "limits")
    fixed = {
        kind: {name: amount for name, amount in (resources.get(kind) or {}).items() if name not in _RESIZABLE}
        for kind in kinds
    }
    return {**container, "resources": {**{k: v for k, v in resources.items() if k not in kinds}, **fixed}}


PARTS = {
    "ephemeralcontainers": Part(_take_ephemeral, _check_ephemeral),
    "resize": Part(_take_resources, _check_resources),
}
