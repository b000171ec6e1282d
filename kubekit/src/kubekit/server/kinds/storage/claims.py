"""PersistentVolumeClaims and the classes of what they ask for."""

from __future__ import annotations

from collections import Counter

from kubekit.errors import FieldError, not_supported
from kubekit.model.quantity import Quantity
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    first_places,
    forbidden,
    refuse_each,
    required,
    shown_changes,
    too_long,
    unchanged,
)

from ..builtin import quantities
from ..builtin.behaviour import BuiltIn
from ..builtin.warnings import remarks_on_claim, remarks_on_storage_class
from ..pods.defaults import fill_claim_spec
from .volumes import check_claim_spec

_GROUP = "storage.k8s.io"
_CLASS_RECLAIM = ("Delete", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_FIXED_CLAIM = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)
_MOST_PARAMETERS, _MOST_PARAMETER_BYTES = 512, 256 * 1024

_OLD_SOURCES = {("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")}


def _fill_claim(obj: Object) -> None:
    fill_claim_spec(obj["spec"])
    obj["status"].setdefault("phase", "Pending")


def _begin_claim(obj: Object) -> None:
    obj["status"]["phase"] = "Pending"
    spec = obj["spec"]
    source = spec.get("dataSource") or {}
    if (source.get("apiGroup") or "", source.get("kind")) not in _OLD_SOURCES and "dataSourceRef" not in spec:
        # As before there were references to anything: what else is named here is ignored.
        spec.pop("dataSource", None)
    _pair_sources(spec)


def _carry_claim(obj: Object, _old: Object) -> None:
    _pair_sources(obj["spec"])


def _pair_sources(spec: Object) -> None:
    """`dataSource` and `dataSourceRef` say the same; clients may give either."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = dict(reference)


def _check_claim(obj: Object) -> list[FieldError]:
    found: Problems = []
    check_claim_spec(found, obj["spec"], "spec")
    return found


def _check_claim_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_claim(obj)
    spec, before = obj["spec"], old["spec"]
    free = set() if before.get("volumeName") else {"volumeName"}
    bound = (obj.get("status") or {}).get("phase") == "Bound"
    if bound:
        free |= {"volumeAttributesClassName", "resources"}
    if before.get("storageClassName") is None:
        free.add("storageClassName")
    changed = any(spec.get(name) != before.get(name) for name in {*spec, *before} - free)
    if changed or (bound and _other_resources(spec) != _other_resources(before)):
        found.append(forbidden("spec", f"{_FIXED_CLAIM}\n{shown_changes(before, spec)}"))
    new, size, real = _size(obj), _size(old), ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
    if new < size and new <= quantities.amount(real):
        detail = "field can not be less than status.capacity"
        found.append(forbidden("spec.resources.requests.storage", detail))
    unchanged(found, "volumeMode", spec.get("volumeMode"), before.get("volumeMode"))
    return found


def _other_resources(spec: Object) -> Object:
    resources = dict(spec.get("resources") or {})
    resources["requests"] = {**(resources.get("requests") or {}), "storage": "0"}
    return resources


def _size(claim: Object) -> Quantity:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantities.amount(requests.get("storage", "0"))


def _fill_class(obj: Object) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def _check_class(obj: Object) -> list[FieldError]:
    found: Problems = []
    _check_provisioner(found, obj, "provisioner")
    _check_parameters(found, obj.get("parameters") or {})
    if obj["reclaimPolicy"] and obj["reclaimPolicy"] not in _CLASS_RECLAIM:
        found.append(not_supported("reclaimPolicy", obj["reclaimPolicy"], _CLASS_RECLAIM))
    if obj["volumeBindingMode"] not in _BINDING:
        found.append(not_supported("volumeBindingMode", obj["volumeBindingMode"], _BINDING))
    _check_topologies(found, obj.get("allowedTopologies") or [])
    return found


def _check_provisioner(found: Problems, obj: Object, field: str) -> None:
    name = (obj.get(field) or "").lower()
    if name:
        refuse_each(found, field, name, name_rules.qualified_name(name))
    else:
        found.append(required(field))


_SHOWN_TWINS = 100


def _check_topologies(found: Problems, terms: list[Object]) -> None:
    # Kubernetes begins with as many empty terms as there are terms.
    seen = Counter({frozenset[tuple[str, frozenset[str]]](): len(terms)})
    for index, term in enumerate(terms):
        path, allowed = f"allowedTopologies[{index}].matchLabelExpressions", dict[str, set[str]]()
        for position, rule in enumerate(term.get("matchLabelExpressions") or ()):
            place, key, values = f"{path}[{position}]", rule.get("key") or "", rule.get("values") or []
            if not values:
                found.append(required(f"{place}.values"))
            first = first_places(values)
            repeated = [number for number, value in enumerate(values) if first[value] < number]
            found.extend(duplicate(f"{place}.values[{number}]", values[number]) for number in repeated)
            refuse_each(found, f"{place}.key", key, name_rules.qualified_name(key))
            if key in allowed:
                found.append(duplicate(f"{place}.key", key))
            allowed[key] = set(values)
        mark = frozenset((key, frozenset(values)) for key, values in allowed.items())
        found.extend(duplicate(path, "") for _ in range(min(seen[mark], _SHOWN_TWINS)))
        seen[mark] += 1


def _check_parameters(found: Problems, parameters: dict[str, str]) -> None:
    if len(parameters) > _MOST_PARAMETERS:
        found.append(too_long("parameters", _MOST_PARAMETERS))
        return
    if "" in parameters:
        found.append(bad("parameters", "", "field can not be empty."))
    if sum(len(name) + len(value) for name, value in parameters.items()) > _MOST_PARAMETER_BYTES:
        found.append(too_long("parameters", _MOST_PARAMETER_BYTES))


def _check_class_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_class(obj)
    for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        unchanged(found, name, obj.get(name), old.get(name))
    return found


def _check_attributes(obj: Object) -> list[FieldError]:
    """A VolumeAttributesClass."""
    found: Problems = []
    _check_provisioner(found, obj, "driverName")
    _check_parameters(found, obj.get("parameters") or {})
    if not obj.get("parameters"):
        found.append(required("parameters", "must contain at least one key/value pair"))
    return found


def _check_attributes_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    for name in ("driverName", "parameters"):
        if obj.get(name) != old.get(name):
            found.append(forbidden(name, f"updates to {name} are forbidden."))
    return found + _check_attributes(obj)


KINDS = {
    ("", "PersistentVolumeClaim"): BuiltIn(
        fill=_fill_claim,
        begin=_begin_claim,
        carry=_carry_claim,
        check=_check_claim,
        check_update=_check_claim_update,
        remarks=remarks_on_claim,
        status=True,
    ),
    (_GROUP, "StorageClass"): BuiltIn(
        fill=_fill_class, check=_check_class, check_update=_check_class_update, remarks=remarks_on_storage_class
    ),
    (_GROUP, "VolumeAttributesClass"): BuiltIn(check=_check_attributes, check_update=_check_attributes_update),
}
