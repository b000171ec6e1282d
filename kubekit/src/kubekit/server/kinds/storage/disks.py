"""Disks that pods and PersistentVolumes reach by themselves, without a storage driver: their required parts."""

from __future__ import annotations

import re
from collections.abc import Callable

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.go import regex
from kubekit.server.objects.problems import Problems, bad, refuse_each, required

Check = Callable[[Problems, Object, str], None]

_REQUIRED: dict[str, tuple[str, ...]] = {
    "awsElasticBlockStore": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "azureFile": ("secretName", "shareName"),
    "cephfs": ("monitors",),
    "cinder": ("volumeID",),
    "flexVolume": ("driver",),
    "gcePersistentDisk": ("pdName",),
    "gitRepo": ("repository",),
    "glusterfs": ("endpoints", "path"),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "rbd": ("monitors", "image"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "storageos": ("volumeName",),
    "vsphereVolume": ("volumePath",),
}
_CACHING = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
_TENANT = "must be a UUID and may not exceed a length of 64 characters"
_RESERVED = (".kubernetes.io", ".k8s.io")
_INITIATORS: dict[str, Callable[[str], object]] = {
    "iqn": regex.matcher(r"iqn\.[0-9]{4}-[0-9]{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$"),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}").fullmatch,
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}").fullmatch,
}
_HIGHEST_UNIT = 255


def check_disk(found: Problems, kind: str, source: Object, path: str, *, persistent: bool) -> None:
    """One source of a volume; `persistent` when it belongs to a PersistentVolume and may name other namespaces."""
    # Kubernetes calls this one by another name here.
    place = f"{path}.{'persistentDisk' if kind == 'gcePersistentDisk' else kind}"
    found.extend(required(f"{place}.{name}") for name in _REQUIRED.get(kind, ()) if not source.get(name))
    if kind == "iscsi":
        _check_iscsi(found, source, place, persistent=persistent)
    elif check := _CHECKS.get(kind):
        check(found, source, place)
    if persistent and (check := _PERSISTENT_CHECKS.get(kind)):
        check(found, source, place)
    if kind in {"cinder", "storageos"}:
        _check_secret(found, source, place, persistent=persistent)


def _check_secret(found: Problems, source: Object, path: str, *, persistent: bool) -> None:
    reference = source.get("secretRef")
    if reference is None:
        return
    parts = ("name", "namespace") if persistent else ("name",)
    found.extend(required(f"{path}.secretRef.{part}") for part in parts if not reference.get(part))


def _check_iscsi(found: Problems, source: Object, path: str, *, persistent: bool) -> None:
    if not source.get("targetPortal"):
        found.append(required(f"{path}.targetPortal"))
    if not source.get("iqn"):
        found.append(required(f"{path}.iqn"))
    else:
        _check_initiator(found, source["iqn"], f"{path}.iqn", persistent=persistent)
    _check_unit(found, source.get("lun") or 0, f"{path}.lun", 0)
    reference = source.get("secretRef")
    if reference is None and (source.get("chapAuthDiscovery") or source.get("chapAuthSession")):
        found.append(required(f"{path}.secretRef"))
    if persistent and reference is not None and not reference.get("name"):
        found.append(required(f"{path}.secretRef.name"))
    if source.get("initiatorName") is not None:
        _check_initiator(found, source["initiatorName"], f"{path}.initiatorname", persistent=persistent)


def _check_initiator(found: Problems, name: str, path: str, *, persistent: bool) -> None:
    is_valid = _INITIATORS.get(name[:3])
    if is_valid is None:
        beginnings = "" if persistent else " starting with iqn, eui, or naa"
        found.append(bad(path, name, f"must be valid format{beginnings}"))
    elif not is_valid(name):
        found.append(bad(path, name, "must be valid format"))


def _check_unit(found: Problems, number: int, path: str, shown_lowest: int) -> None:
    if not 0 <= number <= _HIGHEST_UNIT:
        found.append(bad(path, number, name_rules.between(shown_lowest, _HIGHEST_UNIT)))


def _check_partition(found: Problems, source: Object, path: str) -> None:
    _check_unit(found, source.get("partition") or 0, f"{path}.partition", 1)


def _check_fibre_channel(found: Problems, source: Object, path: str) -> None:
    targets, ids, unit = source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    if not targets and not ids:
        found.append(required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"))
    if targets and ids:
        detail = "targetWWNs and wwids can not be specified simultaneously"
        found.append(bad(f"{path}.targetWWNs", targets, detail))
    if targets and unit is None:
        found.append(required(f"{path}.lun", "lun is required if targetWWNs is specified"))
    elif targets and unit is not None:
        _check_unit(found, unit, f"{path}.lun", 0)


def _check_quobyte(found: Problems, source: Object, path: str) -> None:
    registry = source.get("registry") or ""
    if not registry:
        found.append(required(f"{path}.registry", _REGISTRY))
    elif len(source.get("tenant") or "") > 64:
        found.append(required(f"{path}.tenant", _TENANT))
    else:
        wrong = (pair for pair in registry.split(",") if not re.fullmatch(r"([^:\[\]]*|\[[^\[\]]*\]):[^:]*", pair))
        found.extend(bad(f"{path}.registry", registry, _REGISTRY) for _ in wrong)
    if not source.get("volume"):
        found.append(required(f"{path}.volume"))


def _check_flocker(found: Problems, source: Object, path: str) -> None:
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID") or ""
    if not name and not uuid:
        found.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        found.append(bad(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
    if "/" in name:
        found.append(bad(f"{path}.datasetName", name, "must not contain '/'"))


def _check_flex(found: Problems, source: Object, path: str) -> None:
    for key in source.get("options") or ():
        owner = key.partition("/")[0].lower()
        if f".{owner}".endswith(_RESERVED):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            found.append(bad(f"{path}.options[{key}]", key, detail))


def _check_azure_disk(found: Problems, source: Object, path: str) -> None:
    caching, kind, uri = source.get("cachingMode"), source.get("kind"), source.get("diskURI") or ""
    if caching is not None and caching not in _CACHING:
        found.append(not_supported(f"{path}.cachingMode", caching, _CACHING))
    if kind is not None and kind not in _DISK_KINDS:
        found.append(not_supported(f"{path}.kind", kind, _DISK_KINDS))
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        found.append(not_supported(f"{path}.diskURI", uri, (_MANAGED_DISK,)))
    if kind is not None and kind != "Managed" and not uri.startswith("https://"):
        found.append(not_supported(f"{path}.diskURI", uri, (_BLOB_DISK,)))


def _check_storage_os(found: Problems, source: Object, path: str) -> None:
    for part in ("volumeName", "volumeNamespace"):
        if source.get(part):
            refuse_each(found, f"{path}.{part}", source[part], name_rules.label(source[part]))


def _check_endpoints_namespace(found: Problems, source: Object, path: str) -> None:
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        detail = "if the endpointnamespace is set, it must be a valid namespace name"
        found.append(bad(f"{path}.endpointsNamespace", "", detail))
    elif namespace is not None:
        refuse_each(found, f"{path}.endpointsNamespace", namespace, name_rules.label(namespace))


def _check_secret_namespace(found: Problems, source: Object, path: str) -> None:
    if source.get("secretNamespace") == "":
        found.append(required(f"{path}.secretNamespace"))


_CHECKS: dict[str, Check] = {
    "awsElasticBlockStore": _check_partition,
    "azureDisk": _check_azure_disk,
    "fc": _check_fibre_channel,
    "flexVolume": _check_flex,
    "flocker": _check_flocker,
    "gcePersistentDisk": _check_partition,
    "quobyte": _check_quobyte,
    "storageos": _check_storage_os,
}
_PERSISTENT_CHECKS: dict[str, Check] = {
    "azureFile": _check_secret_namespace,
    "glusterfs": _check_endpoints_namespace,
}
