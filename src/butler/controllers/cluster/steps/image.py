"""The operating system image of the workers."""

from __future__ import annotations

from ..scope import Scope
from ..step import NOT_NEEDED, Step, Verdict, Whose


class Image(Step):
    """An image that the provider has needs nothing; one from the image factory has to be brought there."""

    condition, title, holds = "ImageReady", "Image", True

    def verdict(self, scope: Scope) -> Verdict:
        system = scope.cluster.spec.workers.machine_template.os
        if system is None or system.schematic_id is None:
            return Verdict(True, NOT_NEEDED, "the provider has the image")
        message = (
            f"schematic {system.schematic_id[:8]} would have to be brought to the provider, which nothing does yet"
        )
        return Verdict(False, "ImageSyncPending", message, Whose.PLATFORM)
