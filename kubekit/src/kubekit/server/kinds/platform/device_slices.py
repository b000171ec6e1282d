"""ResourceSlices: the devices that a driver has found, and on which nodes they are."""

from __future__ import annotations

import re

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, refuse_each, required, too_long, unchanged

from ..builtin.behaviour import BuiltIn
from ..pods.placement import check_node_terms
from .device_names import check_attribute_name, check_driver_reference
from .devices import EFFECTS, fits, refuse_repeated

_MOST_DEVICES, _MOST_INTRICATE_DEVICES, _MOST_TAINTS, _MOST_PROPERTIES = 128, 64, 16, 32
_LONGEST_TEXT = 64
_LONGEST_POOL = 253
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE = f"exactly one of {', '.join(f'`{one}`' for one in _PLACES)} is required"
_DEVICE_PLACES = _PLACES[:3]
_PER_DEVICE = "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
_ONE_DEVICE_PLACE = f"exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when {_PER_DEVICE}"
_NO_DEVICE_PLACE = f"`nodeName`, `nodeSelector` and `allNodes` can only be set if {_PER_DEVICE}"
_NUMBER = r"(0|[1-9][0-9]*)"
_PART = r"(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_is_version = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PART}(\.{_PART})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?")


def _check_slice(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    _check_origin(found, spec)
    _check_rest(found, spec)
    return found


def _check_slice_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    spec, before = obj["spec"], old["spec"]
    _check_origin(found, spec)
    unchanged(found, "spec.pool.name", spec["pool"].get("name"), before["pool"].get("name"))
    for name in ("driver", "nodeName"):
        unchanged(found, f"spec.{name}", spec.get(name), before.get(name))
    _check_rest(found, spec)
    return found


def _check_origin(found: Problems, spec: Object) -> None:
    check_driver_reference(found, spec.get("driver") or "", "spec.driver")
    pool, path = spec["pool"], "spec.pool"
    name = pool.get("name") or ""
    if not name:
        found.append(required(f"{path}.name"))
    else:
        if len(name) > _LONGEST_POOL:
            found.append(too_long(f"{path}.name", _LONGEST_POOL))
        for part in name.split("/"):
            refuse_each(found, f"{path}.name", part, name_rules.subdomain(part))
    if pool["resourceSliceCount"] <= 0:
        found.append(bad(f"{path}.resourceSliceCount", pool["resourceSliceCount"], "must be greater than zero"))
    if pool["generation"] < 0:
        found.append(bad(f"{path}.generation", pool["generation"], "must be greater than or equal to zero"))


def _check_rest(found: Problems, spec: Object) -> None:
    places = _check_places(found, spec, "spec", _PLACES, "must be either unset or set to a non-empty string")
    selector = spec.get("nodeSelector")
    if selector is not None and len(selector.get("nodeSelectorTerms") or ()) != 1:
        terms = selector.get("nodeSelectorTerms") or []
        found.append(bad("spec.nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term"))
    if not places:
        found.append(required("spec", _ONE_PLACE))
    elif len(places) > 1:
        found.append(bad("spec", _listed(places), f"{_ONE_PLACE}, but multiple fields are set"))
    devices = spec.get("devices") or []
    if devices and spec.get("sharedCounters"):
        found.append(bad("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    intricate = any(one.get("taints") or one.get("consumesCounters") for one in devices)
    if fits(found, devices, "spec.devices", _MOST_INTRICATE_DEVICES if intricate else _MOST_DEVICES):
        for index, device in enumerate(devices):
            _check_device(found, device, f"spec.devices[{index}]", each=bool(spec.get("perDeviceNodeSelection")))
        refuse_repeated(found, (one.get("name") or "" for one in devices), "spec.devices")


def _check_places(found: Problems, holder: Object, path: str, names: tuple[str, ...], no_name: str) -> list[str]:
    """Answers which ways there are to say where something is."""
    places = []
    for name in names:
        value, place = holder.get(name), f"{path}.{name}"
        if value is None:
            continue
        if name == "nodeName":
            refuse_each(found, place, value, name_rules.subdomain(value) if value else (no_name,))
        elif name == "nodeSelector":
            check_node_terms(found, value, place)
        elif not value:
            found.append(bad(place, value, "must be either unset or set to true"))
        if value or name == "nodeSelector":
            places.append(name)
    return places


def _listed(places: list[str]) -> str:
    return f"{{{', '.join(f'`{one}`' for one in places)}}}"


def _check_device(found: Problems, device: Object, path: str, *, each: bool) -> None:
    """`each` device must say for itself where it is."""
    name = device.get("name") or ""
    refuse_each(found, f"{path}.name", name, name_rules.label(name))
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    if len(attributes) + len(capacity) > _MOST_PROPERTIES:
        detail = f"the total number of attributes and capacities must not exceed {_MOST_PROPERTIES}"
        found.append(bad(path, len(attributes) + len(capacity), detail))
    for key, attribute in attributes.items():
        check_attribute_name(found, key, f"{path}.attributes")
        _check_attribute(found, attribute, f"{path}.attributes[{key}]")
    for key in capacity:
        check_attribute_name(found, key, f"{path}.capacity")
    taints = device.get("taints") or []
    if fits(found, taints, f"{path}.taints", _MOST_TAINTS):
        for index, taint in enumerate(taints):
            _check_taint(found, taint, f"{path}.taints[{index}]")
    if each:
        places = _check_places(found, device, path, _DEVICE_PLACES, "must not be empty")
        if not places:
            found.append(required(path, _ONE_DEVICE_PLACE))
        elif len(places) > 1:
            found.append(bad(path, _listed(places), _ONE_DEVICE_PLACE))
    elif any(device.get(one) is not None for one in _DEVICE_PLACES):
        found.append(bad(path, None, _NO_DEVICE_PLACE))


def _check_attribute(found: Problems, attribute: Object, path: str) -> None:
    given = [name for name, value in attribute.items() if value is not None]
    text, version = attribute.get("string"), attribute.get("version")
    if text is not None and len(text) > _LONGEST_TEXT:
        found.append(too_long(f"{path}.string", _LONGEST_TEXT))
    if version is not None:
        if not _is_version.fullmatch(version):
            detail = "must be a string compatible with semver.org spec 2.0.0"
            found.append(bad(f"{path}.version", version, detail))
        if len(version) > _LONGEST_TEXT:
            found.append(too_long(f"{path}.version", _LONGEST_TEXT))
    if len(given) != 1:
        found.append(bad(path, attribute if given else "", "exactly one value must be specified"))


def _check_taint(found: Problems, taint: Object, path: str) -> None:
    key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
    refuse_each(found, f"{path}.key", key, name_rules.qualified_name(key))
    refuse_each(found, f"{path}.value", value, name_rules.label_value(value))
    if not effect:
        found.append(required(f"{path}.effect"))
    elif effect not in EFFECTS:
        found.append(not_supported(f"{path}.effect", effect, EFFECTS))


KINDS = {
    ("resource.k8s.io", "ResourceSlice"): BuiltIn(
        check=_check_slice, check_update=_check_slice_update, generation=("spec",)
    ),
}
