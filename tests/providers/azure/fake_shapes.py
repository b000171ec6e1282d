"""What the Resource Manager takes: the fields of each kind of thing, and their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Shape = Any
"""A type, a dict of fields, a list of one shape, or Named."""


@dataclass(frozen=True)
class Named:
    """A dict with any keys."""

    values: Shape


REF = {"id": str}
_TOP = {"id": str, "name": str, "type": str, "etag": str, "location": str, "tags": Named(str), "zones": [str]}
_DISK = {
    "name": str,
    "createOption": str,
    "caching": str,
    "diskSizeGB": int,
    "deleteOption": str,
    "writeAcceleratorEnabled": bool,
    "managedDisk": {"id": str, "storageAccountType": str},
}
_PUBLIC_KEYS = {"publicKeys": [{"path": str, "keyData": str}]}
VM: Json = {
    **_TOP,
    "plan": {"name": str, "publisher": str, "product": str, "promotionCode": str},
    "properties": {
        "hardwareProfile": {"vmSize": str},
        "storageProfile": {
            "imageReference": {
                **dict.fromkeys(("publisher", "offer", "sku", "version", "id"), str),
                **dict.fromkeys(("sharedGalleryImageId", "communityGalleryImageId", "exactVersion"), str),
            },
            "osDisk": {**_DISK, "osType": str},
            "dataDisks": [{**_DISK, "lun": int, "toBeDetached": bool}],
        },
        "osProfile": {
            **dict.fromkeys(("computerName", "adminUsername", "adminPassword", "customData"), str),
            "linuxConfiguration": {
                "disablePasswordAuthentication": bool,
                "provisionVMAgent": bool,
                "ssh": _PUBLIC_KEYS,
            },
            "allowExtensionOperations": bool,
        },
        "networkProfile": {
            "networkInterfaces": [{"id": str, "properties": {"primary": bool, "deleteOption": str}}],
        },
        "diagnosticsProfile": {"bootDiagnostics": {"enabled": bool, "storageUri": str}},
        "userData": str,
        **dict.fromkeys(("provisioningState", "vmId", "timeCreated"), str),
    },
}
_ADDRESS: Json = {
    "id": str,
    "name": str,
    "etag": str,
    "properties": {
        "subnet": REF,
        "publicIPAddress": REF,
        "primary": bool,
        "loadBalancerBackendAddressPools": [REF],
        **dict.fromkeys(("privateIPAddress", "privateIPAllocationMethod", "privateIPAddressVersion"), str),
        "provisioningState": str,
    },
}
NIC: Json = {
    **_TOP,
    "properties": {
        "ipConfigurations": [_ADDRESS],
        "networkSecurityGroup": REF,
        "enableAcceleratedNetworking": bool,
        "enableIPForwarding": bool,
        "provisioningState": str,
    },
}
PUBLIC_ADDRESS: Json = {
    **_TOP,
    "sku": {"name": str, "tier": str},
    "properties": {
        **dict.fromkeys(("publicIPAllocationMethod", "publicIPAddressVersion", "provisioningState"), str),
        "idleTimeoutInMinutes": int,
        "dnsSettings": {"domainNameLabel": str},
    },
}
POOL: Json = {
    "id": str,
    "name": str,
    "etag": str,
    "type": str,
    "properties": {
        "loadBalancerBackendAddresses": [
            {"name": str, "properties": {"virtualNetwork": REF, "subnet": REF, "ipAddress": str}}
        ],
        "virtualNetwork": REF,
        "backendIPConfigurations": [REF],
        "loadBalancingRules": [REF],
        "provisioningState": str,
    },
}
_PROBE: Json = {
    "id": str,
    "name": str,
    "etag": str,
    "type": str,
    "properties": {
        **dict.fromkeys(("port", "intervalInSeconds", "numberOfProbes", "probeThreshold"), int),
        **dict.fromkeys(("protocol", "requestPath", "provisioningState"), str),
        "loadBalancingRules": [REF],
    },
}
_RULE: Json = {
    "id": str,
    "name": str,
    "etag": str,
    "type": str,
    "properties": {
        **dict.fromkeys(("frontendIPConfiguration", "backendAddressPool", "probe"), REF),
        **dict.fromkeys(("frontendPort", "backendPort", "idleTimeoutInMinutes"), int),
        **dict.fromkeys(("enableTcpReset", "enableFloatingIP", "disableOutboundSnat"), bool),
        **dict.fromkeys(("protocol", "loadDistribution", "provisioningState"), str),
    },
}
LOAD_BALANCER: Json = {
    **_TOP,
    "sku": {"name": str, "tier": str},
    "properties": {
        "frontendIPConfigurations": [{**_ADDRESS, "type": str, "zones": [str]}],
        "backendAddressPools": [POOL],
        "probes": [_PROBE],
        "loadBalancingRules": [_RULE],
        "provisioningState": str,
    },
}
SHAPES = {
    "virtualmachines": VM,
    "networkinterfaces": NIC,
    "publicipaddresses": PUBLIC_ADDRESS,
    "loadbalancers": LOAD_BALANCER,
}


def wrong(value: Any, shape: Shape, path: str = "") -> str:
    """What is wrong with a body, by field; empty when nothing is."""
    if isinstance(shape, Named):
        shape = dict.fromkeys(value, shape.values) if isinstance(value, dict) else {}
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"Error converting value to an object. Path '{path}'."
        if unknown := sorted(value.keys() - shape.keys()):
            return f"Could not find member '{unknown[0]}' on object. Path '{path}.{unknown[0]}'."
        return next((found for name in value if (found := wrong(value[name], shape[name], f"{path}.{name}"))), "")
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"Error converting value to an array. Path '{path}'."
        return next((found for n, one in enumerate(value) if (found := wrong(one, shape[0], f"{path}[{n}]"))), "")
    if not isinstance(value, shape) or (shape is int and isinstance(value, bool)):
        return f"Error converting value to type '{shape.__name__}'. Path '{path}'."
    return ""
