"""Built-in kinds that are offered in two forms and stored in one."""

from __future__ import annotations

from dataclasses import dataclass

from kubekit.model.resource import Object
from kubekit.server.objects.resource import Translation

from ..workloads.autoscaler_versions import FirstVersion

_EVENT_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""What a field of an Event of the core group is called in the group `events.k8s.io`."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """Two forms that differ only in the names of members at the top."""

    names: dict[str, str]
    """From the form that is stored to the one that is shown."""

    def shown(self, obj: Object) -> Object:
        return {self.names.get(name, name): value for name, value in obj.items()}

    def stored(self, obj: Object) -> Object:
        back = {new: old for old, new in self.names.items()}
        return {back.get(name, name): value for name, value in obj.items()}


TRANSLATIONS: dict[tuple[str, str], tuple[str, Translation]] = {
    ("events.k8s.io/v1", "Event"): ("/events", Renaming(_EVENT_NAMES)),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): ("autoscaling/horizontalpodautoscalers", FirstVersion()),
}
"""Where objects of a kind are stored that is not stored as it is shown, and how it is brought from one to the other."""
