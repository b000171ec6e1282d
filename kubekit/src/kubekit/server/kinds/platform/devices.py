"""Claims for devices, templates of such claims, and classes of devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.cel.formulas import Formula
from kubekit.server.objects.cel.language.typesystem import BOOL, DYN, STRING, Field, Type, map_of
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    first_places,
    refuse_each,
    required,
    too_long,
    too_many,
    unchanged,
)

from ..builtin.behaviour import BuiltIn
from ..storage.volumes import check_template_metadata
from .device_names import check_driver_reference, check_full_name

_GROUP = "resource.k8s.io"
_MODES = ("All", "ExactCount")
_OPERATORS = ("Equal", "Exists")
EFFECTS = ("NoExecute", "NoSchedule", "None")
_MOST_PARTS, _MOST_CHOICES, _MOST_TOLERATIONS = 32, 8, 16
_LONGEST_PARAMETERS = _LONGEST_EXPRESSION = 10 * 1024
_EITHER = "exactly one of `exactly` or `firstAvailable` is required"
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_ONE_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'

_DEVICE = Type(
    "kubernetes.DRADevice",
    is_object=True,
    fields={
        name: Field(name, kind)
        for name, kind in {
            "allowMultipleAllocations": BOOL,
            "attributes": map_of(STRING, map_of(STRING, DYN)),
            "capacity": map_of(STRING, map_of(STRING, DYN)),
            "driver": STRING,
        }.items()
    },
)
"""What the expressions that choose a device see of it."""

Names = Mapping[str, set[str]]
"""The requests of a claim, each with the names of what it would be content with."""


def _fill_claim(obj: Object) -> None:
    _fill_devices(obj["spec"].get("devices") or {})


def _fill_template(obj: Object) -> None:
    _fill_devices((obj["spec"].get("spec") or {}).get("devices") or {})


def _fill_devices(devices: Object) -> None:
    for request in devices.get("requests") or ():
        exact = request.get("exactly")
        for one in [*([exact] if exact is not None else ()), *(request.get("firstAvailable") or ())]:
            one["allocationMode"] = one.get("allocationMode") or "ExactCount"
            if one["allocationMode"] == "ExactCount" and not one.get("count"):
                one["count"] = 1
            for toleration in one.get("tolerations") or ():
                toleration["operator"] = toleration.get("operator") or "Equal"


def _check_claim(obj: Object) -> list[FieldError]:
    found: Problems = []
    _check_devices(found, obj["spec"].get("devices") or {}, "spec.devices")
    return found


def _check_claim_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    unchanged(found, "spec", obj["spec"], old["spec"])
    return found


def _check_template(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    check_template_metadata(found, spec.get("metadata") or {}, "spec.metadata")
    _check_devices(found, (spec.get("spec") or {}).get("devices") or {}, "spec.spec.devices")
    return found


def _check_template_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_template(obj)
    unchanged(found, "spec", obj["spec"], old["spec"])
    return found


def _check_devices(found: Problems, devices: Object, path: str) -> None:
    requests = devices.get("requests") or []
    names = {
        one.get("name") or "": {part.get("name") or "" for part in one.get("firstAvailable") or ()} for one in requests
    }
    if fits(found, requests, f"{path}.requests", _MOST_PARTS):
        for index, request in enumerate(requests):
            _check_request(found, request, f"{path}.requests[{index}]")
        refuse_repeated(found, (one.get("name") or "" for one in requests), f"{path}.requests")
    constraints, settings = devices.get("constraints") or [], devices.get("config") or []
    if fits(found, constraints, f"{path}.constraints", _MOST_PARTS):
        for index, constraint in enumerate(constraints):
            _check_constraint(found, constraint, f"{path}.constraints[{index}]", names)
    if fits(found, settings, f"{path}.config", _MOST_PARTS):
        for index, setting in enumerate(settings):
            _check_references(found, setting.get("requests") or [], f"{path}.config[{index}].requests", names)
            _check_configuration(found, setting, f"{path}.config[{index}]")


def fits(found: Problems, items: list[Any], path: str, most: int) -> bool:
    """Whether there are not too many, in which case none is looked at."""
    if len(items) > most:
        found.append(too_many(path, len(items), most))
    return len(items) <= most


def refuse_repeated(found: Problems, keys: Iterable[str], path: str) -> None:
    listed = list(keys)
    first = first_places(listed)
    found.extend(duplicate(f"{path}[{index}]", key) for index, key in enumerate(listed) if first[key] < index)


def _check_request(found: Problems, request: Object, path: str) -> None:
    name, exact, choices = request.get("name") or "", request.get("exactly"), request.get("firstAvailable") or []
    refuse_each(found, f"{path}.name", name, name_rules.label(name))
    if exact is None and not choices:
        found.append(required(path, _EITHER))
    elif exact is not None and choices:
        found.append(bad(path, None, f"{_EITHER}, but multiple fields are set"))
    elif exact is not None:
        _check_wanted(found, exact, f"{path}.exactly")
    elif fits(found, choices, f"{path}.firstAvailable", _MOST_CHOICES):
        for index, choice in enumerate(choices):
            place, name = f"{path}.firstAvailable[{index}]", choice.get("name") or ""
            refuse_each(found, f"{place}.name", name, name_rules.label(name))
            _check_wanted(found, choice, place)
        refuse_repeated(found, (one.get("name") or "" for one in choices), f"{path}.firstAvailable")


def _check_wanted(found: Problems, wanted: Object, path: str) -> None:
    name, mode, count = wanted.get("deviceClassName") or "", wanted.get("allocationMode"), wanted.get("count") or 0
    if name:
        refuse_each(found, f"{path}.deviceClassName", name, name_rules.subdomain(name))
    else:
        found.append(required(f"{path}.deviceClassName"))
    _check_selectors(found, wanted.get("selectors") or [], f"{path}.selectors")
    if mode not in _MODES:
        found.append(not_supported(f"{path}.allocationMode", mode, _MODES))
    elif mode == "All" and count != 0:
        found.append(bad(f"{path}.count", count, "must not be specified when allocationMode is 'All'"))
    elif mode == "ExactCount" and count <= 0:
        found.append(bad(f"{path}.count", count, "must be greater than zero"))
    tolerations = wanted.get("tolerations") or []
    for index, toleration in enumerate(tolerations):
        _check_toleration(found, toleration, f"{path}.tolerations[{index}]")
    fits(found, tolerations, f"{path}.tolerations", _MOST_TOLERATIONS)


def _check_selectors(found: Problems, selectors: list[Object], path: str) -> None:
    if not fits(found, selectors, path, _MOST_PARTS):
        return
    for index, selector in enumerate(selectors):
        formula = selector.get("cel")
        if formula is None:
            found.append(required(f"{path}[{index}].cel"))
        else:
            _check_formula(found, formula.get("expression") or "", f"{path}[{index}].cel.expression")


def _check_formula(found: Problems, text: str, path: str) -> None:
    if len(text) > _LONGEST_EXPRESSION:
        found.append(too_long(path, _LONGEST_EXPRESSION))
        return
    formula = Formula(text, {"device": _DEVICE})
    if formula.problem:
        found.append(bad(path, text, formula.problem))
    elif formula.type not in (BOOL, DYN):
        found.append(bad(path, text, f"must evaluate to bool or the unknown type, not {formula.type}"))


def _check_toleration(found: Problems, toleration: Object, path: str) -> None:
    key, operator, value = (toleration.get(name) or "" for name in ("key", "operator", "value"))
    if key:
        refuse_each(found, f"{path}.key", key, name_rules.qualified_name(key))
    match operator:
        case "Exists":
            if value:
                found.append(bad(f"{path}.value", value, "must be empty for operator `Exists`"))
        case "Equal":
            refuse_each(found, f"{path}.value", value, name_rules.label_value(value))
        case "":
            found.append(required(f"{path}.operator"))
        case _:
            found.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    effect = toleration.get("effect")
    if effect and effect not in EFFECTS:
        found.append(not_supported(f"{path}.effect", effect, EFFECTS))


def _check_constraint(found: Problems, constraint: Object, path: str, names: Names) -> None:
    _check_references(found, constraint.get("requests") or [], f"{path}.requests", names)
    for attribute in ("matchAttribute", "distinctAttribute"):
        if constraint.get(attribute) is not None:
            check_full_name(found, constraint[attribute], f"{path}.{attribute}")
            return
    found.append(required(path, _ONE_ATTRIBUTE))


def _check_references(found: Problems, references: list[str], path: str, names: Names) -> None:
    if not fits(found, references, path, _MOST_PARTS):
        return
    for index, reference in enumerate(references):
        place, parts = f"{path}[{index}]", reference.split("/")
        if len(parts) > 2:
            found.append(bad(place, reference, _NO_REQUEST))
            continue
        for part in parts:
            refuse_each(found, place, part, name_rules.label(part))
        if parts[0] not in names or (len(parts) == 2 and parts[1] not in names[parts[0]]):
            found.append(bad(place, reference, _NO_REQUEST))
    refuse_repeated(found, references, path)


def _check_configuration(found: Problems, setting: Object, path: str) -> None:
    opaque = setting.get("opaque")
    if opaque is None:
        found.append(required(f"{path}.opaque"))
        return
    check_driver_reference(found, opaque.get("driver") or "", f"{path}.opaque.driver")
    parameters, place = opaque.get("parameters"), f"{path}.opaque.parameters"
    if parameters is None:
        found.append(required(place))
    elif not isinstance(parameters, dict):
        found.append(bad(place, "<value omitted>", "must be a valid JSON object"))
    elif len(str(parameters)) > _LONGEST_PARAMETERS:
        found.append(too_long(place, _LONGEST_PARAMETERS))


def _check_class(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    _check_selectors(found, spec.get("selectors") or [], "spec.selectors")
    settings = spec.get("config") or []
    if fits(found, settings, "spec.config", _MOST_PARTS):
        for index, setting in enumerate(settings):
            _check_configuration(found, setting, f"spec.config[{index}]")
    name = spec.get("extendedResourceName")
    if name is not None and not _is_extended(name):
        found.append(bad("spec.extendedResourceName", name, "must be a valid extended resource name"))
    return found


def _is_extended(name: str) -> bool:
    """Whether a resource is one that only its owner knows."""
    is_foreign = "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
    return is_foreign and not name_rules.qualified_name(f"requests.{name}")


KINDS = {
    (_GROUP, "ResourceClaim"): BuiltIn(
        fill=_fill_claim, check=_check_claim, check_update=_check_claim_update, status=True
    ),
    (_GROUP, "ResourceClaimTemplate"): BuiltIn(
        fill=_fill_template, check=_check_template, check_update=_check_template_update
    ),
    (_GROUP, "DeviceClass"): BuiltIn(check=_check_class, generation=("spec",)),
}
