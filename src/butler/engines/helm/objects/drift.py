"""Where the objects of a release are no longer as the release says.

Every field that the manifest sets is compared with the live object. Where one differs, the API server is asked what
writing the manifest would change, since the same thing can be written in several ways; only its answer counts."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

from kubekit.client.protocol import Selection
from kubekit.errors import ApiError, NotFound
from kubekit.model.resource import Address, Object

from ..protocol import Cluster, Difference, Place
from .live import Found, in_turn

MANAGER = "helm"
"""Helm's own name as an owner of fields: what is repaired stays Helm's to change and to remove."""
_AUTOSCALERS = Address("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", True)
_INJECTED = frozenset(
    ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "CustomResourceDefinition", "APIService"]
)
"""Kinds whose `caBundle` others fill in."""
_OF_THE_SERVER = frozenset(
    ["managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink", "deletionTimestamp"]
)
_MOST_PATHS = 20


async def differences(cluster: Cluster, place: Place, found: tuple[Found, ...]) -> tuple[Difference, ...]:
    """One for each object that differs, in the manifest's order."""
    answers = await in_turn([partial(_difference, cluster, place, one) for one in found])
    return tuple(one for one in answers if one is not None)


async def _difference(cluster: Cluster, place: Place, found: Found) -> Difference | None:
    wanted = written(found.declared, place, found.ref.namespace)
    if found.address is None or found.live is None:
        return Difference(str(found.ref), (), wanted)
    if found.ref.kind in _INJECTED:
        _keep_injected(wanted, found.live)
    suspected = tuple(_unlike(wanted, found.live, ""))
    if "spec.replicas" in suspected and await _is_autoscaled(cluster, found):
        wanted["spec"]["replicas"] = found.live["spec"]["replicas"]
        suspected = tuple(path for path in suspected if path != "spec.replicas")
    if not suspected:
        return None
    try:
        applied = await cluster.client.apply(wanted, found.address, manager=MANAGER, dry_run=True)
    except NotFound:
        return Difference(str(found.ref), (), wanted)
    except ApiError:
        # It cannot be written as it is, for instance because a field is immutable: what was seen has to do.
        return Difference(str(found.ref), suspected[:_MOST_PATHS], wanted)
    changed = tuple(_changes(_own(found.live), _own(applied), ""))
    return Difference(str(found.ref), changed[:_MOST_PATHS], wanted) if changed else None


def written(declared: Object, place: Place, namespace: str) -> Object:
    """An object as Helm writes it: with the marks by which it knows its own."""
    obj: Object = _without_nulls(copy.deepcopy(declared))
    meta = obj["metadata"]
    if namespace:
        meta["namespace"] = namespace
    meta.setdefault("labels", {})["app.kubernetes.io/managed-by"] = "Helm"
    annotations = meta.setdefault("annotations", {})
    annotations["meta.helm.sh/release-name"] = place.name
    annotations["meta.helm.sh/release-namespace"] = place.namespace
    if obj.get("kind") == "Secret" and isinstance(obj.get("stringData"), dict):
        texts = {name: base64.b64encode(str(text).encode()).decode() for name, text in obj.pop("stringData").items()}
        obj["data"] = {**(obj.get("data") or {}), **texts}
    return obj


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    return value


def _keep_injected(wanted: Any, live: Any) -> None:
    """Take over every `caBundle` that is there."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        if "caBundle" in wanted:
            del wanted["caBundle"]
            if "caBundle" in live:
                wanted["caBundle"] = live["caBundle"]
        for name, value in wanted.items():
            _keep_injected(value, live.get(name))
    elif isinstance(wanted, list) and isinstance(live, list):
        named = {one.get("name"): one for one in live if isinstance(one, dict)}
        for one in wanted:
            if isinstance(one, dict):
                _keep_injected(one, named.get(one.get("name")))


async def _is_autoscaled(cluster: Cluster, found: Found) -> bool:
    try:
        listed = await cluster.client.list(_AUTOSCALERS, Selection(found.ref.namespace))
    except ApiError:
        return False
    targets = (one.get("spec", {}).get("scaleTargetRef", {}) for one in listed.items)
    return any((one.get("kind"), one.get("name")) == (found.ref.kind, found.ref.name) for one in targets)


def _unlike(wanted: Any, live: Any, path: str) -> Iterator[str]:
    """Fields that are set and not so."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        for name, value in wanted.items():
            if path or name != "status":
                yield from _unlike(value, live.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        for number, (mine, theirs) in enumerate(zip(wanted, live, strict=True)):
            yield from _unlike(mine, theirs, f"{path}[{number}]")
    elif wanted != live and not (live is None and wanted in ({}, [])):
        yield path


def _changes(before: Any, after: Any, path: str) -> Iterator[str]:
    """Fields that differ at all."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() | after.keys():
            yield from _changes(before.get(name), after.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (mine, theirs) in enumerate(zip(before, after, strict=True)):
            yield from _changes(mine, theirs, f"{path}[{number}]")
    elif before != after:
        yield path


def _own(obj: Object) -> Object:
    """Without what the server writes by itself."""
    meta = {name: value for name, value in obj.get("metadata", {}).items() if name not in _OF_THE_SERVER}
    return {name: value for name, value in obj.items() if name != "status"} | {"metadata": meta}
