"""PersistentVolumes, their claims, StorageClasses and CSI objects."""

from __future__ import annotations

from butler.errors import FieldError, not_supported
from butler.kube.quantity import Quantity

from ..resources import Object
from . import formats, quantities
from .model import BuiltIn
from .pod_checks import check_node_terms
from .pod_defaults import fill_claim_spec, fill_volume_source
from .problems import Problems, bad, duplicate, forbidden, refuse_each, required, shown_changes, too_long, unchanged
from .remarks import remarks_on_claim, remarks_on_storage_class, remarks_on_volume
from .volumes import VOLUME_MODES, check_access_modes, check_claim_spec, check_driver, check_host_path, check_nfs

_GROUP = "storage.k8s.io"
_RECLAIM = ("Delete", "Recycle", "Retain")
_CLASS_RECLAIM = ("Delete", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_NOT_SOURCES = {
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
}
_SOURCES_IN_ORDER = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte"),
    *("cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk"),
    *("portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"),
)
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


def _fill_volume(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    obj["status"].setdefault("phase", "Pending")
    for name, source in _sources(spec).items():
        fill_volume_source(name, source)


def _begin_volume(obj: Object) -> None:
    obj["status"]["phase"] = "Pending"


def _check_volume(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    modes = spec.get("accessModes") or ()
    if not modes:
        found.append(required("spec.accessModes"))
    check_access_modes(found, modes, "spec.accessModes")
    _check_capacity(found, spec.get("capacity") or {})
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy not in _RECLAIM:
        found.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM))
    if spec.get("nodeAffinity") is not None:
        _check_affinity(found, spec["nodeAffinity"])
    _check_volume_source(found, spec)
    if spec.get("storageClassName"):
        name = spec["storageClassName"]
        refuse_each(found, "spec.storageClassName", name, formats.subdomain(name))
    if spec["volumeMode"] not in VOLUME_MODES:
        found.append(not_supported("spec.volumeMode", spec["volumeMode"], VOLUME_MODES))
    return found


def _check_affinity(found: Problems, affinity: Object) -> None:
    if affinity.get("required") is None:
        found.append(required("spec.nodeAffinity.required", "must specify required node constraints"))
    else:
        check_node_terms(found, affinity["required"], "spec.nodeAffinity.required")


def _check_capacity(found: Problems, capacity: Object) -> None:
    if not capacity:
        found.append(required("spec.capacity"))
    if list(capacity) != ["storage"]:
        found.append(not_supported("spec.capacity", dict(sorted(capacity.items())) or None, ("storage",)))
    for name, value in capacity.items():
        if quantities.amount(value) <= quantities.ZERO:
            found.append(bad(f"spec.capacity[{name}]", value, "must be greater than zero"))


def _sources(spec: Object) -> dict[str, Object]:
    given = [name for name, value in spec.items() if name not in _NOT_SOURCES and value is not None]
    return {name: spec[name] for name in sorted(given, key=_order)}


def _order(name: str) -> int:
    """Of several sources Kubernetes looks into the first in this order; one of CSI comes last."""
    return _SOURCES_IN_ORDER.index(name) if name in _SOURCES_IN_ORDER else len(_SOURCES_IN_ORDER)


def _check_volume_source(found: Problems, spec: Object) -> None:
    first, *more = [*_sources(spec), ""]
    if not first:
        found.append(required("spec", "must specify a volume type"))
        return
    source, path = spec[first], f"spec.{first}"
    match first:
        case "hostPath":
            check_host_path(found, source, path)
        case "nfs":
            check_nfs(found, source, path)
        case "csi":
            check_driver(found, source.get("driver") or "", f"{path}.driver")
            if not source.get("volumeHandle"):
                found.append(required(f"{path}.volumeHandle"))
        case "local":
            if not source.get("path"):
                found.append(required(f"{path}.path"))
            if spec.get("nodeAffinity") is None:
                found.append(required("spec.nodeAffinity", "Local volume requires node affinity"))
        case _:
            pass
    found.extend(forbidden(f"spec.{name}", "may not specify more than 1 volume type") for name in more if name)


def _check_volume_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_volume(obj)
    new, before = _sources(obj["spec"]), _sources(old["spec"])
    if new != before:
        detail = f"spec.persistentvolumesource is immutable after creation\n{shown_changes(before, new)}"
        found.append(forbidden("spec.persistentvolumesource", detail))
    unchanged(found, "volumeMode", obj["spec"].get("volumeMode"), old["spec"].get("volumeMode"))
    return found


def _fill_class(obj: Object) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def _check_class(obj: Object) -> list[FieldError]:
    found: Problems = []
    provisioner = obj.get("provisioner") or ""
    if provisioner:
        name = provisioner.lower()
        refuse_each(found, "provisioner", name, formats.qualified_name(name))
    else:
        found.append(required("provisioner"))
    _check_parameters(found, obj.get("parameters") or {})
    if obj["reclaimPolicy"] and obj["reclaimPolicy"] not in _CLASS_RECLAIM:
        found.append(not_supported("reclaimPolicy", obj["reclaimPolicy"], _CLASS_RECLAIM))
    if obj["volumeBindingMode"] not in _BINDING:
        found.append(not_supported("volumeBindingMode", obj["volumeBindingMode"], _BINDING))
    _check_topologies(found, obj.get("allowedTopologies") or [])
    return found


def _check_topologies(found: Problems, terms: list[Object]) -> None:
    seen: list[dict[str, set[str]]] = []
    for index, term in enumerate(terms):
        path, allowed = f"allowedTopologies[{index}].matchLabelExpressions", dict[str, set[str]]()
        for position, rule in enumerate(term.get("matchLabelExpressions") or ()):
            place, key, values = f"{path}[{position}]", rule.get("key") or "", rule.get("values") or []
            if not values:
                found.append(required(f"{place}.values"))
            repeated = (number for number, value in enumerate(values) if value in values[:number])
            found.extend(duplicate(f"{place}.values[{number}]", values[number]) for number in repeated)
            refuse_each(found, f"{place}.key", key, formats.qualified_name(key))
            if key in allowed:
                found.append(duplicate(f"{place}.key", key))
            allowed[key] = set(values)
        # Kubernetes begins with as many empty terms as there are terms.
        found.extend(duplicate(path, "") for one in [*([{}] * len(terms)), *seen] if one == allowed)
        seen.append(allowed)


def _check_parameters(found: Problems, parameters: dict[str, str]) -> None:
    if len(parameters) > _MOST_PARAMETERS:
        found.append(too_long("parameters", _MOST_PARAMETERS))
        return
    if "" in parameters:
        found.append(bad("parameters", "", "field can not be empty."))
    if sum(len(name) + len(value) for name, value in parameters.items()) > _MOST_PARAMETER_BYTES:
        found.append(too_long("parameters", _MOST_PARAMETER_BYTES))


def _check_class_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        unchanged(found, name, obj.get(name), old.get(name))
    return found


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
    ("", "PersistentVolume"): BuiltIn(
        fill=_fill_volume,
        begin=_begin_volume,
        check=_check_volume,
        check_update=_check_volume_update,
        remarks=remarks_on_volume,
        status=True,
    ),
    (_GROUP, "StorageClass"): BuiltIn(
        fill=_fill_class, check=_check_class, check_update=_check_class_update, remarks=remarks_on_storage_class
    ),
}
