"""What Kubernetes fills in wherever a pod is described: in pods and in the templates of workloads."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from kubekit.model.resource import Object

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_FILE_MODE = 0o644
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*(?::[0-9]+)?")
_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DIGEST = "@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z0-9]+)*:[0-9a-fA-F]{32,}"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?(?:{_DIGEST})?", re.ASCII)


def fill_pod_spec(spec: Object) -> None:
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for list_name in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(list_name) or ():
            _fill_container(container)
    for volume in spec.get("volumes", ()):
        _fill_volume(volume)


def _fill_container(container: Object) -> None:
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for port in container.get("ports", ()):
        port.setdefault("protocol", "TCP")
    for variable in container.get("env", ()):
        _fill_reference(variable.get("valueFrom"))
    for name in _PROBES:
        if (probe := container.get(name)) is not None:
            _fill_probe(probe)
    for hook in container.get("lifecycle", {}).values():
        if isinstance(hook, dict):
            _fill_http(hook.get("httpGet"))


def _is_reference(image: str) -> bool:
    """Whether a text names an image: a registry, if the first part looks like one, and parts in small letters."""
    first, slash, rest = image.partition("/")
    has_host = bool(slash) and (any(sign in first for sign in ".:") or first == "localhost" or first != first.lower())
    name = rest if has_host else image
    return _NAME.fullmatch(name) is not None and (not has_host or _HOST.fullmatch(first) is not None)


def pull_policy(image: str) -> str:
    """Always for the tag `latest`, said or meant; IfNotPresent for any other and for images named by digest."""
    if not _is_reference(image):
        return "IfNotPresent"
    name, at, _ = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    latest = tag == "latest" if colon else bool(name) and not at
    return "Always" if latest else "IfNotPresent"


def _fill_reference(source: Object | None) -> None:
    """`fieldRef`, in variables and in downward API files alike."""
    if source and "fieldRef" in source:
        source["fieldRef"].setdefault("apiVersion", "v1")


def _fill_probe(probe: Object) -> None:
    for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
        probe.setdefault(name, value)
    _fill_http(probe.get("httpGet"))
    if "grpc" in probe:
        probe["grpc"]["service"] = probe["grpc"].get("service") or ""


def _fill_http(action: Object | None) -> None:
    if action is not None:
        action.setdefault("path", "/")
        action.setdefault("scheme", "HTTP")


def _fill_volume(volume: Object) -> None:
    sources = [name for name in volume if name != "name"]
    if not sources:
        volume["emptyDir"] = {}
    for name in sources:
        if fill := _VOLUME_SOURCES.get(name):
            fill(volume[name])


def _fill_files(source: Object) -> None:
    source.setdefault("defaultMode", _FILE_MODE)
    for item in source.get("items", ()):
        _fill_reference(item)


def _fill_projected(source: Object) -> None:
    source.setdefault("defaultMode", _FILE_MODE)
    for part in source["sources"] or ():
        for item in part.get("downwardAPI", {}).get("items", ()):
            _fill_reference(item)
        if "serviceAccountToken" in part:
            part["serviceAccountToken"].setdefault("expirationSeconds", 3600)


def _fill_ephemeral(source: Object) -> None:
    if "volumeClaimTemplate" in source:
        fill_claim_spec(source["volumeClaimTemplate"]["spec"])


def fill_claim_spec(spec: Object) -> None:
    """Defaults of a claim's spec, wherever it stands."""
    spec.setdefault("volumeMode", "Filesystem")


def fill_volume_source(name: str, source: Object) -> None:
    """Defaults of the sources that pods and PersistentVolumes share."""
    for member, value in _SHARED_SOURCES.get(name, {}).items():
        source.setdefault(member, value)


def _fill_image(source: Object) -> None:
    if "pullPolicy" not in source:
        source["pullPolicy"] = pull_policy(source.get("reference", ""))


_SHARED_SOURCES: dict[str, dict[str, Any]] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


_VOLUME_SOURCES: dict[str, Callable[[Object], None]] = {
    "secret": _fill_files,
    "configMap": _fill_files,
    "downwardAPI": _fill_files,
    "projected": _fill_projected,
    "ephemeral": _fill_ephemeral,
    "image": _fill_image,
    **{name: partial(fill_volume_source, name) for name in _SHARED_SOURCES},
}
