"""The addresses that a machine is told to give itself."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_interface
from typing import Any

from kubekit.client.kubeconfig import loaded_yaml
from kubekit.errors import InvalidConfiguration


def static_addresses(network_data: str) -> tuple[str, ...]:
    """What is configured in the network data of cloud-init, version 1 or 2; nothing when it cannot be read."""
    if not network_data:
        return ()
    try:
        content = loaded_yaml(network_data, "networkData")
    except InvalidConfiguration:
        return ()
    config = content.get("network", content) if isinstance(content, dict) else {}
    found = (_address(text) for text in (*_of_version_2(config), *_of_version_1(config)))
    return tuple(dict.fromkeys(address for address in found if address))


def _of_version_2(config: Any) -> Iterator[Any]:
    """ethernets: {eth0: {addresses: [10.0.0.5/24]}}"""
    for family in ("ethernets", "bonds", "vlans", "bridges"):
        for device in _values(config, family):
            listed = device.get("addresses") if isinstance(device, dict) else None
            yield from listed if isinstance(listed, list) else ()


def _of_version_1(config: Any) -> Iterator[Any]:
    """config: [{type: physical, subnets: [{type: static, address: 10.0.0.5/24}]}]"""
    for device in _items(config, "config"):
        for subnet in _items(device, "subnets"):
            yield subnet.get("address") if isinstance(subnet, dict) else None


def _values(content: Any, name: str) -> list[Any]:
    found = content.get(name) if isinstance(content, dict) else None
    return list(found.values()) if isinstance(found, dict) else []


def _items(content: Any, name: str) -> list[Any]:
    found = content.get(name) if isinstance(content, dict) else None
    return found if isinstance(found, list) else []


def _address(text: Any) -> str:
    try:
        return str(ip_interface(text).ip) if isinstance(text, str) else ""
    except ValueError:
        return ""
