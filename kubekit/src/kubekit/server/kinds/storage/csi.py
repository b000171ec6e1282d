"""What storage drivers say about themselves: on which node they are, what is attached, how much they can hold."""

from __future__ import annotations

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    first_places,
    forbidden,
    not_negative,
    refuse_each,
    required,
    unchanged,
)

from ..builtin import quantities
from ..builtin.behaviour import BuiltIn
from ..builtin.label_selectors import check_selector
from ..builtin.warnings import remarks_on_csi_driver
from .persistent_volumes import check_inline_volume
from .volumes import check_driver

_GROUP = "storage.k8s.io"
_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_MODES = ("Persistent", "Ephemeral")
_LEAST_TOKEN_SECONDS, _MOST_TOKEN_SECONDS = 600, 1 << 32
_LEAST_UPDATE_SECONDS = 10
_LONGEST_NODE_ID = 192
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_DEFAULTS = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}


def _fill_driver(obj: Object) -> None:
    for name, value in _DEFAULTS.items():
        obj["spec"].setdefault(name, value)
    obj["spec"].setdefault("volumeLifecycleModes", ["Persistent"])


def _check_driver(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    if spec["fsGroupPolicy"] not in _POLICIES:
        found.append(not_supported("spec.fsGroupPolicy", spec["fsGroupPolicy"], _POLICIES))
    _check_tokens(found, spec.get("tokenRequests") or ())
    modes = spec["volumeLifecycleModes"]
    found.extend(not_supported("spec.volumeLifecycleModes", mode, _MODES) for mode in modes if mode not in _MODES)
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < _LEAST_UPDATE_SECONDS:
        detail = f"must be greater than or equal to {_LEAST_UPDATE_SECONDS} seconds"
        found.append(bad("spec.nodeAllocatableUpdatePeriodSeconds", period, detail))
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not spec.get("tokenRequests"):
        detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        found.append(bad("spec.serviceAccountTokenInSecrets", in_secrets, detail))
    return found


def _check_tokens(found: Problems, requests: list[Object] | tuple[Object, ...]) -> None:
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        path, audience = f"spec.tokenRequests[{index}]", request.get("audience") or ""
        if audience in audiences:
            found.append(duplicate(f"{path}.audience", audience))
            continue
        audiences.add(audience)
        seconds = request.get("expirationSeconds")
        if seconds is not None and seconds < _LEAST_TOKEN_SECONDS:
            found.append(bad(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"))
        if seconds is not None and seconds > _MOST_TOKEN_SECONDS:
            detail = "may not specify a duration larger than 2^32 seconds"
            found.append(bad(f"{path}.expirationSeconds", seconds, detail))


def _check_driver_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_driver(obj)
    new, before = obj["spec"], old["spec"]
    # The real server misspells the first.
    unchanged(found, "spec.attachedRequired", new["attachRequired"], before["attachRequired"])
    unchanged(found, "spec.volumeLifecycleModes", new["volumeLifecycleModes"], before["volumeLifecycleModes"])
    return found


def _check_node(obj: Object) -> list[FieldError]:
    found: Problems = []
    names: set[str] = set()
    for index, driver in enumerate(obj["spec"]["drivers"] or ()):
        path, name = f"spec.drivers[{index}]", driver.get("name") or ""
        check_driver(found, name, f"{path}.name")
        _check_node_id(found, driver.get("nodeID") or "", f"{path}.nodeID")
        not_negative(found, driver.get("allocatable") or {}, "count", f"{path}.allocatable")
        if name in names:
            found.append(duplicate(f"{path}.name", name))
        names.add(name)
        _check_topology_keys(found, driver["topologyKeys"] or [], path)
    return found


def _check_node_id(found: Problems, name: str, path: str) -> None:
    if not name:
        found.append(required(path))
    if len(name) > _LONGEST_NODE_ID:
        found.append(bad(path, name, f"must be {_LONGEST_NODE_ID} characters or less"))


def _check_topology_keys(found: Problems, keys: list[str], path: str) -> None:
    first = first_places(keys)
    for index, key in enumerate(keys):
        if not key:
            found.append(required(path))
        if first[key] < index:
            found.append(duplicate(path, key))
        refuse_each(found, path, key, name_rules.qualified_name(key))


def _check_attachment(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    source = spec["source"]
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        found.append(required("spec.source", _ONE_SOURCE))
    elif name is not None and inline is not None:
        found.append(forbidden("spec.source", _ONE_SOURCE))
    elif inline is not None:
        check_inline_volume(found, inline, "spec.source.inlineVolumeSpec")
    elif name == "":
        found.append(required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"))
    node = spec.get("nodeName") or ""
    refuse_each(found, "spec.nodeName", node, name_rules.subdomain(node))
    if name:
        refuse_each(found, "spec.source.persistentVolumeName", name, name_rules.subdomain(name))
    check_driver(found, spec.get("attacher") or "", "spec.attacher")
    return found


def _check_attachment_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_attachment(obj)
    unchanged(found, "spec", obj["spec"], old["spec"])
    return found


def _check_capacity(obj: Object) -> list[FieldError]:
    found: Problems = []
    check_selector(found, obj.get("nodeTopology"), "nodeTopology")
    name, size = obj.get("storageClassName") or "", obj.get("capacity")
    refuse_each(found, "storageClassName", name, name_rules.subdomain(name))
    if size is not None and quantities.amount(size) < quantities.ZERO:
        found.append(bad("capacity", size, "must be greater than or equal to 0"))
    return found


def _check_capacity_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_capacity(obj)
    unchanged(found, "nodeTopology", obj.get("nodeTopology"), old.get("nodeTopology"))
    unchanged(found, "storageClassName", obj.get("storageClassName"), old.get("storageClassName"))
    return found


def _check_node_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_node(obj)
    for before in old["spec"]["drivers"] or ():
        for driver in obj["spec"]["drivers"] or ():
            if driver.get("name") == before.get("name"):
                unchanged(found, "spec.drivers", _fixed(driver), _fixed(before))
    return found


def _fixed(driver: Object) -> Object:
    return {name: value for name, value in driver.items() if name != "allocatable"}


KINDS = {
    (_GROUP, "CSIDriver"): BuiltIn(
        fill=_fill_driver,
        check=_check_driver,
        check_update=_check_driver_update,
        remarks=remarks_on_csi_driver,
        remarked_changes=("spec.tokenRequests",),
        generation=("spec",),
        counts_from_zero=True,
    ),
    (_GROUP, "CSINode"): BuiltIn(check=_check_node, check_update=_check_node_update),
    (_GROUP, "CSIStorageCapacity"): BuiltIn(check=_check_capacity, check_update=_check_capacity_update),
    (_GROUP, "VolumeAttachment"): BuiltIn(check=_check_attachment, check_update=_check_attachment_update, status=True),
}
