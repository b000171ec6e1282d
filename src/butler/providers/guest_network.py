"""What a machine is told of its network when its order does not say."""

from __future__ import annotations

import json
from dataclasses import replace

from .contract import MachineOrder


def with_name_servers(order: MachineOrder, servers: tuple[str, ...]) -> MachineOrder:
    """The order; with the name servers of the account, and an address by DHCP, unless it has network data of its own.

    Written in version 2 of cloud-init, which Talos reads too, and as JSON, which is YAML."""
    if order.network_data or not servers:
        return order
    device = {"match": {"name": "e*"}, "dhcp4": True, "nameservers": {"addresses": list(servers)}}
    return replace(order, network_data=json.dumps({"version": 2, "ethernets": {"all": device}}))
