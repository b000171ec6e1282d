"""The claims of a pod for devices, and which container uses which of them."""

from __future__ import annotations

from kubekit.errors import FieldError, FieldProblem
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, duplicate, refuse_each, required

_ONE_AT_MOST = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
_ONE = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"


def check_claims(found: Problems, spec: Object, path: str) -> None:
    names: dict[str, None] = {}
    for index, claim in enumerate(spec.get("resourceClaims") or ()):
        place = f"{path}.resourceClaims[{index}]"
        _check_name(found, claim.get("name") or "", f"{place}.name", names)
        sources = [name for name in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(name) is not None]
        if len(sources) != 1:
            found.append(bad(place, claim, _ONE_AT_MOST if sources else _ONE))
        for name in sources:
            refuse_each(found, f"{place}.{name}", claim[name], name_rules.subdomain(claim[name]))
    for part in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(part) or ()):
            used = (container.get("resources") or {}).get("claims") or []
            _check_used(found, used, f"{path}.{part}[{index}].resources.claims", names)


def _check_name(found: Problems, name: str, path: str, names: dict[str, None]) -> None:
    if not name:
        found.append(required(path))
    elif name in names:
        found.append(duplicate(path, name))
    else:
        refuse_each(found, path, name, name_rules.label(name))
        names[name] = None


def _check_used(found: Problems, used: list[Object], path: str, names: dict[str, None]) -> None:
    seen: dict[str, int] = {}
    known = f": {', '.join(sorted(names))}" if names else " which is empty"
    for index, claim in enumerate(used):
        place, name = f"{path}[{index}]", claim.get("name") or ""
        if not name:
            found.append(required(place))
            continue
        _check_overlap(found, claim, place, seen)
        if name not in names:
            detail = f"must be one of the names in pod.spec.resourceClaims{known}"
            found.append(FieldError(FieldProblem.NOT_FOUND, place, detail, name))


def _check_overlap(found: Problems, claim: Object, path: str, seen: dict[str, int]) -> None:
    """A claim is used as a whole, or one of its requests is, but nothing twice.

    `seen`: each claim or request, and below the claim's name with a slash, how many of its requests."""
    name, request = claim["name"], claim.get("request") or ""
    if name in seen:
        found.append(duplicate(path, name))
        return
    if request:
        refuse_each(found, f"{path}.request", request, name_rules.label(request))
    key = f"{name}/{request}" if request else name
    if key in seen:
        found.append(duplicate(path, key))
    elif not request:
        found.extend(duplicate(path, name) for _ in range(seen.get(f"{name}/", 0)))
    seen[key] = 1
    if request:
        seen[f"{name}/"] = seen.get(f"{name}/", 0) + 1
