"""Policy rules: what one allows, whether some cover others, and what an aggregated ClusterRole adds up to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from kubekit.model.resource import Object
from kubekit.model.selectors import LabelSelector, from_label_selector

ALL = "*"


class Rule(msgspec.Struct, frozen=True, gc=False):
    """One entry of a role's `rules`. There may be very many, and none is ever part of a circle."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, rule: Object) -> Rule:
        return cls(*(tuple(rule.get(key) or ()) for key in _WIRE_KEYS))

    def wire(self) -> dict[str, list[str]]:
        values = (self.verbs, self.groups, self.resources, self.names, self.urls)
        return {key: list(value) for key, value in zip(_WIRE_KEYS, values, strict=True) if value}

    def matches_resource(self, verb: str, group: str, resource: str, subresource: str) -> bool:
        """Whether it grants this, for some or all names."""
        if verb not in self.verbs and ALL not in self.verbs:
            return False
        if group not in self.groups and ALL not in self.groups:
            return False
        if ALL in self.resources:
            return True
        if not subresource:
            return resource in self.resources
        return f"{resource}/{subresource}" in self.resources or f"*/{subresource}" in self.resources

    def matches_path(self, verb: str, path: str) -> bool:
        if verb not in self.verbs and ALL not in self.verbs:
            return False
        return any(url_covers(url, path) for url in self.urls)

    def text(self) -> str:
        """How messages about missing rights show it."""
        shown = {
            "APIGroups": self.groups,
            "Resources": self.resources,
            "NonResourceURLs": self.urls,
            "ResourceNames": self.names,
            "Verbs": self.verbs,
        }
        return f"{{{', '.join(f'{key}:{go_list(value)}' for key, value in shown.items() if value)}}}"


_WIRE_KEYS = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")

EVERYTHING = (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), urls=(ALL,)))
"""What cluster-admin may do."""


def rules_of(role: Object) -> list[Rule]:
    return [Rule.of(rule) for rule in role.get("rules") or ()]


def go_list(words: Sequence[str]) -> str:
    return f"[{' '.join(json.dumps(word, ensure_ascii=False) for word in words)}]"


def compacted(pieces: Iterable[Rule]) -> list[Rule]:
    """Put back together the pieces that differ only in their verb."""
    verbs: dict[Rule, list[str]] = {}
    separate: list[Rule] = []
    for piece in pieces:
        if piece.urls:
            separate.append(piece)
        else:
            verbs.setdefault(Rule((), piece.groups, piece.resources, piece.names), []).extend(piece.verbs)
    joined = [Rule(tuple(listed), key.groups, key.resources, key.names) for key, listed in verbs.items()]
    return separate + joined


def gathered_by(role: Object) -> list[LabelSelector]:
    """Which roles a ClusterRole with an `aggregationRule` gathers."""
    return [from_label_selector(one) for one in role["aggregationRule"].get("clusterRoleSelectors") or ()]


def aggregated_rules(role: Object, all_cluster_roles: Iterable[Object]) -> list[dict[str, Any]]:
    """The `rules` a ClusterRole with an `aggregationRule` should have; its own `rules` when it has none."""
    aggregation = role.get("aggregationRule")
    if aggregation is None:
        return list(role.get("rules") or ())
    ordered = sorted(all_cluster_roles, key=_name)
    found: dict[Rule, None] = {}
    for selector in gathered_by(role):
        for candidate in ordered:
            if _name(candidate) != _name(role) and selector.matches(candidate["metadata"].get("labels")):
                found.update(dict.fromkeys(rules_of(candidate)))
    return [rule.wire() for rule in found]


def _name(role: Object) -> str:
    return str(role["metadata"]["name"])


def url_covers(pattern: str, path: str) -> bool:
    """Whether a path is one of those that an URL of a rule stands for."""
    return pattern == path or (pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL)))
