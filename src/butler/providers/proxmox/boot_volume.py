"""What a machine boots with: a volume labelled `cidata`, which cloud-init and Talos (`nocloud`) read."""

from __future__ import annotations

import json

from ..contract import MachineOrder
from .iso import image

LABEL = "cidata"


def volume(order: MachineOrder, instance: str) -> bytes:
    """The ISO image for an order; `instance` is the UUID of the machine. The same order gives the same image."""
    meta = {"instance-id": instance, "local-hostname": order.name, "hostname": order.name}
    files = {
        "user-data": order.user_data.encode(),
        # JSON is YAML in which no name has to be quoted with care.
        "meta-data": json.dumps(meta, indent=2).encode() + b"\n",
    }
    if order.network_data:
        files["network-config"] = order.network_data.encode()
    return image(LABEL, files)
