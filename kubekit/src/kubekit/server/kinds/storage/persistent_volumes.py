"""PersistentVolumes, and their specs inside of VolumeAttachments."""

from __future__ import annotations

import posixpath

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    IMMUTABLE,
    Problems,
    bad,
    forbidden,
    refuse_each,
    required,
    shown_changes,
    unchanged,
)

from ..builtin import quantities
from ..builtin.behaviour import BuiltIn
from ..builtin.warnings import remarks_on_volume
from ..pods.defaults import fill_volume_source
from ..pods.placement import check_node_terms
from .disks import check_disk
from .volume_files import check_no_backsteps
from .volumes import VOLUME_MODES, check_access_modes, check_driver, check_host_path, check_nfs

_RECLAIM = ("Delete", "Recycle", "Retain")
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
_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
_INLINE = "in the context of inline volumes"
_FIXED_AFFINITY = f"{IMMUTABLE}, except for updating from beta label to GA"
_NEW_LABELS = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
}


def _fill(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    obj["status"].setdefault("phase", "Pending")
    for name, source in _sources(spec).items():
        fill_volume_source(name, source)


def _begin(obj: Object) -> None:
    obj["status"]["phase"] = "Pending"


def _check(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    _check_access(found, spec, "spec")
    _check_capacity(found, spec.get("capacity") or {})
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy not in _RECLAIM:
        found.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM))
    if spec.get("nodeAffinity") is not None:
        _check_affinity(found, spec["nodeAffinity"])
    _check_source(found, spec, "spec")
    if policy == "Recycle" and posixpath.normpath((spec.get("hostPath") or {}).get("path") or ".") == "/":
        detail = "may not be 'recycle' for a hostPath mount of '/'"
        found.append(forbidden("spec.persistentVolumeReclaimPolicy", detail))
    if spec.get("storageClassName"):
        name = spec["storageClassName"]
        refuse_each(found, "spec.storageClassName", name, name_rules.subdomain(name))
    if spec["volumeMode"] not in VOLUME_MODES:
        found.append(not_supported("spec.volumeMode", spec["volumeMode"], VOLUME_MODES))
    _check_attributes_class(found, spec)
    return found


def _check_attributes_class(found: Problems, spec: Object) -> None:
    name, path = spec.get("volumeAttributesClassName"), "spec.volumeAttributesClassName"
    if name is None:
        return
    if name:
        refuse_each(found, path, name, name_rules.subdomain(name))
    else:
        found.append(required(path, "an empty string is disallowed"))
    if spec.get("csi") is None:
        found.append(required("spec.csi", "has to be specified when using volumeAttributesClassName"))


def check_inline_volume(found: Problems, spec: Object, path: str) -> None:
    """The spec of a volume that has no object of its own; only storage drivers have such."""
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            found.append(forbidden(f"{path}.{name}", f"may not be specified {_INLINE}"))
    if spec.get("csi") is None:
        found.append(required(f"{path}.csi", f"has to be specified {_INLINE}"))
    _check_access(found, spec, path)
    if spec.get("persistentVolumeReclaimPolicy", "Retain") != "Retain":
        found.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}"))
    if spec.get("nodeAffinity") is not None:
        found.append(forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}"))
    _check_source(found, spec, path)
    if spec.get("storageClassName"):
        found.append(forbidden(f"{path}.storageClassName", f"may not be specified {_INLINE}"))
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        detail = f"may not specify volumeMode other than Filesystem {_INLINE}"
        found.append(forbidden(f"{path}.volumeMode", detail))


def _check_access(found: Problems, spec: Object, path: str) -> None:
    modes = spec.get("accessModes") or ()
    if not modes:
        found.append(required(f"{path}.accessModes"))
    check_access_modes(found, modes, f"{path}.accessModes")


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
        amount = quantities.amount(value)
        if amount < quantities.ZERO:
            found.append(
                bad(f"spec.capacity[{name}]", int(quantities.number(value)), "must be a valid resource quantity")
            )
        if amount <= quantities.ZERO:
            found.append(bad(f"spec.capacity[{name}]", value, "must be greater than zero"))


def _sources(spec: Object) -> dict[str, Object]:
    given = [name for name, value in spec.items() if name not in _NOT_SOURCES and value is not None]
    return {name: spec[name] for name in sorted(given, key=_order)}


def _order(name: str) -> int:
    """Of several sources Kubernetes looks into the first in this order; one of CSI comes last."""
    return _SOURCES_IN_ORDER.index(name) if name in _SOURCES_IN_ORDER else len(_SOURCES_IN_ORDER)


def _check_source(found: Problems, spec: Object, path: str) -> None:
    first, *more = [*_sources(spec), ""]
    if not first:
        found.append(required(path, "must specify a volume type"))
        return
    source, place = spec[first], f"{path}.{first}"
    match first:
        case "hostPath":
            check_host_path(found, source, place)
        case "nfs":
            check_nfs(found, source, place)
        case "csi":
            _check_csi(found, source, place)
        case "local":
            _check_local(found, spec, path)
        case _:
            check_disk(found, first, source, path, persistent=True)
    found.extend(forbidden(f"{path}.{name}", "may not specify more than 1 volume type") for name in more if name)


def _check_csi(found: Problems, source: Object, path: str) -> None:
    check_driver(found, source.get("driver") or "", f"{path}.driver")
    if not source.get("volumeHandle"):
        found.append(required(f"{path}.volumeHandle"))
    for secret in _SECRETS:
        if source.get(secret) is not None:
            _check_secret(found, source[secret], f"{path}.{secret}")


def _check_secret(found: Problems, reference: Object, path: str) -> None:
    for part, rule in (("name", name_rules.subdomain), ("namespace", name_rules.label)):
        value = reference.get(part) or ""
        if value:
            refuse_each(found, f"{path}.{part}", value, rule(value))
        else:
            found.append(required(f"{path}.{part}"))


def _check_local(found: Problems, spec: Object, path: str) -> None:
    place = spec["local"].get("path") or ""
    if place:
        check_no_backsteps(found, place, f"{path}.local.path")
    else:
        found.append(required(f"{path}.local.path"))
    if spec.get("nodeAffinity") is None:
        found.append(required(f"{path}.nodeAffinity", "Local volume requires node affinity"))


def _check_update(obj: Object, old: Object) -> list[FieldError]:
    # The real server looks at the whole of a changed volume twice, and counts what it finds twice.
    found = [*_check(obj), *_check(obj)]
    spec, previous = obj["spec"], old["spec"]
    new, before = _sources(spec), _sources(previous)
    if "csi" in new and "controllerExpandSecretRef" not in before.get("csi", {"controllerExpandSecretRef": None}):
        new["csi"] = {name: value for name, value in new["csi"].items() if name != "controllerExpandSecretRef"}
    if new != before:
        detail = f"spec.persistentvolumesource is immutable after creation\n{shown_changes(before, new)}"
        found.append(forbidden("spec.persistentvolumesource", detail))
    unchanged(found, "volumeMode", spec.get("volumeMode"), previous.get("volumeMode"))
    affinity = spec.get("nodeAffinity")
    if previous.get("nodeAffinity") is not None and _renamed(affinity) != _renamed(previous["nodeAffinity"]):
        found.append(bad("nodeAffinity", affinity, _FIXED_AFFINITY))
    if previous.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
        detail = "update from non-nil value to nil is forbidden"
        found.append(forbidden("spec.volumeAttributesClassName", detail))
    return found


def _renamed(affinity: Object | None) -> list[list[Object]]:
    """What nodes must be like, with the names that labels have today."""
    terms = ((affinity or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    return [[_renamed_rule(rule) for part in term.values() for rule in part or ()] for term in terms]


def _renamed_rule(rule: Object) -> Object:
    return {**rule, "key": _NEW_LABELS.get(rule.get("key") or "", rule.get("key"))}


KINDS = {
    ("", "PersistentVolume"): BuiltIn(
        fill=_fill, begin=_begin, check=_check, check_update=_check_update, remarks=remarks_on_volume, status=True
    ),
}
