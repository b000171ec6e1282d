"""The cluster that an addon is for, as far as addons need to know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the cluster that an addon is for."""

    name: str
    """Of the cluster."""
    version: str
    """Of Kubernetes, such as v1.34.1; empty while nobody knows."""
    provider: str
    """The infrastructure, such as aws; empty for the management cluster."""
    named: Mapping[str, Any]
    """What placeholders stand for: `cluster.name`, `cluster.endpoint.host` and others."""
