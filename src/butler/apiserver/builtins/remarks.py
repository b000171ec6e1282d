"""What a client is told about an object that is valid, but may not be what it means."""

from __future__ import annotations

from collections.abc import Callable

from butler.errors import go_quoted

from ..resources import Object
from . import quantities

_BYTES = ("memory", "ephemeral-storage")
_GONE = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
"""Sources of volumes that do nothing any more."""
_SPELT = {"storageos": "storageOS"}

Remarks = Callable[[Object], list[str]]


def remarks_on_template(*path: str) -> Remarks:
    """Remarks on the template at a place of an object, such as `spec`, `template`."""

    def remarks(obj: Object) -> list[str]:
        holder = obj
        for name in path:
            holder = holder.get(name) or {}
        return remarks_on_spec(holder.get("spec") or {}, ".".join((*path, "spec")))

    return remarks


def remarks_on_spec(spec: Object, path: str) -> list[str]:
    """What is odd in the spec of a pod."""
    found = [
        f"{path}.volumes[{index}].{_SPELT.get(name, name)}: {since}"
        for index, volume in enumerate(spec.get("volumes") or ())
        for name, since in _GONE.items()
        if volume.get(name) is not None
    ]
    found += [
        f"{path}.overhead[{name}]: fractional byte value {go_quoted(amount)} is invalid, must be an integer"
        for name, amount in (spec.get("overhead") or {}).items()
        if name in _BYTES and not quantities.is_whole(amount)
    ]
    found += _remarks_on_containers(spec, path)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        treated = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{path}.terminationGracePeriodSeconds: {treated}")
    return found


def _remarks_on_containers(spec: Object, path: str) -> list[str]:
    """Variables and ports that stand twice, of which apply keeps one, and parts of bytes."""
    found: list[str] = []
    for list_name in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(list_name) or ()):
            place = f"{path}.{list_name}[{index}]"
            names = [one.get("name") for one in container.get("env") or ()]
            found += [
                f"{place}.env[{number}]: hides previous definition of {go_quoted(str(name))}, "
                "which may be dropped when using apply"
                for number, name in enumerate(names)
                if name in names[:number]
            ]
            resources = container.get("resources") or {}
            found += [
                f"{place}.resources.{part}[{name}]: fractional byte value {go_quoted(amount)} is invalid, "
                "must be an integer"
                for name in _BYTES
                for part in ("limits", "requests")
                if (amount := (resources.get(part) or {}).get(name)) is not None and not quantities.is_whole(amount)
            ]
    return found + _repeated_ports(spec, path)


def _repeated_ports(spec: Object, path: str) -> list[str]:
    """All containers of a pod share its ports."""
    found: list[str] = []
    seen: dict[tuple[int, str], str] = {}
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            key, place = (port.get("containerPort", 0), port["protocol"]), f"{path}.containers[{index}].ports[{number}]"
            first = seen.setdefault(key, place)
            if first != place:
                found.append(f"{place}: duplicate port definition with {first}")
    return found


def remarks_on_pod(obj: Object) -> list[str]:
    return remarks_on_spec(obj["spec"], "spec")


def remarks_on_claim(obj: Object) -> list[str]:
    return _remarks_on_size(obj["spec"], "spec")


def _remarks_on_size(spec: Object, path: str) -> list[str]:
    """Sizes that end within a byte."""
    resources = spec.get("resources") or {}
    sizes = {name: (resources.get(name) or {}).get("storage") for name in ("requests", "limits")}
    return [
        f"{path}.resources.{name}[storage]: fractional byte value {go_quoted(size)} is invalid, must be an integer"
        for name, size in sizes.items()
        if size is not None and not quantities.is_whole(size)
    ]


def remarks_on_volume(obj: Object) -> list[str]:
    spec, found = obj["spec"], []
    if spec["persistentVolumeReclaimPolicy"] == "Recycle":
        advice = "Instead, the recommended approach is to use dynamic provisioning."
        found.append(f"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. {advice}")
    given = (name for name in _GONE if name not in ("flocker", "gitRepo", "quobyte") and spec.get(name) is not None)
    return found + [f"spec.{_SPELT.get(name, name)}: {_GONE[name]}" for name in given]


def remarks_on_stateful_set(obj: Object) -> list[str]:
    spec, found = obj["spec"], remarks_on_template("spec", "template")(obj)
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        found += _remarks_on_size(claim["spec"], f"spec.volumeClaimTemplates[{index}]")
    if spec.get("revisionHistoryLimit", 0) < 0:
        kept = "a negative value retains all historical revisions; a value >= 0 is recommended"
        found.append(f"spec.revisionHistoryLimit: {kept}")
    return found


def remarks_on_service(obj: Object) -> list[str]:
    spec, found = obj["spec"], []
    is_named, has_ips = spec["type"] == "ExternalName", bool(spec.get("externalIPs"))
    if spec["type"] == "ClusterIP" and spec.get("clusterIP") == "None":
        ignored = {
            "loadBalancerIP": bool(spec.get("loadBalancerIP")),
            "externalIPs": has_ips,
            "SessionAffinity": spec.get("sessionAffinity") != "None",
        }
        found += [f"spec.{name} is ignored for headless services" for name, is_set in ignored.items() if is_set]
    elif has_ips and not is_named:
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if is_named and has_ips:
        found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if not is_named and spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def remarks_on_csi_driver(obj: Object) -> list[str]:
    spec = obj["spec"]
    if not spec.get("tokenRequests") or "serviceAccountTokenInSecrets" in spec:
        return []
    advice = "if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"
    return [f"spec.serviceAccountTokenInSecrets is unset; {advice}"]
