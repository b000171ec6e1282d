"""What a CustomResourceDefinition may say.

kube-apiserver checks a form of the definition in which whatever all versions have in common stands once, beside the
versions; its messages name places in that form, and so do ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.cel.library import urls
from kubekit.server.objects.problems import IMMUTABLE, bad, required

from . import version_rules as rules
from .conversion import client_config, is_bundle, validate_conversion

APPROVED_ANNOTATION = "api-approved.kubernetes.io"
_APPROVAL_HELP = "see https://github.com/kubernetes/enhancements/pull/1111"
_ABSENT: Any = object()


def validate_crd(obj: Object) -> list[FieldError]:
    """Everything that is wrong with a new definition, beyond its metadata."""
    return [*_whole(obj, None), *_approval(obj, None)]


def validate_crd_update(obj: Object, old: Object) -> list[FieldError]:
    """Everything that is wrong with a changed definition; schemas that did not change are not looked at again."""
    return [*_whole(obj, old), *_approval(obj, old)]


def is_established(crd: Object) -> bool:
    conditions = crd.get("status", {}).get("conditions") or ()
    return any((one.get("type"), one.get("status")) == ("Established", "True") for one in conditions)


def is_protected(group: str) -> bool:
    """Whether a group belongs to the Kubernetes community."""
    return any(group == domain or group.endswith(f".{domain}") for domain in ("k8s.io", "kubernetes.io"))


def approval(annotations: dict[str, str] | None) -> tuple[str, str]:
    """Whether a kind in a protected group is approved: (Missing, Unapproved, Approved or Invalid, why)."""
    found = (annotations or {}).get(APPROVED_ANNOTATION, "")
    needed = f'protected groups must have approval annotation "{APPROVED_ANNOTATION}"'
    if not found:
        return "Missing", f"{needed}, {_APPROVAL_HELP}"
    if found.startswith("unapproved"):
        return "Unapproved", f'not approved: "{found}"'
    if not urls.problem(found) and (url := urlsplit(found)).scheme and url.netloc:
        return "Approved", f"approved in {found}"
    return "Invalid", f'{needed} with either a URL or a reason starting with "unapproved", {_APPROVAL_HELP}'


def _whole(obj: Object, old: Object | None) -> Iterator[FieldError]:
    spec = obj.get("spec") or {}
    old_spec = None if old is None else old.get("spec") or {}
    name = obj.get("metadata", {}).get("name", "")
    if old is None and name != f"{spec.get('names', {}).get('plural', '')}.{spec.get('group', '')}":
        yield bad("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    yield from _group(spec.get("group", ""))
    yield from _scope(spec.get("scope", ""))
    yield from _versions(spec, old_spec)
    yield from _names(spec.get("names", {}), "spec.names", needed=True)
    yield from _common(spec, old_spec)
    yield from validate_conversion(spec, old_spec, _trusts_any_bundle(old))
    if old is not None and old_spec is not None:
        yield from _fixed(spec, old_spec, is_established(old))
    yield from _status(obj.get("status") or {}, spec)


def _group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif broken := name_rules.subdomain(group):
        yield bad("spec.group", group, ",".join(broken))
    elif "." not in group:
        yield bad("spec.group", group, "should be a domain with at least one dot")


def _scope(scope: str) -> Iterator[FieldError]:
    if not scope:
        yield required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", scope, ("Cluster", "Namespaced"))


def _shared(spec: Object, field: str) -> Any:
    """What all versions say about a field when they say the same; _ABSENT when they differ."""
    said = [version.get(field) for version in spec.get("versions") or ()]
    return said[0] if said and all(one == said[0] for one in said) else _ABSENT


def _versions(spec: Object, old: Object | None) -> Iterator[FieldError]:
    versions = spec.get("versions") or []
    for index, version in enumerate(versions):
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    if spec.get("preserveUnknownFields") and any(rules.has_default(version.get("schema")) for version in versions):
        yield bad("spec.preserveUnknownFields", True, "must be false in order to use defaults in the schema")
    for index, version in enumerate(versions):
        yield from _version(spec, old, index, version)
    names = [version.get("name", "") for version in versions]
    if len(set(names)) < len(names):
        yield bad("spec.versions", _shown(spec), "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield bad("spec.versions", _shown(spec), "must have exactly one version marked as storage version")
    if names and (broken := name_rules.label_1035(names[0])):
        yield bad("spec.version", names[0], ",".join(broken))


def _version(spec: Object, old: Object | None, index: int, version: Object) -> Iterator[FieldError]:
    """A version, as far as it differs from the others."""
    path = f"spec.versions[{index}]"
    if broken := name_rules.label_1035(version.get("name", "")):
        yield bad(f"{path}.name", version.get("name", ""), ",".join(broken))
    yield from rules.check_deprecation(version, f"{path}.deprecationWarning")
    own = {field: version.get(field) for field in _VERSION_FIELDS if _shared(spec, field) is _ABSENT}
    if (schema := own.get("schema")) and not _was(old, version):
        has_status = "status" in (version.get("subresources") or {})
        yield from rules.check_schema(schema, has_status, f"{path}.schema")
    yield from rules.check_subresources(own.get("subresources"), f"{path}.subresources")
    yield from rules.check_columns(own.get("additionalPrinterColumns"), f"{path}.additionalPrinterColumns")
    declared = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    yield from rules.check_selectable_fields(own.get("selectableFields"), declared, f"{path}.selectableFields")


_VERSION_FIELDS = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def _common(spec: Object, old: Object | None) -> Iterator[FieldError]:
    """What all versions share."""
    versions = spec.get("versions") or []
    shared = {field: found for field in _VERSION_FIELDS if (found := _shared(spec, field)) is not _ABSENT}
    if shared.get("schema") and not all(_was(old, version) for version in versions):
        has_status = any("status" in (version.get("subresources") or {}) for version in versions)
        yield from rules.check_schema(shared["schema"], has_status, "spec.validation")
    yield from rules.check_subresources(shared.get("subresources"), "spec.subresources")
    yield from rules.check_columns(shared.get("additionalPrinterColumns"), "spec.additionalPrinterColumns")
    schema = (versions[0].get("schema") or {}).get("openAPIV3Schema") or {} if versions else {}
    yield from rules.check_selectable_fields(shared.get("selectableFields"), schema, "spec.selectableFields")


def _was(old: Object | None, version: Object) -> bool:
    """Whether the old definition had this version with this very schema."""
    before = (old or {}).get("versions") or ()
    name, schema = version.get("name"), version.get("schema")
    return any(one.get("name") == name and one.get("schema") == schema for one in before)


def _names(names: Object, path: str, needed: bool) -> Iterator[FieldError]:
    if needed:
        for field in ("plural", "singular", "kind", "listKind"):
            if not names.get(field):
                yield required(f"{path}.{field}")
    for field in ("plural", "singular"):
        yield from _label(names.get(field), f"{path}.{field}")
    for field in ("kind", "listKind"):
        found = names.get(field) or ""
        broken = name_rules.label_1035(found.lower())
        if found and broken:
            yield bad(f"{path}.{field}", found, f"may have mixed case, but should otherwise match: {','.join(broken)}")
    yield from _labels(names.get("shortNames"), f"{path}.shortNames")
    if names.get("kind") and names["kind"] == names.get("listKind"):
        yield bad(f"{path}.listKind", names["listKind"], "kind and listKind may not be the same")
    yield from _labels(names.get("categories"), f"{path}.categories")


def _label(value: str | None, path: str) -> Iterator[FieldError]:
    if value and (broken := name_rules.label_1035(value)):
        yield bad(path, value, ",".join(broken))


def _labels(values: Iterable[str] | None, path: str) -> Iterator[FieldError]:
    for index, value in enumerate(values or ()):
        if broken := name_rules.label_1035(value):
            yield bad(f"{path}[{index}]", value, ",".join(broken))


def _fixed(spec: Object, old: Object, established: bool) -> Iterator[FieldError]:
    """What cannot change: names that objects are stored under, and once it serves, what those objects are."""
    if established:
        yield from _unchanged("spec.scope", spec.get("scope"), old.get("scope"))
        yield from _unchanged("spec.names.kind", spec["names"].get("kind"), old["names"].get("kind"))
    yield from _unchanged("spec.group", spec.get("group"), old.get("group"))
    yield from _unchanged("spec.names.plural", spec["names"].get("plural"), old["names"].get("plural"))


def _unchanged(path: str, value: Any, old: Any) -> Iterator[FieldError]:
    if value != old:
        yield bad(path, value, IMMUTABLE)


def _status(status: Object, spec: Object) -> Iterator[FieldError]:
    yield from _names(status.get("acceptedNames") or {}, "status.acceptedNames", needed=False)
    stored, path = status.get("storedVersions") or None, "status.storedVersions"
    if stored is None:
        yield bad(path, None, "must have at least one stored version")
        return
    names = {version.get("name") for version in spec.get("versions") or ()}
    for version in spec.get("versions") or ():
        if version.get("storage") and version.get("name") not in stored:
            yield bad(path, stored, f"must have the storage version {version['name']}")
    for index, name in enumerate(stored):
        if name not in names:
            detail = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield bad(f"{path}[{index}]", name, detail)


def _approval(obj: Object, old: Object | None) -> Iterator[FieldError]:
    spec = obj.get("spec") or {}
    annotations = obj.get("metadata", {}).get("annotations")
    if is_protected(spec.get("group", "")):
        state, reason = approval(annotations)
        path = f"metadata.annotations[{APPROVED_ANNOTATION}]"
        changed = old is None or approval(old.get("metadata", {}).get("annotations"))[0] != state
        if changed and state == "Missing":
            yield required(path, reason)
        if changed and state == "Invalid":
            yield bad(path, annotations[APPROVED_ANNOTATION], reason)
    already = old is not None and (old.get("spec") or {}).get("preserveUnknownFields")
    if spec.get("preserveUnknownFields") and not already:
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        yield bad("spec.preserveUnknownFields", True, detail)


def _trusts_any_bundle(old: Object | None) -> bool:
    """A wrong bundle is tolerated until the definition serves, and where it was wrong already."""
    if old is None or not is_established(old):
        return True
    return not is_bundle(client_config(old.get("spec") or {}).get("caBundle"))


def _shown(spec: Object) -> list[Object]:
    """The versions as kube-apiserver quotes them: without what they share."""
    return [
        {
            "Name": version.get("name", ""),
            "Served": bool(version.get("served")),
            "Storage": bool(version.get("storage")),
            "Deprecated": bool(version.get("deprecated")),
            "DeprecationWarning": version.get("deprecationWarning"),
            **{
                field[0].upper() + field[1:]: version.get(field) if _shared(spec, field) is _ABSENT else None
                for field in _VERSION_FIELDS
            },
        }
        for version in spec.get("versions") or ()
    ]
