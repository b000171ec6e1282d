"""The structs that Go embeds in others: JSON does not show them, but messages of Go's decoder name them in a path."""

from __future__ import annotations

from collections.abc import Mapping

_REFERENCE = {"name": "LocalObjectReference"}
_RULE = dict.fromkeys(("apiGroups", "apiVersions", "resources", "scope"), "Rule")
_CONFIGURATION = {"opaque": "DeviceConfiguration"}
_EMBEDDED: Mapping[str, Mapping[str, str]] = {
    "ConfigMapEnvSource": _REFERENCE,
    "ConfigMapKeySelector": _REFERENCE,
    "ConfigMapProjection": _REFERENCE,
    "ConfigMapVolumeSource": _REFERENCE,
    "DeviceAllocationConfiguration": _CONFIGURATION,
    "DeviceClaimConfiguration": _CONFIGURATION,
    "DeviceClassConfiguration": _CONFIGURATION,
    "IngressRule": {"http": "IngressRuleValue"},
    "NamedRuleWithOperations": {
        "operations": "RuleWithOperations",
        **{name: f"RuleWithOperations.{struct}" for name, struct in _RULE.items()},
    },
    "Probe": dict.fromkeys(("exec", "grpc", "httpGet", "tcpSocket"), "ProbeHandler"),
    "RuleWithOperations": _RULE,
    "SecretEnvSource": _REFERENCE,
    "SecretKeySelector": _REFERENCE,
    "SecretProjection": _REFERENCE,
}
_ALL_BUT: Mapping[str, tuple[str, frozenset[str]]] = {
    "EphemeralContainer": ("EphemeralContainerCommon", frozenset({"targetContainerName"})),
    "PersistentVolumeSpec": (
        "PersistentVolumeSource",
        frozenset(
            {
                "accessModes",
                "capacity",
                "claimRef",
                "mountOptions",
                "nodeAffinity",
                "persistentVolumeReclaimPolicy",
                "storageClassName",
                "volumeAttributesClassName",
                "volumeMode",
            }
        ),
    ),
    "Volume": ("VolumeSource", frozenset({"name"})),
}
"""Where most fields come from an embedded struct: its name, and the fields that do not."""


def go_path(owner: str, field: str) -> str:
    """A field of a struct as Go's decoder names it, with the struct it is embedded by, if any."""
    struct = _EMBEDDED.get(owner, {}).get(field, "")
    if owner in _ALL_BUT and field not in _ALL_BUT[owner][1]:
        struct = _ALL_BUT[owner][0]
    return f"{struct}.{field}" if struct else field
