"""What may still change in a pod that waits for a scheduling gate: it may come to want fewer nodes."""

from __future__ import annotations

from kubekit.model.resource import Object
from kubekit.server.objects.problems import Problems, bad

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_MORE_LABELS = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
_SAME_TERMS = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
_MORE_RULES = "only additions are allowed (no mutations or deletions)"


def check_narrowing(found: Problems, spec: Object, before: Object) -> Object:
    """Refuse what is no narrowing; answers the new spec with everything that may change as it was."""
    selector, known = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(selector.get(name) != value for name, value in known.items()):
        found.append(bad("spec.nodeSelector", selector or None, _MORE_LABELS))
    affinity, old_affinity = spec.get("affinity") or {}, before.get("affinity") or {}
    if affinity.get("nodeAffinity") != old_affinity.get("nodeAffinity"):
        terms = _terms(affinity), _terms(old_affinity)
        _check_terms(found, *terms, f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms")
    others = {name: value for name, value in affinity.items() if name != "nodeAffinity"}
    if "nodeAffinity" in old_affinity:
        others["nodeAffinity"] = old_affinity["nodeAffinity"]
    kept = {name: value for name, value in spec.items() if name not in {"nodeSelector", "affinity"}}
    if known:
        kept["nodeSelector"] = known
    if others or "affinity" in before:
        kept["affinity"] = others
    return kept


def _terms(affinity: Object) -> list[Object]:
    required: Object = (affinity.get("nodeAffinity") or {}).get(_REQUIRED) or {}
    terms: list[Object] = required.get("nodeSelectorTerms") or []
    return terms


def _check_terms(found: Problems, new: list[Object], old: list[Object], path: str) -> None:
    if old and len(new) != len(old):
        found.append(bad(path, new, _SAME_TERMS))
        return
    for index, (term, before) in enumerate(zip(new, old, strict=False)):
        if not _has_only_more(term, before):
            found.append(bad(f"{path}[{index}]", term, _MORE_RULES))


def _has_only_more(term: Object, before: Object) -> bool:
    parts = ("matchExpressions", "matchFields")
    if not any(before.get(part) for part in parts):
        # A term without rules matches no node, and stays so.
        return not any(term.get(part) for part in parts)
    return all((term.get(part) or [])[: len(before.get(part) or [])] == (before.get(part) or []) for part in parts)
