"""What a real kube-apiserver 1.36.4 did with objects of built-in kinds, and how to do the same with ours.

The recordings leave out what other parts of a cluster add: protection finalizers and taints that controllers take
away again, cluster IPs and node ports, the time of a first condition, who asked for a certificate.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from kubekit.model.resource import Object
from kubekit.server.kinds.builtin import behaviours, catalogue
from kubekit.server.kinds.pods import pods
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import decode

_FOLDER = Path(__file__).parent / "golden"
RESOURCES: dict[tuple[str, str], Resource] = {(one.api_version, one.kind): one for one in catalogue.resources()}


def recorded(name: str) -> list[Any]:
    found: list[Any] = json.loads((_FOLDER / f"builtin_{name}.json").read_text())
    return found


def label(entry: Any) -> str:
    """A readable name for a recorded case."""
    obj = entry.get("given") or entry.get("old") or entry["object"]
    return str(obj["kind"])


class Kind:
    """One kind's behaviour, used as the server uses it."""

    def __init__(self, api_version: str, kind: str) -> None:
        self.resource = RESOURCES[api_version, kind]
        self.behaviour = behaviours.behaviour_of(self.resource.group, kind, self.resource.version)

    def decoded(self, given: Object) -> Object:
        obj = copy.deepcopy(given)
        obj.pop("apiVersion", None)
        obj.pop("kind", None)
        decode(obj, self.resource.schema)
        if self.resource.namespaced:
            obj["metadata"].setdefault("namespace", "bhv")
        self.behaviour.default(obj)
        return obj

    def created(self, given: Object, name: str = "s", uid: str = "UID") -> Object:
        obj = self.decoded(given)
        obj["metadata"].setdefault("name", name)
        obj["metadata"]["uid"] = uid
        if behaviours.has_generation(self.resource.group, self.resource.kind):
            obj["metadata"]["generation"] = 1
        if self.resource.storage_key == "/pods":
            pods.admit(obj["spec"])
        self.behaviour.settle(obj)
        self.behaviour.prepare_create(obj)
        return obj

    def updated(self, old: Object, patch: Object) -> Object:
        obj = self.decoded(merged(copy.deepcopy(old), patch))
        self.behaviour.settle(obj)
        self.behaviour.prepare_update(obj, old)
        return obj


def kind_of(obj: Object) -> Kind:
    return Kind(obj["apiVersion"], obj["kind"])


def merged(target: Object, patch: Object) -> Object:
    """A JSON merge patch."""
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        elif isinstance(value, dict):
            target[name] = merged(target[name] if isinstance(target.get(name), dict) else {}, value)
        else:
            target[name] = copy.deepcopy(value)
    return target


def untyped(obj: Object) -> Object:
    return {name: value for name, value in obj.items() if name not in {"apiVersion", "kind"}}
