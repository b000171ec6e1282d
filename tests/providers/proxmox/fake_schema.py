"""The parameters that Proxmox VE takes, method by method, and how it says that it does not take one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

UNKNOWN = "property is not defined in schema and the schema does not allow additional properties"
MISSING = "property is missing and it is not optional"

Check = Callable[[str], str]
"""What is wrong with a value; empty when nothing is."""


@dataclass(frozen=True, slots=True)
class Parameter:
    check: Check
    is_needed: bool = False


def text(pattern: str = "", longest: int = 0) -> Check:
    def check(value: str) -> str:
        if longest and len(value) > longest:
            return f"value may only be {longest} characters long"
        return "" if not pattern or re.fullmatch(pattern, value) else "value does not match the regex pattern"

    return check


def shaped(pattern: str, name: str) -> Check:
    """A format that has a name of its own."""

    def check(value: str) -> str:
        return "" if re.fullmatch(pattern, value) else f"invalid format - value does not look like a valid {name}"

    return check


def integer(least: int | None = None, most: int | None = None) -> Check:
    def check(value: str) -> str:
        if not re.fullmatch(r"-?\d+", value):
            return f"type check ('integer') failed - got '{value}'"
        if least is not None and int(value) < least:
            return f"value must have a minimum value of {least}"
        if most is not None and int(value) > most:
            return f"value must have a maximum value of {most}"
        return ""

    return check


def boolean(value: str) -> str:
    return "" if value in ("0", "1") else f"type check ('boolean') failed - got '{value}'"


def one_of(*values: str) -> Check:
    def check(value: str) -> str:
        known = ", ".join(values)
        return "" if value in values else f"value '{value}' does not have a value in the enumeration '{known}'"

    return check


def properties(*names: str, default: str = ".+") -> Check:
    """A text of `name=value` parts; the first may be without a name."""

    def check(value: str) -> str:
        for at, part in enumerate(value.split(",")):
            name, equals, _ = part.partition("=")
            is_default = not equals and at == 0 and re.fullmatch(default, part)
            if not is_default and not (equals and any(re.fullmatch(one, name) for one in names)):
                return f"invalid format - format error\n{name}: {UNKNOWN}"
        return ""

    return check


VMID = integer(100, 999999999)
NODE = shaped(r"[A-Za-z0-9]([A-Za-z0-9\-]*[A-Za-z0-9])?", "node name")
STORAGE = shaped(r"[A-Za-z][A-Za-z0-9\-_.]*[A-Za-z0-9]", "storage ID")
DNS = shaped(r"([A-Za-z0-9]([A-Za-z0-9\-]*[A-Za-z0-9])?)(\.[A-Za-z0-9]([A-Za-z0-9\-]*[A-Za-z0-9])?)*", "DNS name")
TAGS = shaped(r"([a-zA-Z0-9_][a-zA-Z0-9_\-+.]*)([;, ][a-zA-Z0-9_][a-zA-Z0-9_\-+.]*)*", "tag list")
POOL = shaped(r"[A-Za-z0-9.\-_/]+", "pool name")
CONTENT = one_of("iso", "vztmpl", "import")
ALGORITHM = one_of("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
_DRIVE = properties(
    "media", "size", "import-from", "format", "cache", "discard", "iothread", "ssd", "aio", "backup", "serial",
    default=r"none|[A-Za-z][\w.\-]*:.+",
)  # fmt: skip
_CARD = properties(
    "model", "macaddr", "bridge", "tag", "firewall", "mtu", "rate", "queues", "trunks", "link_down",
    "virtio", "e1000", "e1000e", "rtl8139", "vmxnet3", default="virtio|e1000|e1000e|rtl8139|vmxnet3",
)  # fmt: skip
_MEMORY = properties("current", default=r"\d+")

OPTIONS: dict[str, Check] = {
    "name": DNS, "cores": integer(1), "sockets": integer(1), "vcpus": integer(1), "memory": _MEMORY,
    "balloon": integer(0), "tags": TAGS, "description": text(longest=8192), "onboot": boolean, "agent": properties(
        "enabled", "freeze-fs-on-backup", "fstrim_cloned_disks", "type", default="0|1"
    ),
    "smbios1": properties("uuid", "version", "serial", "manufacturer", "product", "sku", "family", "base64"),
    "ostype": one_of("other", "l24", "l26", "win10", "win11", "solaris"), "boot": properties("order", "legacy"),
    "scsihw": one_of("lsi", "lsi53c810", "virtio-scsi-pci", "virtio-scsi-single", "megasas", "pvscsi"),
    "cpu": properties("cputype", "flags", "hidden", "phys-bits"), "bios": one_of("seabios", "ovmf"),
    "machine": text(), "protection": boolean, "template": boolean, "hotplug": text(), "numa": boolean,
    "vmgenid": text(), "ciuser": text(), "cipassword": text(), "sshkeys": text(), "cicustom": text(),
}  # fmt: skip
NUMBERED: dict[str, Check] = {
    r"scsi([0-9]|[12][0-9]|30)": _DRIVE, r"ide[0-3]": _DRIVE, r"sata[0-5]": _DRIVE, r"virtio([0-9]|1[0-5])": _DRIVE,
    r"net([0-9]|[12][0-9]|3[01])": _CARD, r"serial[0-3]": text(r"/dev/.+|socket"), r"ipconfig\d+": text(),
    r"efidisk0": _DRIVE,
}  # fmt: skip

_CONFIG: dict[str, Parameter] = {name: Parameter(check) for name, check in OPTIONS.items()}


def needed(check: Check) -> Parameter:
    return Parameter(check, is_needed=True)


def may(check: Check) -> Parameter:
    return Parameter(check)


_UPDATE = {
    **_CONFIG, "digest": may(text(longest=40)), "delete": may(text()), "revert": may(text()), "force": may(boolean),
    "skiplock": may(boolean),
}  # fmt: skip

PARAMETERS: Mapping[tuple[str, str], Mapping[str, Parameter]] = {
    ("GET", "/version"): {},
    ("POST", "/access/ticket"): {
        "username": needed(text(longest=64)), "password": needed(text()), "realm": may(text()), "otp": may(text()),
        "tfa-challenge": may(text()), "new-format": may(boolean), "path": may(text()), "privs": may(text()),
    },
    ("GET", "/access/permissions"): {"path": may(text()), "userid": may(text())},
    ("GET", "/cluster/resources"): {"type": may(one_of("vm", "storage", "node", "sdn"))},
    ("GET", "/cluster/nextid"): {"vmid": may(VMID)},
    ("GET", "/nodes"): {},
    ("GET", "/nodes/{node}/network"): {
        "type": may(one_of("bridge", "bond", "eth", "alias", "vlan", "any_bridge", "any_local_bridge")),
    },
    ("GET", "/nodes/{node}/tasks"): {
        "source": may(one_of("archive", "active", "all")), "typefilter": may(text()), "vmid": may(VMID),
        "userfilter": may(text()), "limit": may(integer(0)), "start": may(integer(0)), "errors": may(boolean),
        "since": may(integer()), "until": may(integer()), "statusfilter": may(text()),
    },
    ("GET", "/nodes/{node}/tasks/{upid}/status"): {},
    ("GET", "/nodes/{node}/tasks/{upid}/log"): {"start": may(integer(0)), "limit": may(integer(0))},
    ("DELETE", "/nodes/{node}/tasks/{upid}"): {},
    ("GET", "/nodes/{node}/qemu"): {"full": may(boolean)},
    ("POST", "/nodes/{node}/qemu"): {
        **_CONFIG, "vmid": needed(VMID), "storage": may(STORAGE), "pool": may(POOL), "start": may(boolean),
        "force": may(boolean), "unique": may(boolean), "archive": may(text()),
    },
    ("POST", "/nodes/{node}/qemu/{vmid}/clone"): {
        "newid": needed(VMID), "name": may(DNS), "description": may(text()), "pool": may(POOL),
        "snapname": may(text()), "storage": may(STORAGE), "format": may(one_of("raw", "qcow2", "vmdk")),
        "full": may(boolean), "target": may(NODE), "bwlimit": may(integer(0)),
    },
    ("GET", "/nodes/{node}/qemu/{vmid}/config"): {"current": may(boolean), "snapshot": may(text())},
    ("POST", "/nodes/{node}/qemu/{vmid}/config"): {**_UPDATE, "background_delay": may(integer(1, 30))},
    ("PUT", "/nodes/{node}/qemu/{vmid}/config"): _UPDATE,
    ("PUT", "/nodes/{node}/qemu/{vmid}/resize"): {
        "disk": needed(text(r"(ide|sata|scsi|virtio)\d+|efidisk0|tpmstate0")),
        "size": needed(text(r"\+?\d+(\.\d+)?[KMGT]?")), "digest": may(text(longest=40)), "skiplock": may(boolean),
    },
    ("GET", "/nodes/{node}/qemu/{vmid}/status/current"): {},
    ("POST", "/nodes/{node}/qemu/{vmid}/status/start"): {"timeout": may(integer(0)), "skiplock": may(boolean)},
    ("POST", "/nodes/{node}/qemu/{vmid}/status/stop"): {
        "timeout": may(integer(0)), "skiplock": may(boolean), "keepActive": may(boolean),
        "overrule-shutdown": may(boolean),
    },
    ("POST", "/nodes/{node}/qemu/{vmid}/status/shutdown"): {
        "timeout": may(integer(0)), "forceStop": may(boolean), "skiplock": may(boolean), "keepActive": may(boolean),
    },
    ("GET", "/nodes/{node}/qemu/{vmid}/agent/network-get-interfaces"): {},
    ("DELETE", "/nodes/{node}/qemu/{vmid}"): {
        "purge": may(boolean), "destroy-unreferenced-disks": may(boolean), "skiplock": may(boolean),
    },
    ("GET", "/nodes/{node}/storage"): {
        "content": may(text()), "enabled": may(boolean), "format": may(boolean), "storage": may(STORAGE),
        "target": may(NODE),
    },
    ("GET", "/nodes/{node}/storage/{storage}/content"): {"content": may(text()), "vmid": may(VMID)},
    ("DELETE", "/nodes/{node}/storage/{storage}/content/{volume}"): {"delay": may(integer(1, 30))},
    ("POST", "/nodes/{node}/storage/{storage}/upload"): {
        "content": needed(CONTENT), "filename": needed(text(longest=255)), "checksum": may(text()),
        "checksum-algorithm": may(ALGORITHM), "tmpfilename": may(text(r"/var/tmp/pveupload-[0-9a-f]+")),
    },
    ("POST", "/nodes/{node}/storage/{storage}/download-url"): {
        "url": needed(text(r"https?://.*")), "content": needed(CONTENT), "filename": needed(text(longest=255)),
        "checksum": may(text()), "checksum-algorithm": may(ALGORITHM), "compression": may(text()),
        "verify-certificates": may(boolean),
    },
}  # fmt: skip
"""Every method the fake has. Those with a number in the name (`scsi0`) are in NUMBERED."""

_WITH_NUMBERED = {id(_UPDATE)} | {id(PARAMETERS[key]) for key in (
    ("POST", "/nodes/{node}/qemu"), ("POST", "/nodes/{node}/qemu/{vmid}/config"),
)}  # fmt: skip


def wrong(method: str, route: str, given: Mapping[str, str]) -> dict[str, str]:
    """What is wrong, parameter by parameter."""
    schema = PARAMETERS[method, route]
    found = {name: MISSING for name, one in schema.items() if one.is_needed and name not in given}
    for name, value in given.items():
        check = schema[name].check if name in schema else _numbered(schema, name)
        if problem := UNKNOWN if check is None else check(value):
            found[name] = problem
    return found


def _numbered(schema: Mapping[str, Parameter], name: str) -> Check | None:
    if id(schema) not in _WITH_NUMBERED:
        return None
    return next((check for pattern, check in NUMBERED.items() if re.fullmatch(pattern, name)), None)
