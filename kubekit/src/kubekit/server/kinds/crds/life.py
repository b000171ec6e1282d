"""The life of a CustomResourceDefinition: completed, accepted, serving, going."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kubekit.model import api_versions
from kubekit.model.resource import Object
from kubekit.server.objects.resource import Column, Resource, Scale

from .conversion import client_config, conversion_of, is_bundle
from .schemas import CustomSchema
from .validation import approval, is_established, is_protected

CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_VERBS_WHILE_TERMINATING = ("delete", "deletecollection", "get", "list", "watch")


def default_crd(obj: Object) -> None:
    """Fill in, in place, what Kubernetes fills in."""
    spec = obj.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind", "")
    if not names.get("singular") and kind:
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = client_config(spec).get("service")
    if service is not None:
        service.setdefault("port", 443)


def prepare_create(obj: Object) -> None:
    """Begin, in place, with the status of a definition nobody has accepted yet."""
    obj["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": []}
    _remember_storage_version(obj)


def prepare_update(obj: Object, old: Object) -> None:
    """Keep the old status, in place, and remember the version that objects are stored in from now on."""
    obj["status"] = copy.deepcopy(old.get("status") or {})
    _remember_storage_version(obj)


def _remember_storage_version(obj: Object) -> None:
    stored = obj["status"].setdefault("storedVersions", [])
    for version in obj["spec"].get("versions") or ():
        if version.get("storage"):
            if version.get("name") not in stored:
                stored.append(version.get("name"))
            break


@dataclass(frozen=True, slots=True)
class TakenNames:
    """The names of one group that are in use."""

    resources: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()


def taken_names(group: str, definitions: Iterable[Object], built_in: Iterable[Resource] = ()) -> TakenNames:
    """The names that definitions of a group were given, the asking one included, and those of built-in kinds."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for definition in definitions:
        if definition["spec"].get("group") == group:
            names = (definition.get("status") or {}).get("acceptedNames") or {}
            resources |= {names.get("plural", ""), names.get("singular", ""), *(names.get("shortNames") or ())}
            kinds |= {names.get("kind", ""), names.get("listKind", "")}
    for resource in built_in:
        if resource.group == group and not resource.is_custom:
            resources |= {resource.plural, resource.singular, *resource.short_names}
            kinds |= {resource.kind, resource.list_kind}
    return TakenNames(frozenset(resources - {""}), frozenset(kinds - {""}))


def established_status(crd: Object, taken: TakenNames, now: str) -> Object:
    """The status a definition should have: names accepted as far as they are free, serving once all are.

    `now` is the timestamp for conditions that change."""
    status = copy.deepcopy(crd.get("status") or {})
    _accept_names(crd, status, taken, now)
    if is_protected(crd["spec"].get("group", "")):
        state, reason = approval(crd.get("metadata", {}).get("annotations"))
        answer = "True" if state == "Approved" else "False"
        set_condition(status, "KubernetesAPIApprovalPolicyConformant", answer, f"{state}Annotation", reason, now)
    return status


def _accept_names(crd: Object, status: Object, taken: TakenNames, now: str) -> None:
    wanted = crd["spec"].get("names") or {}
    conflict, accepted = _settle(wanted, status.get("acceptedNames") or {}, taken)
    status["acceptedNames"] = accepted
    if conflict is not None:
        set_condition(status, "NamesAccepted", "False", *conflict, now)
        if condition(status, "Established") is None:
            set_condition(status, "Established", "False", "NotAccepted", "not all names are accepted", now)
        return
    set_condition(status, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now)
    if is_established({"status": status}):
        return
    if is_bundle(client_config(crd["spec"]).get("caBundle")):
        text = "the initial names have been accepted"
        set_condition(status, "Established", "True", "InitialNamesAccepted", text, now)
    else:
        text = "The conversion webhook CABundle is invalid"
        set_condition(status, "Established", "False", "InvalidCABundle", text, now)


def _settle(wanted: Object, had: Object, taken: TakenNames) -> tuple[tuple[str, str] | None, Object]:
    """The last conflict found, as reason and message, and the names that can be accepted."""
    accepted = copy.deepcopy(had)
    conflict: tuple[str, str] | None = None
    for field in ("plural", "singular", "shortNames", "kind", "listKind"):
        in_use = taken.kinds if "ind" in field else taken.resources
        listed = field == "shortNames"
        asked = wanted.get(field) or () if listed else (wanted.get(field, ""),)
        owned = had.get(field) or () if listed else (had.get(field, ""),)
        refused = [f'"{name}" is already in use' for name in asked if name not in owned and name in in_use]
        if refused:
            text = refused[0] if len(refused) == 1 else f"[{', '.join(refused)}]"
            conflict = (f"{field[0].upper()}{field[1:]}Conflict", text)
        elif wanted.get(field) or not listed:
            accepted[field] = wanted.get(field, "")
        else:
            accepted.pop(field, None)
    accepted.pop("categories", None)
    if wanted.get("categories"):
        accepted["categories"] = wanted["categories"]
    return conflict, accepted


def marked_status(crd: Object, now: str) -> Object:
    """The status of a definition that was just marked for deletion."""
    status = copy.deepcopy(crd.get("status") or {})
    text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    set_condition(status, "Terminating", "True", "InstanceDeletionPending", text, now)
    return status


def terminating_status(crd: Object, is_done: bool, now: str) -> Object:
    """The status of a definition whose objects are being deleted, or all are."""
    status = copy.deepcopy(crd.get("status") or {})
    if is_done:
        set_condition(status, "Terminating", "False", "InstanceDeletionCompleted", "removed all instances", now)
    else:
        text = "CustomResource deletion is in progress"
        set_condition(status, "Terminating", "True", "InstanceDeletionInProgress", text, now)
    return status


def condition(status: Object, kind: str) -> Object | None:
    """The condition of a type, None when there is none."""
    found: Object
    for found in status.get("conditions") or ():
        if found.get("type") == kind:
            return found
    return None


def set_condition(status: Object, kind: str, answer: str, reason: str, message: str, now: str) -> None:
    """Set a condition in place; its time moves only when its answer does."""
    conditions = status["conditions"] = status.get("conditions") or []
    found = condition(status, kind)
    if found is None:
        found = {"type": kind, "status": "", "lastTransitionTime": now}
        conditions.append(found)
    if found.get("status") != answer:
        found["lastTransitionTime"] = now
    found |= {"status": answer, "reason": reason, "message": message}


def resources_of(crd: Object) -> list[Resource]:
    """What a definition offers: one resource per served version, nothing before it is established."""
    if not is_established(crd):
        return []
    return [_resource(crd, version) for version in crd["spec"].get("versions") or () if version.get("served")]


def _resource(crd: Object, version: Object) -> Resource:
    spec, names = crd["spec"], crd["status"]["acceptedNames"]
    terminating = condition(crd["status"], "Terminating")
    is_going = terminating is not None and terminating["status"] == "True"
    subresources = version.get("subresources") or {}
    return Resource(
        group=spec["group"],
        version=version["name"],
        kind=names["kind"],
        plural=names["plural"],
        schema=CustomSchema((version.get("schema") or {}).get("openAPIV3Schema") or {}),
        namespaced=spec["scope"] == "Namespaced",
        singular=names.get("singular", ""),
        list_kind=names.get("listKind", ""),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        verbs=_VERBS_WHILE_TERMINATING if is_going else _VERBS,
        status=subresources.get("status") is not None,
        scale=_scale(subresources.get("scale")),
        columns=tuple(_column(column) for column in version.get("additionalPrinterColumns") or ()),
        selectable_fields=tuple(field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or ()),
        storage_version=_storage_version(spec),
        oldest_version=next(iter(crd["status"].get("storedVersions") or ()), _storage_version(spec)),
        schema_since=int(crd.get("metadata", {}).get("resourceVersion") or 0),
        conversion=conversion_of(spec),
        unconditional_update=False,
        is_custom=True,
        deprecation=_deprecation(spec, names["kind"], version),
    )


def _storage_version(spec: Object) -> str:
    return next((str(version["name"]) for version in spec["versions"] if version.get("storage")), "")


def _scale(scale: Object | None) -> Scale | None:
    if scale is None:
        return None
    return Scale(scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or "")


def _column(column: dict[str, Any]) -> Column:
    return Column(
        column["name"],
        column["type"],
        column["jsonPath"],
        column.get("format", ""),
        column.get("description", ""),
        column.get("priority", 0),
    )


def _deprecation(spec: Object, kind: str, version: Object) -> str:
    """The warning for clients of a version; by default it names the best version that is newer."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    text = f"{spec['group']}/{version['name']} {kind} is deprecated"
    newer = [
        other["name"]
        for other in spec["versions"]
        if other.get("served")
        and not other.get("deprecated")
        and api_versions.rank(other["name"]) < api_versions.rank(version["name"])
    ]
    return f"{text}; use {spec['group']}/{min(newer, key=api_versions.rank)} {kind}" if newer else text
