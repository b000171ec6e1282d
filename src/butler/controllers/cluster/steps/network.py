"""Addresses for the cluster."""

from __future__ import annotations

from ..scope import Scope
from ..step import NOT_NEEDED, Step, Verdict, Whose


class Network(Step):
    """Where the provider itself gives addresses, there is nothing to do."""

    condition, title, holds = "NetworkReady", "Network", True

    def verdict(self, scope: Scope) -> Verdict:
        provider = scope.accepted.provider
        if provider.spec.network.mode == "cloud":
            return Verdict(True, NOT_NEEDED, "the provider gives addresses itself")
        message = f"provider {provider.metadata.name} takes addresses from NetworkPools, and nothing allocates them yet"
        return Verdict(False, "NetworkNotReady", message, Whose.PLATFORM)
