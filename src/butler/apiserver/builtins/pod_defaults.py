"""What Kubernetes fills in wherever a pod is described: in pods and in the templates of workloads."""

from __future__ import annotations

from typing import Any

from ..resources import Object
from . import quantities

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_FILE_MODE = 0o644


def fill_template(obj: Object, template: Object) -> None:
    """Defaults of a pod template; `obj` is the object it is part of."""
    if template.get("metadata") is None:
        template["metadata"] = {}
    spec = template.get("spec")
    if spec is None:
        spec = template["spec"] = {}
    fill_pod_spec(obj, spec)


def fill_pod_spec(obj: Object, spec: Object) -> None:
    if not spec.get("restartPolicy"):
        spec["restartPolicy"] = "Always"
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    if not spec.get("dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirst"
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec.setdefault("containers", None)
    for list_name in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(list_name) or ():
            _fill_container(obj, container)
    for volume in spec.get("volumes") or ():
        _fill_volume(obj, volume)
    quantities.settle(obj, spec, "overhead")
    quantities.settle(obj, spec.get("resources"), "limits", "requests")


def _fill_container(obj: Object, container: Object) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    resources = container.get("resources")
    if resources is None:
        container["resources"] = {}
    elif resources:
        quantities.settle(obj, resources, "limits", "requests")
    for port in container.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
    for variable in container.get("env") or ():
        _fill_variable(obj, variable)
    for name in _PROBES:
        if (probe := container.get(name)) is not None:
            _fill_probe(probe)
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict):
            _fill_http(hook.get("httpGet"))


def pull_policy(image: str) -> str:
    """Always for the tag `latest`, said or meant; IfNotPresent for any other and for images named by digest."""
    name, at, _ = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    latest = tag == "latest" if colon else bool(name) and not at
    return "Always" if latest else "IfNotPresent"


def _fill_variable(obj: Object, variable: Object) -> None:
    if variable.get("value") == "":
        del variable["value"]
    source = variable.get("valueFrom")
    if source:
        _fill_reference(obj, source)


def _fill_reference(obj: Object, source: Object) -> None:
    """`fieldRef` and `resourceFieldRef`, in variables and in downward API files alike."""
    if (field := source.get("fieldRef")) is not None and not field.get("apiVersion"):
        field["apiVersion"] = "v1"
    if (resource := source.get("resourceFieldRef")) is not None:
        resource["divisor"] = resource.get("divisor") or "0"
        quantities.settle_one(obj, resource, "divisor")


def _fill_probe(probe: Object) -> None:
    for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
        if not probe.get(name):
            probe[name] = value
    _fill_http(probe.get("httpGet"))
    if (grpc := probe.get("grpc")) is not None and grpc.get("service") is None:
        grpc["service"] = ""


def _fill_http(action: Object | None) -> None:
    if action is None:
        return
    if not action.get("path"):
        action["path"] = "/"
    if not action.get("scheme"):
        action["scheme"] = "HTTP"


def _fill_volume(obj: Object, volume: Object) -> None:
    sources = [name for name in volume if name != "name" and volume[name] is not None]
    if not sources:
        volume["emptyDir"] = {}
    for name in sources:
        if fill := _VOLUME_SOURCES.get(name):
            fill(obj, volume[name])


def _fill_files(obj: Object, source: Object) -> None:
    if source.get("defaultMode") is None:
        source["defaultMode"] = _FILE_MODE
    for item in source.get("items") or ():
        _fill_reference(obj, item)


def _fill_projected(obj: Object, source: Object) -> None:
    _fill_files(obj, source)
    source.setdefault("sources", None)
    for part in source["sources"] or ():
        for item in (part.get("downwardAPI") or {}).get("items") or ():
            _fill_reference(obj, item)
        token = part.get("serviceAccountToken")
        if token is not None and token.get("expirationSeconds") is None:
            token["expirationSeconds"] = 3600


def _fill_empty_dir(obj: Object, source: Object) -> None:
    quantities.settle_one(obj, source, "sizeLimit")


def _fill_ephemeral(obj: Object, source: Object) -> None:
    template = source.get("volumeClaimTemplate")
    if template is not None:
        template.setdefault("metadata", {})
        fill_claim_spec(obj, template.setdefault("spec", {}))


def fill_claim_spec(obj: Object, spec: Object) -> None:
    """Defaults of a claim's spec, wherever it stands."""
    if not spec.get("volumeMode"):
        spec["volumeMode"] = "Filesystem"
    if spec.get("resources") is None:
        spec["resources"] = {}
    quantities.settle(obj, spec["resources"], "limits", "requests")
    for name in ("dataSource", "dataSourceRef"):
        if spec.get(name) is not None:
            spec[name].setdefault("apiGroup", None)


def fill_host_path(_: Object, source: Object) -> None:
    if source.get("type") is None:
        source["type"] = ""


def fill_iscsi(_: Object, source: Object) -> None:
    if not source.get("iscsiInterface"):
        source["iscsiInterface"] = "default"


def fill_rbd(_: Object, source: Object) -> None:
    for name, value in (("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")):
        if not source.get(name):
            source[name] = value


def fill_azure_disk(_: Object, source: Object) -> None:
    defaults: dict[str, Any] = {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False}
    for name, value in defaults.items():
        if source.get(name) is None:
            source[name] = value


def fill_scale_io(_: Object, source: Object) -> None:
    for name, value in (("storageMode", "ThinProvisioned"), ("fsType", "xfs")):
        if not source.get(name):
            source[name] = value


def _fill_image(_: Object, source: Object) -> None:
    if not source.get("pullPolicy"):
        source["pullPolicy"] = pull_policy(source.get("reference") or "")


_VOLUME_SOURCES = {
    "secret": _fill_files,
    "configMap": _fill_files,
    "downwardAPI": _fill_files,
    "projected": _fill_projected,
    "emptyDir": _fill_empty_dir,
    "ephemeral": _fill_ephemeral,
    "hostPath": fill_host_path,
    "iscsi": fill_iscsi,
    "rbd": fill_rbd,
    "azureDisk": fill_azure_disk,
    "scaleIO": fill_scale_io,
    "image": _fill_image,
}
