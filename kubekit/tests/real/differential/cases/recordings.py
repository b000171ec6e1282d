"""What was recorded of Kubernetes for the tests of built-in kinds is still what it says, and what we say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.differential.steps import Case, Step, case, post
from tests.real.differential.vocabulary import ACCOUNT_READY
from tests.server.builtin_golden import RESOURCES, recorded

_FINALIZED = {"PersistentVolume", "PersistentVolumeClaim"}
_LATER = {"Node": ("body.spec.taints", "body.metadata.managedFields")}
"""What on purpose is not added here."""
_UNLIKE = {"APIService", "CertificateSigningRequest"}
"""Kinds whose objects say which APIs there are, or who asked."""


def _tried(given: Any) -> Step:
    kind = given["kind"]
    resource = RESOURCES[given["apiVersion"], kind]
    base = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
    namespace = "/namespaces/$ns" if resource.namespaced else ""
    ignored = ("body.metadata.finalizers",) if kind in _FINALIZED else _LATER.get(kind, ())
    return post(f"{base}{namespace}/{resource.plural}?dryRun=All", given, ignore=ignored)


def _cases(name: str, told: str) -> Iterator[Case]:
    by_kind: dict[str, list[Step]] = {}
    for entry in recorded(name):
        given = entry["given"]
        if given["kind"] in _UNLIKE or "generateName" in given["metadata"] or len(entry.get("causes", ())) > 1:
            # Several problems come in the order of a Go map.
            continue
        by_kind.setdefault(f"{given['kind']} ({given['apiVersion']})", []).append(_tried(given))
    for kind, steps in by_kind.items():
        yield case(f"{kind}: {told}", ACCOUNT_READY, *steps)


CASES = (*_cases("refused", "what is refused"), *_cases("stored", "what is stored"))
