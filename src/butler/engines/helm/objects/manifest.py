"""Objects of a manifest, as Helm writes it: YAML documents one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from kubekit.model import yaml_depth
from kubekit.model.resource import Object

from ..errors import RecordDamaged

_MOST_VALUES = 2_000_000
"""Of all objects together, each alias counted as what it stands for: whoever can write a record can write aliases."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as Kubernetes reads it: a date is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in _Loader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Ref:
    """Which object, before anybody knows where its kind is served."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def ref_of(obj: Object) -> Ref:
    meta = obj.get("metadata") or {}
    return Ref(
        str(obj.get("apiVersion", "")),
        str(obj.get("kind", "")),
        str(meta.get("namespace") or ""),
        str(meta.get("name") or ""),
    )


def objects(manifest: str, subject: str) -> tuple[Object, ...]:
    """Every object, those of a List one by one. Takes its time: call it in a thread. Raises RecordDamaged."""
    try:
        yaml_depth.check(manifest, _Loader)
        documents = list(yaml.load_all(manifest, _Loader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RecordDamaged(subject, f"its manifest is not YAML: {type(error).__name__}") from None
    if _exceeds(documents, _MOST_VALUES):
        raise RecordDamaged(subject, f"its manifest has more than {_MOST_VALUES} values")
    return tuple(one for document in documents for one in _flat(document))


def _flat(document: Any) -> Iterator[Object]:
    if not isinstance(document, dict) or not document.get("kind"):
        return
    if document["kind"] == "List" and isinstance(document.get("items"), list):
        for one in document["items"]:
            yield from _flat(one)
        return
    if isinstance(document.get("metadata"), dict):
        yield document


def _exceeds(value: Any, most: int) -> bool:
    pending, count = [iter((value,))], 0
    while pending:
        for one in pending[-1]:
            count += 1
            if count > most:
                return True
            if isinstance(one, dict):
                pending.append(iter(one.values()))
                break
            if isinstance(one, list):
                pending.append(iter(one))
                break
        else:
            pending.pop()
    return False
