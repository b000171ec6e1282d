"""Metadata, which all kinds have in common: decoding it and what may stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubekit.errors import FieldError, FieldProblem

from . import name_rules
from .schema.decoding import Malformed, decode, go_kind
from .schema.model import Definitions

Meta = dict[str, Any]

MAX_ANNOTATIONS = 256 * 1024
_STANDARD_FINALIZERS = frozenset(("kubernetes", "orphan", "foregroundDeletion"))
_IMMUTABLE = "field is immutable"
_SHOWN_OWNERS = 100
"""Of how many owners it is said of each that is one controller too many, and all are shown each time."""
_NAME_RULES: dict[str, name_rules.Format] = {
    "subdomain": name_rules.subdomain,
    "label": name_rules.label,
    "label1035": name_rules.label_1035,
    "path-segment": name_rules.path_segment,
    "ip": name_rules.usual_ip,
}

_PACKAGE = "io.k8s.apimachinery.pkg.apis.meta.v1"
_STRING: Mapping[str, Any] = {"type": "string"}
_TIME: Mapping[str, Any] = {"type": "string", "format": "date-time"}
_INTEGER: Mapping[str, Any] = {"type": "integer", "format": "int64"}
_BOOLEAN: Mapping[str, Any] = {"type": "boolean"}
_TEXTS: Mapping[str, Any] = {"type": "object", "additionalProperties": _STRING}


def _struct(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties}


def _list_of(name: str) -> Mapping[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/definitions/{_PACKAGE}.{name}"}}


_OBJECT_META = Definitions(
    {
        f"{_PACKAGE}.ObjectMeta": _struct(
            name=_STRING,
            generateName=_STRING,
            namespace=_STRING,
            selfLink=_STRING,
            uid=_STRING,
            resourceVersion=_STRING,
            generation=_INTEGER,
            creationTimestamp=_TIME,
            deletionTimestamp=_TIME,
            deletionGracePeriodSeconds=_INTEGER,
            labels=_TEXTS,
            annotations=_TEXTS,
            ownerReferences=_list_of("OwnerReference"),
            finalizers={"type": "array", "items": _STRING},
            managedFields=_list_of("ManagedFieldsEntry"),
        ),
        f"{_PACKAGE}.OwnerReference": _struct(
            apiVersion=_STRING,
            kind=_STRING,
            name=_STRING,
            uid=_STRING,
            controller=_BOOLEAN,
            blockOwnerDeletion=_BOOLEAN,
        ),
        f"{_PACKAGE}.ManagedFieldsEntry": _struct(
            manager=_STRING,
            operation=_STRING,
            apiVersion=_STRING,
            time=_TIME,
            fieldsType=_STRING,
            fieldsV1={"type": "object"},
            subresource=_STRING,
        ),
    }
).named(f"{_PACKAGE}.ObjectMeta")


def coerce_metadata(obj: dict[str, Any]) -> list[str]:
    """Decode the metadata of a custom resource in place; answers the paths of unknown fields.

    Afterwards metadata is there and has only known fields that are not empty. Raises Malformed for a wrong type."""
    unknown = decode_metadata(obj)
    obj.setdefault("metadata", {})
    return [f"metadata.{name}" for name in unknown] if unknown else []


def tidy(obj: dict[str, Any]) -> None:
    """Leave only what says something in metadata that is decoded."""
    metadata = obj.setdefault("metadata", {})
    for name in [name for name, value in metadata.items() if not value and name != "deletionGracePeriodSeconds"]:
        del metadata[name]


def decode_metadata(obj: dict[str, Any]) -> list[str]:
    """The same for an object that may be part of another one. Raises Malformed."""
    metadata = obj.get("metadata")
    if metadata is None:
        obj.pop("metadata", None)
        return []
    if not isinstance(metadata, dict):
        raise Malformed(f"json: cannot unmarshal {go_kind(metadata)} into Go value of type v1.ObjectMeta")
    unknown = decode(metadata, _OBJECT_META)
    tidy(obj)
    return unknown


def validate_metadata(
    meta: Meta, namespaced: bool, name_rule: str, path: str = "metadata", *, built_in: bool = False
) -> list[FieldError]:
    """What is wrong with the metadata of a new object, whose name has been generated if it was to be.

    `name_rule`: subdomain, label, label1035 or path-segment. `built_in`: finalizers need a domain."""
    problems = _name_problems(meta, _NAME_RULES[name_rule], path) + _namespace_problems(meta, namespaced, path)
    if meta.get("generation", 0) < 0:
        problems.append(_invalid(f"{path}.generation", meta["generation"], "must be greater than or equal to 0"))
    problems += _labels_and_owners(meta, path, finalizers=True)
    return problems + list(_unqualified(meta, path)) if built_in else problems


def validate_metadata_update(
    new: Meta, old: Meta, path: str = "metadata", *, built_in: bool = False
) -> list[FieldError]:
    """What is wrong with changed metadata. What the server itself carries over must have been carried over.

    Kubernetes checks an update twice, once for all kinds and once for the kind, and reports both."""
    general = validate_metadata(new, bool(old.get("namespace")), "path-segment", path)
    changes = [*_forbidden_changes(new, old, path), *_labels_and_owners(new, path, finalizers=False)]
    return general + changes + changes + (list(_unqualified(new, path)) if built_in else [])


def _invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, value)


def _name_problems(meta: Meta, rule: name_rules.Format, path: str) -> list[FieldError]:
    problems: list[FieldError] = []
    prefix, name = meta.get("generateName", ""), meta.get("name", "")
    if prefix:
        # What will be appended makes up for a dash at the end.
        shown = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        broken = rule(shown if rule is not name_rules.path_segment else prefix)
        problems += [_invalid(f"{path}.generateName", prefix, one) for one in broken]
    if not name:
        return [*problems, FieldError(FieldProblem.REQUIRED, f"{path}.name", "name or generateName is required")]
    if broken := rule(name):
        problems += [_invalid(f"{path}.name", name, one) for one in broken]
    return problems


def _namespace_problems(meta: Meta, namespaced: bool, path: str) -> list[FieldError]:
    namespace = meta.get("namespace", "")
    if not namespaced:
        forbidden = FieldError(FieldProblem.FORBIDDEN, f"{path}.namespace", "not allowed on this type")
        return [forbidden] if namespace else []
    if not namespace:
        return [FieldError(FieldProblem.REQUIRED, f"{path}.namespace")]
    return [_invalid(f"{path}.namespace", namespace, broken) for broken in name_rules.label(namespace)]


def _labels_and_owners(meta: Meta, path: str, *, finalizers: bool) -> list[FieldError]:
    """Most objects lack most of these, and every write comes by: so it is asked first what is there."""
    problems: list[FieldError] = []
    if "labels" in meta:
        problems += _label_problems(meta["labels"], f"{path}.labels")
    if "annotations" in meta:
        problems += annotation_problems(meta["annotations"], f"{path}.annotations")
    if "ownerReferences" in meta:
        problems += _owner_problems(meta["ownerReferences"], f"{path}.ownerReferences")
    if finalizers and "finalizers" in meta:
        problems += _finalizer_problems(meta["finalizers"], f"{path}.finalizers")
    if "managedFields" in meta and not all(map(_is_common_entry, meta["managedFields"])):
        problems += _managed_problems(meta["managedFields"], f"{path}.managedFields")
    return problems


def _label_problems(labels: Mapping[str, str], path: str) -> list[FieldError]:
    problems: list[FieldError] = []
    for key, value in labels.items():
        if broken := name_rules.qualified_name(key):
            problems += [_invalid(path, key, one) for one in broken]
        if broken := name_rules.label_value(value):
            problems += [_invalid(path, value, one) for one in broken]
    return problems


def annotation_problems(annotations: Mapping[str, str], path: str) -> Iterator[FieldError]:
    """What is wrong with annotations: their keys, and their size all together."""
    size = 0
    for key, value in annotations.items():
        size += len(key.encode()) + len(value.encode())
        for broken in name_rules.qualified_name(key.lower()):
            yield _invalid(path, key, broken)
    if size > MAX_ANNOTATIONS:
        yield FieldError(FieldProblem.TOO_LONG, path, f"may not be more than {MAX_ANNOTATIONS} bytes")


def _owner_problems(owners: list[Meta], path: str) -> Iterator[FieldError]:
    controller = ""
    for owner in owners:
        yield from _owner_reference_problems(owner, path)
        if not owner.get("controller"):
            continue
        this = f"{owner.get('kind', '')}/{owner.get('name', '')}"
        if controller:
            detail = (
                "Only one reference can have Controller set to true. "
                f'Found "true" in references for {controller} and {this}'
            )
            yield _invalid(path, [_as_struct(one) for one in owners], detail)
            if len(owners) > _SHOWN_OWNERS:
                return
        controller = controller or this


def _as_struct(owner: Meta) -> Meta:
    """An owner reference with its members in the order of the Go struct."""
    order = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {name: owner.get(name, "") for name in order if name in owner or name in order[:4]}


def _owner_reference_problems(owner: Meta, path: str) -> Iterator[FieldError]:
    api_version, kind = owner.get("apiVersion", ""), owner.get("kind", "")
    if not api_version.rpartition("/")[2] or api_version.count("/") > 1:
        yield _invalid(f"{path}.apiVersion", api_version, "version must not be empty")
    for field in ("kind", "name", "uid"):
        if not owner.get(field):
            yield _invalid(f"{path}.{field}", "", "must not be empty")
    if (api_version, kind) == ("v1", "Event"):
        yield _invalid(path, _as_struct(owner), "/v1, Kind=Event is disallowed from being an owner")


def _finalizer_problems(finalizers: list[str], path: str) -> Iterator[FieldError]:
    for finalizer in finalizers:
        for broken in name_rules.qualified_name(finalizer):
            yield _invalid(path, finalizer, broken)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        yield _invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")


def _unqualified(meta: Meta, path: str) -> Iterator[FieldError]:
    return unqualified(meta.get("finalizers", []), f"{path}.finalizers")


def unqualified(finalizers: list[str], path: str) -> Iterator[FieldError]:
    """Finalizers that nobody can tell whose they are."""
    for index, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield _invalid(f"{path}[{index}]", finalizer, detail)


def finalizer_warnings(meta: Meta, old: Meta | None = None) -> list[str]:
    """What a client is told about new finalizers of a custom resource that are accepted but unwise."""
    known = set(old.get("finalizers", [])) if old else set()
    warnings = []
    for finalizer in sorted(set(meta.get("finalizers", [])) - known):
        start = f'metadata.finalizers: "{finalizer}": '
        warnings += [f"{start}{broken}" for broken in name_rules.qualified_name(finalizer)]
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            path = " including a path (/)" if "." in finalizer else ""
            advice = f"prefer a domain-qualified finalizer name{path}"
            warnings.append(f"{start}{advice} to avoid accidental conflicts with other finalizer writers")
    return warnings


def _is_common_entry(entry: Meta) -> bool:
    """A quick look at an entry as this server writes it; a no may be wrong."""
    manager = entry.get("manager", "")
    is_known = entry.get("operation") in ("Apply", "Update") and entry.get("fieldsType") == "FieldsV1"
    return is_known and len(manager) <= 32 and manager.isprintable() and len(entry.get("subresource", "")) <= 32


def _managed_problems(entries: list[Meta], path: str) -> Iterator[FieldError]:
    for index, entry in enumerate(entries):
        where, operation = f"{path}[{index}]", entry.get("operation", "")
        if operation not in ("Apply", "Update"):
            yield _invalid(f"{where}.operation", operation, "must be `Apply` or `Update`")
        if entry.get("fieldsType", "FieldsV1") not in ("", "FieldsV1"):
            yield _invalid(f"{where}.fieldsType", entry["fieldsType"], "must be `FieldsV1`")
        yield from field_manager_problems(entry.get("manager", ""), f"{where}.manager")
        if len(entry.get("subresource", "").encode()) > 256:
            yield FieldError(FieldProblem.TOO_LONG, f"{where}.subresource", "may not be more than 256 bytes")


def field_manager_problems(manager: str, path: str) -> Iterator[FieldError]:
    """What is wrong with the name of a field manager."""
    if len(manager.encode()) > 128:
        yield FieldError(FieldProblem.TOO_LONG, path, "may not be more than 128 bytes")
    if manager.isprintable():
        return
    for index, char in enumerate(manager):
        if not char.isprintable():
            detail = f"invalid character U+{ord(char):04X} (at position {index})"
            yield _invalid(path, manager, detail)


def _forbidden_changes(new: Meta, old: Meta, path: str) -> Iterator[FieldError]:
    if old.get("deletionTimestamp"):
        added = sorted(set(new.get("finalizers", [])) - set(old.get("finalizers", [])))
        if added:
            listed = ", ".join(f'"{one}"' for one in added)
            detail = (
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{listed}}}"
            )
            yield FieldError(FieldProblem.FORBIDDEN, f"{path}.finalizers", detail)
    if not new.get("resourceVersion"):
        yield _invalid(f"{path}.resourceVersion", "", "must be specified for an update")
    if new.get("generation", 0) < old.get("generation", 0):
        yield _invalid(f"{path}.generation", new.get("generation", 0), "must not be decremented")
    empty: dict[str, Any] = {"name": "", "namespace": "", "uid": ""}
    for field in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        nothing = empty.get(field)
        if new.get(field, nothing) != old.get(field, nothing):
            yield _invalid(f"{path}.{field}", new.get(field, nothing), _IMMUTABLE)
