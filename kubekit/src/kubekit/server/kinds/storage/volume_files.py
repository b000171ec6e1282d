"""The files of a volume: which there are, where they come from, and who may read them."""

from __future__ import annotations

from kubekit.model.resource import Object
from kubekit.server.objects.problems import Problems, bad, forbidden, required

from ..pods.own_fields import FIELDS_OF_FILES, check_field, check_resource

_FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_TWICE = "conflicting duplicate paths"


def check_mode(found: Problems, holder: Object, name: str, path: str) -> None:
    mode = holder.get(name)
    if mode is not None and not 0 <= mode <= 0o777:
        found.append(bad(f"{path}.{name}", mode, _FILE_MODE))


def check_no_backsteps(found: Problems, value: str, path: str) -> None:
    if ".." in value.split("/"):
        found.append(bad(path, value, "must not contain '..'"))


def check_relative(found: Problems, value: str, path: str) -> None:
    if value.startswith("/"):
        found.append(bad(path, value, "must be a relative path"))
    check_no_backsteps(found, value, path)


def _check_file_path(found: Problems, value: str, path: str) -> None:
    check_relative(found, value, path)
    if value.startswith("..") and not value.startswith("../"):
        found.append(bad(path, value, "must not start with '..'"))


def check_files(found: Problems, source: Object, path: str) -> None:
    """Files that are made from the keys of a ConfigMap or Secret."""
    check_mode(found, source, "defaultMode", path)
    for index, item in enumerate(source.get("items") or ()):
        _check_key_to_path(found, item, f"{path}.items[{index}]")


def _check_key_to_path(found: Problems, item: Object, path: str) -> None:
    target = item.get("path") or ""
    if not item.get("key"):
        found.append(required(f"{path}.key"))
    if not target:
        found.append(required(f"{path}.path"))
    _check_file_path(found, target, f"{path}.path")
    check_mode(found, item, "mode", path)


def check_downward(found: Problems, source: Object, path: str) -> None:
    """Files that tell a pod about itself. Kubernetes does not say which of them is wrong."""
    check_mode(found, source, "defaultMode", path)
    for item in source.get("items") or ():
        _check_downward_file(found, item, path)


def _check_downward_file(found: Problems, item: Object, path: str) -> None:
    target, field, resource = item.get("path") or "", item.get("fieldRef"), item.get("resourceFieldRef")
    if not target:
        found.append(required(f"{path}.path"))
    _check_file_path(found, target, f"{path}.path")
    if field is not None:
        check_field(found, field, f"{path}.fieldRef", FIELDS_OF_FILES)
        if resource is not None:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            found.append(bad(path, "resource", detail))
    elif resource is not None:
        check_resource(found, resource, f"{path}.resourceFieldRef", of_container=True)
    else:
        found.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    check_mode(found, item, "mode", path)


def check_projected(found: Problems, source: Object, path: str) -> None:
    """Files from several sources, no two of which may have the same path."""
    check_mode(found, source, "defaultMode", path)
    taken: set[str] = set()
    for index, part in enumerate(source.get("sources") or ()):
        place = f"{path}.sources[{index}]"
        for name in ("secret", "configMap"):
            if part.get(name) is not None:
                _check_keys(found, part[name], f"{place}.{name}", path, taken)
        for item in (part.get("downwardAPI") or {}).get("items") or ():
            _check_downward_file(found, item, f"{place}.downwardAPI")
            _take(found, item, item.get("path"), path, taken)
        if part.get("serviceAccountToken") is not None:
            _check_token(found, part["serviceAccountToken"], f"{place}.serviceAccountToken", path)
        if sum(one is not None for one in part.values()) > 1:
            found.append(forbidden(place, "may not specify more than 1 volume type per source"))


def _check_keys(found: Problems, source: Object, path: str, volume: str, taken: set[str]) -> None:
    if not source.get("name"):
        found.append(required(f"{path}.name"))
    for index, item in enumerate(source.get("items") or ()):
        _check_key_to_path(found, item, f"{path}.items[{index}]")
        _take(found, item, source.get("name") or "", volume, taken)


def _take(found: Problems, item: Object, shown: object, path: str, taken: set[str]) -> None:
    target = item.get("path")
    if target and target in taken:
        found.append(bad(path, shown, _TWICE))
    elif target:
        taken.add(target)


def _check_token(found: Problems, source: Object, path: str, volume: str) -> None:
    seconds = source.get("expirationSeconds")
    if seconds is not None and seconds < 600:
        found.append(bad(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"))
    if seconds is not None and seconds > 1 << 32:
        found.append(bad(f"{path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds"))
    # Kubernetes names the volume here, and not the token.
    if source.get("path"):
        _check_file_path(found, source["path"], f"{volume}.path")
    else:
        found.append(required(f"{volume}.path"))
