"""What is written on a VM and what is read from it, the same in all versions of the API."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from ipaddress import ip_address

import msgspec

from butler.errors import MachineRejected

from ..contract import MachineOrder
from .section import NAME

SCHEME = "nutanix://"
USER_DATA_LIMIT = 128_000
"""Most letters of userData in base64."""
METADATA_LIMIT = 32_000
"""Most letters of metadata in base64."""
NAME_LIMIT = 80
DESCRIPTION_LIMIT = 1000
GIB = 2**30

_MARK = "butler-token"
_TOKEN = re.compile(rf"\b{_MARK}=([0-9A-Za-z._-]+)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def description(token: str, labels: Mapping[str, str]) -> str:
    """The mark, and the labels as far as there is room. Categories would do, but only those that somebody made before
    can be given to a VM, and neither version finds VMs by a text in them that is new with every machine."""
    text = f"Made by Butler; {_MARK}={token}"
    for name, value in sorted(labels.items()):
        if len(text) + len(more := f"; {name}={value}") <= DESCRIPTION_LIMIT:
            text += more
    return text


def token_of(text: str) -> str:
    """For whom something was made; empty when it carries no mark of ours."""
    found = _TOKEN.search(text)
    return found.group(1) if found else ""


def is_uuid(text: str) -> bool:
    return bool(_UUID.fullmatch(text))


def uuid_of(provider_id: str) -> str:
    """The UUID in a providerID; empty when there is none."""
    text = provider_id.removeprefix(SCHEME)
    return text if is_uuid(text) else ""


def check(order: MachineOrder) -> None:
    """Raises MachineRejected for what no version takes."""
    if len(order.name) > NAME_LIMIT:
        raise MachineRejected(NAME, order.name, f"a VM has a name of at most {NAME_LIMIT} letters")
    if len(encoded(order.user_data)) > USER_DATA_LIMIT:
        most = USER_DATA_LIMIT // 4 * 3
        raise MachineRejected(NAME, order.name, f"userData is larger than the {most} bytes it may have")
    if len(encoded(metadata(order))) > METADATA_LIMIT:
        raise MachineRejected(
            NAME, order.name, f"networkData is larger than the {METADATA_LIMIT // 4 * 3} bytes it may have"
        )


def has_guest_data(order: MachineOrder) -> bool:
    return bool(order.user_data or order.network_data)


def metadata(order: MachineOrder) -> str:
    """What lies beside userData on the config drive: what the order says of its network, else who the machine is."""
    return order.network_data or msgspec.json.encode({"hostname": order.name, "uuid": order.token}).decode()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def hidden(order: MachineOrder) -> tuple[str, ...]:
    """What must not come back in an error."""
    return tuple(text for text in (order.user_data, order.network_data) if text)


def usable(addresses: Iterable[str]) -> tuple[str, ...]:
    """Each once, private ones first, and none that nobody can reach."""
    found = {}
    for text in addresses:
        with suppress(ValueError):
            address = ip_address(text)
            if not (address.is_loopback or address.is_link_local or address.is_unspecified):
                found[text] = address.is_private
    return tuple(sorted(found, key=lambda text: not found[text]))


def disks(order: MachineOrder) -> tuple[int, ...]:
    """Bytes of each disk, the one it boots from first."""
    return tuple(size * GIB for size in (order.disk_gb, *(disk.size_gb for disk in order.extra_disks)))
