"""The cluster fits what it refers to."""

from __future__ import annotations

from ..scope import Scope
from ..step import Step, Verdict


class Acceptance(Step):
    """Nothing to do: a scope is only made of a cluster that was accepted."""

    condition, title, holds = "Accepted", "Request", True

    def verdict(self, scope: Scope) -> Verdict:
        provider = scope.accepted.provider
        return Verdict(True, "Accepted", f"uses provider {provider.metadata.name}")
