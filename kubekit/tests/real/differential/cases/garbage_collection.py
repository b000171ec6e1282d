"""What becomes of dependents when their owner goes."""

from __future__ import annotations

from typing import Any

from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import (
    Step,
    case,
    delete,
    get,
    gone,
    has,
    patch,
    post,
    quietly,
)
from tests.real.differential.vocabulary import (
    MAPS,
    SECRETS,
    config_map,
    secret,
)

_HELD = {"finalizers": ["example.org/hold"]}


def _owned(name: str, owner: str = "o", **more: Any) -> Step:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": f"${{{owner}.metadata.uid}}", **more}
    return post(MAPS, config_map(name, {"ownerReferences": [reference]}))


_OWNER = post(MAPS, config_map("o"), save="o")
_ABSENT = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "00000000-0000-0000-0000-00000000000f"}
_OF_NOBODY = post(MAPS, config_map("d", {"ownerReferences": [_ABSENT]}))


def _owners(path: str = f"{MAPS}/d") -> Step:
    """Until it has none."""
    return get(path, until=has("metadata.ownerReferences", None))


CASES = (
    case(
        "dependents go in the background",
        *quietly(_OWNER, _owned("d")),
        delete(f"{MAPS}/o", {"propagationPolicy": "Background"}),
        get(f"{MAPS}/d", until=gone),
    ),
    case(
        "dependents go in the background by default",
        *quietly(
            _OWNER,
            _owned("d"),
            post(
                WIDGETS,
                widget(
                    "w",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "${o.metadata.uid}"}
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o"),
        get(f"{MAPS}/d", until=gone),
        get(f"{WIDGETS}/w", until=gone),
    ),
    case(
        "dependents go first in the foreground",
        *quietly(_OWNER, _owned("d", blockOwnerDeletion=True)),
        patch(f"{MAPS}/d", {"metadata": _HELD}),
        delete(f"{MAPS}/o", {"propagationPolicy": "Foreground"}),
        get(f"{MAPS}/d", until=lambda answer: answer.at("metadata.deletionTimestamp") is not None),
        get(f"{MAPS}/o"),
        patch(f"{MAPS}/d", {"metadata": {"finalizers": None}}),
        get(f"{MAPS}/o", until=gone),
        get(f"{MAPS}/d", until=gone),
    ),
    case(
        "dependents that do not block are not waited for",
        *quietly(_OWNER, _owned("d")),
        patch(f"{MAPS}/d", {"metadata": _HELD}, is_shown=False),
        delete(f"{MAPS}/o", {"propagationPolicy": "Foreground"}),
        get(f"{MAPS}/o", until=gone),
        get(f"{MAPS}/d", until=lambda answer: answer.at("metadata.deletionTimestamp") is not None),
        patch(f"{MAPS}/d", {"metadata": {"finalizers": None}}, is_shown=False),
    ),
    case(
        "dependents stay as orphans",
        *quietly(_OWNER, _owned("d")),
        delete(f"{MAPS}/o", {"propagationPolicy": "Orphan"}),
        get(f"{MAPS}/o", until=gone),
        _owners(),
    ),
    case(
        "a dependent with another owner stays",
        *quietly(
            _OWNER,
            post(MAPS, config_map("p"), save="p"),
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "${o.metadata.uid}"},
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "uid": "${p.metadata.uid}"},
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o"),
        get(f"{MAPS}/d", until=lambda answer: len(answer.at("metadata.ownerReferences") or []) == 1),
    ),
    case(
        "a dependent of nobody goes",
        *quietly(_OF_NOBODY),
        get(f"{MAPS}/d", until=gone),
    ),
    case(
        "a dependent of an owner under a wrong uid goes",
        *quietly(
            _OWNER,
            _OF_NOBODY,
        ),
        get(f"{MAPS}/d", until=gone),
        get(f"{MAPS}/o"),
    ),
    case(
        "chains of dependents go",
        *quietly(
            _OWNER,
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "${o.metadata.uid}"}
                        ]
                    },
                ),
                save="d",
            ),
            post(
                SECRETS,
                secret(
                    "e",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "d", "uid": "${d.metadata.uid}"}
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o"),
        get(f"{SECRETS}/e", until=gone),
    ),
    case(
        "chains go in order in the foreground",
        *quietly(
            _OWNER,
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {
                                "apiVersion": "v1",
                                "kind": "ConfigMap",
                                "name": "o",
                                "uid": "${o.metadata.uid}",
                                "blockOwnerDeletion": True,
                            }
                        ]
                    },
                ),
                save="d",
            ),
            post(
                SECRETS,
                secret(
                    "e",
                    {
                        "ownerReferences": [
                            {
                                "apiVersion": "v1",
                                "kind": "ConfigMap",
                                "name": "d",
                                "uid": "${d.metadata.uid}",
                                "blockOwnerDeletion": True,
                            }
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o", {"propagationPolicy": "Foreground"}),
        get(f"{SECRETS}/e", until=gone),
        get(f"{MAPS}/d", until=gone),
        get(f"{MAPS}/o", until=gone),
    ),
)
