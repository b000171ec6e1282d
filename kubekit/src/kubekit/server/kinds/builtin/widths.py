"""How wide some objects may be: those that every request, or the server itself, looks at again and again.

Kubernetes has no such limits. It bears such objects because others are served by other threads meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects.problems import too_many

_RBAC, _ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
_WORDS_OF_RULES = 10_000

_LIMITS: dict[tuple[str, str], tuple[tuple[str, int], ...]] = {
    ("", "LimitRange"): (("spec.limits", 1000),),
    ("", "ResourceQuota"): (("spec.hard", 1000), ("spec.scopes", 100), ("spec.scopeSelector.matchExpressions", 100)),
    (_RBAC, "Role"): (),
    (_RBAC, "ClusterRole"): (("aggregationRule.clusterRoleSelectors", 100),),
    (_RBAC, "ClusterRoleBinding"): (("subjects", 10_000),),
    (_RBAC, "RoleBinding"): (("subjects", 10_000),),
    (_ADMISSION, "MutatingWebhookConfiguration"): (("webhooks", 1000),),
    (_ADMISSION, "ValidatingWebhookConfiguration"): (("webhooks", 1000),),
    (_ADMISSION, "ValidatingAdmissionPolicy"): (("spec.validations", 1000), ("spec.variables", 1000)),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        ("spec.versions", 100),
        ("spec.names.shortNames", 100),
        ("spec.names.categories", 100),
    ),
    ("storage.k8s.io", "CSINode"): (("spec.drivers", 1000),),
}


def too_wide(group: str, kind: str, obj: Object) -> list[FieldError]:
    """What there is too much of; such an object is looked at no further."""
    return list(_too_wide(group, kind, obj)) if (group, kind) in _LIMITS else []


def _too_wide(group: str, kind: str, obj: Object) -> Iterator[FieldError]:
    for path, most in _LIMITS.get((group, kind), ()):
        count = _count_at(obj, path)
        if count > most:
            yield too_many(path, count, most)
    if kind in ("Role", "ClusterRole") and group == _RBAC:
        words = sum(len(words or ()) for rule in obj.get("rules") or () for words in rule.values())
        if words > _WORDS_OF_RULES:
            yield too_many("rules", words, _WORDS_OF_RULES)


def _count_at(obj: Object, path: str) -> int:
    found: Any = obj
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return len(found) if isinstance(found, (dict, list)) else 0
