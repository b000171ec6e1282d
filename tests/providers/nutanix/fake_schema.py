"""How a request has to look, so that nothing passes which the real API would refuse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

BODY: web.RequestKey[Any] = web.RequestKey("body", object)
"""Where a request keeps what it brought."""
_UUID = re.compile(r"[a-fA-F0-9]{8}(-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}")


@dataclass(frozen=True)
class Text:
    most: int = 10_000
    pattern: str = ".*"


@dataclass(frozen=True)
class Number:
    least: int = 0


@dataclass(frozen=True)
class OneOf:
    """Objects of different types, told apart by their `$objectType`."""

    types: Mapping[str, Any]


UUID = Text(pattern=_UUID.pattern)
BASE64 = Text(most=128_000, pattern=r"[A-Za-z0-9+/]*={0,2}")


def problems(value: Any, shape: Any, path: str = "") -> list[str]:
    """What is wrong. A shape is a type, a tuple of allowed values, a list with the shape of its items, or a dict of
    fields, of which those with `!` are needed; all others may be left out, and no further ones may be there."""
    match shape:
        case dict():
            return _fields(value, shape, path) if isinstance(value, dict) else [f"{path}: not an object"]
        case tuple():
            return [] if value in shape else [f"{path}: {value!r} is none of {list(shape)}"]
        case [items]:
            if not isinstance(value, list):
                return [f"{path}: not an array"]
            return [one for index, item in enumerate(value) for one in problems(item, items, f"{path}[{index}]")]
        case Text():
            return _text(value, shape, path)
        case Number():
            is_number = isinstance(value, int) and not isinstance(value, bool)
            return [] if is_number and value >= shape.least else [f"{path}: not a number from {shape.least}"]
        case OneOf():
            kind = str(value.get("$objectType")) if isinstance(value, dict) else ""
            return problems(value, shape.types[kind], path) if kind in shape.types else [f"{path}: type {kind}?"]
    return [] if isinstance(value, shape) else [f"{path}: not of type {shape.__name__}"]


def _fields(value: Mapping[str, Any], shape: Mapping[str, Any], path: str) -> list[str]:
    known = {name.rstrip("!"): inner for name, inner in shape.items()}
    wrong = [f"{path}.{name}: is missing" for name in shape if name.endswith("!") and name.rstrip("!") not in value]
    for name, inner in value.items():
        if name in ("$objectType", "$reserved", "$unknownFields") and name not in known:
            continue
        wrong += problems(inner, known[name], f"{path}.{name}") if name in known else [f"{path}.{name}: is unknown"]
    return wrong


def _text(value: Any, shape: Text, path: str) -> list[str]:
    if not isinstance(value, str):
        return [f"{path}: not a text"]
    if len(value) > shape.most:
        return [f"{path}: longer than {shape.most}"]
    return [] if re.fullmatch(shape.pattern, value, re.DOTALL) else [f"{path}: does not look as it should"]


def _reference(kind: str) -> dict[str, Any]:
    return {"kind!": (kind,), "uuid!": UUID, "name": Text()}


_METADATA = {
    "kind!": Text(),
    "uuid": UUID,
    "spec_version": Number(),
    "categories": dict,
    "project_reference": dict,
    "owner_reference": dict,
    "use_categories_mapping": bool,
}

V3_VM = {
    "api_version": ("3.1", "3.1.0"),
    "metadata!": _METADATA,
    "spec!": {
        "name!": Text(80, ".+"),
        "description": Text(1000),
        "cluster_reference!": _reference("cluster"),
        "resources!": {
            "num_sockets": Number(1),
            "num_vcpus_per_socket": Number(1),
            "num_threads_per_core": Number(1),
            "memory_size_mib": Number(64),
            "power_state": ("ON", "OFF"),
            "boot_config": {"boot_type": ("LEGACY", "UEFI", "SECURE_BOOT"), "boot_device_order_list": [str]},
            "nic_list": [
                {
                    "nic_type": ("NORMAL_NIC", "DIRECT_NIC"),
                    "uuid": UUID,
                    "subnet_reference": _reference("subnet"),
                    "mac_address": Text(17),
                    "is_connected": bool,
                    "ip_endpoint_list": [{"ip": Text(), "type": ("ASSIGNED", "LEARNED")}],
                }
            ],
            "disk_list": [
                {
                    "uuid": UUID,
                    "device_properties": {
                        "device_type": ("DISK", "CDROM"),
                        "disk_address": {
                            "adapter_type": ("SCSI", "IDE", "PCI", "SATA", "SPAPR"),
                            "device_index": Number(),
                        },
                    },
                    "disk_size_bytes": Number(1),
                    "disk_size_mib": Number(1),
                    "data_source_reference": _reference("image"),
                    "storage_config": {"storage_container_reference": _reference("storage_container")},
                }
            ],
            "guest_customization": {
                "is_overridable": bool,
                "cloud_init": {"user_data": BASE64, "meta_data": BASE64, "custom_key_values": dict},
            },
        },
    },
}
V3_IMAGE = {
    "api_version": ("3.1", "3.1.0"),
    "metadata!": _METADATA,
    "spec!": {
        "name!": Text(256, ".+"),
        "description": Text(1000),
        "resources!": {
            "image_type!": ("DISK_IMAGE", "ISO_IMAGE"),
            "source_uri": Text(pattern=r"(https?|nfs)://.+"),
            "checksum": {
                "checksum_algorithm!": ("SHA_1", "SHA_256"),
                "checksum_value!": Text(pattern="[0-9a-fA-F]+"),
            },
            "architecture": ("X86_64", "PPC64LE"),
        },
    },
}
V3_LIST = {
    "kind": Text(),
    "length": Number(1),
    "offset": Number(),
    "filter": Text(),
    "sort_order": ("ASCENDING", "DESCENDING"),
    "sort_attribute": Text(),
}
V3_IDENTIFIERS = {"client_identifier": Text(), "count!": Number(1), "valid_duration_in_minutes": Number(1)}
V3_GROUPS = {
    "entity_type!": Text(),
    "group_member_attributes": [{"attribute!": Text()}],
    "group_member_count": Number(1),
    "group_member_offset": Number(),
    "filter_criteria": Text(),
}

_CONFIG = "vmm.v4.ahv.config"
V4_VM = {
    "name!": Text(80, ".+"),
    "description": Text(1000),
    "numSockets": Number(1),
    "numCoresPerSocket": Number(1),
    "numThreadsPerCore": Number(1),
    "memorySizeBytes": Number(1),
    "hardwareClockTimezone": Text(64),
    "cluster!": {"extId!": UUID},
    "categories": [{"extId!": UUID}],
    "bootConfig": OneOf(
        {f"{_CONFIG}.LegacyBoot": {"bootOrder": [str]}, f"{_CONFIG}.UefiBoot": {"isSecureBootEnabled": bool}}
    ),
    "nics": [
        {
            "backingInfo": {"model": Text(), "macAddress": Text(17), "isConnected": bool, "numQueues": Number(1)},
            "networkInfo": {
                "nicType": ("NORMAL_NIC", "DIRECT_NIC"),
                "subnet": {"extId!": UUID},
                "vlanMode": ("ACCESS", "TRUNK"),
                "shouldAllowUnknownMacs": bool,
                "ipv4Config": {"shouldAssignIp": bool, "ipAddress": {"value!": Text(15), "prefixLength": Number()}},
            },
        }
    ],
    "disks": [
        {
            "diskAddress!": {"busType!": ("SCSI", "IDE", "PCI", "SATA", "SPAPR"), "index": Number()},
            "backingInfo!": OneOf(
                {
                    f"{_CONFIG}.VmDisk": {
                        "diskSizeBytes": Number(1),
                        "storageContainer": {"extId!": UUID},
                        "dataSource": {
                            "reference!": OneOf({f"{_CONFIG}.ImageReference": {"imageExtId!": UUID}})
                        },
                    }
                }
            ),
        }
    ],
    "guestCustomization": {
        "config!": OneOf(
            {
                f"{_CONFIG}.CloudInit": {
                    "datasourceType": ("CONFIG_DRIVE_V2",),
                    "metadata": Text(32_000, BASE64.pattern),
                    "cloudInitScript": OneOf({f"{_CONFIG}.Userdata": {"value!": BASE64}}),
                }
            }
        )
    },
}  # fmt: skip
V4_IMAGE = {
    "name!": Text(256, ".+"),
    "description": Text(1000),
    "type!": ("DISK_IMAGE", "ISO_IMAGE"),
    "source!": OneOf(
        {"vmm.v4.content.UrlSource": {"url!": Text(pattern=r"https?://.+"), "shouldAllowInsecureUrl": bool}}
    ),
    "checksum": OneOf({"vmm.v4.content.ImageSha256Checksum": {"hexDigest!": Text(pattern="[a-fA-F0-9]{64}")}}),
    "clusterLocationExtIds": [UUID],
    "categoryExtIds": [UUID],
}
