"""The operating system image of the workers."""

from __future__ import annotations

from ..scope import Scope
from ..step import NOT_NEEDED, Step, Verdict, Whose


class Image(Step):
    """An image that the provider has needs nothing; one from the image factory has to be brought there."""

    condition, title, holds = "ImageReady", "Image", True

    def verdict(self, scope: Scope) -> Verdict:
        workers = scope.cluster.spec.workers
        templates = [workers.machine_template, *(pool.machine_template for pool in workers.pools)]
        wanted = next((one.os.schematic_id for one in templates if one.os is not None and one.os.schematic_id), None)
        if wanted is None:
            return Verdict(True, NOT_NEEDED, "the provider has the image")
        message = f"schematic {wanted[:8]} would have to be brought to the provider, which nothing does yet"
        return Verdict(False, "ImageSyncPending", message, Whose.PLATFORM)
