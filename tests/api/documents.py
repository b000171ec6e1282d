"""The documents people were given, by file name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

SEEDS = Path(__file__).parent.parent / "fixtures" / "seeds"


def load(name: str, *fragments: str) -> dict[str, Any]:
    """A seed document, with fragments merged over it."""
    made: dict[str, Any] = yaml.safe_load((SEEDS / f"{name}.yaml").read_text())
    for fragment in fragments:
        made = _merge(made, yaml.safe_load((SEEDS / f"{fragment}.fragment.yaml").read_text()))
    return made


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        nested = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merge(base[key], value) if nested else value
    return merged


SECTIONS: dict[str, dict[str, Any]] = {
    "harvester": {"networkName": "default/vms"},
    "nutanix": {"endpoint": "https://prism", "clusterUUID": "a", "subnetUUID": "b"},
    "proxmox": {"endpoint": "https://pve", "nodes": ["a"], "storage": "b"},
    "azure": {"subscriptionID": "a", "resourceGroup": "b", "location": "c", "subnetName": "d", "vnetName": "e"},
    "aws": {"region": "eu-central-1"},
    "gcp": {"projectID": "a", "region": "b"},
    "external": {"name": "tinycloud"},
}
"""What each provider cannot do without."""
