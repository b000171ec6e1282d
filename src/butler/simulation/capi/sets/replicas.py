"""How many machines a MachineDeployment is to have that does not say."""

from __future__ import annotations

from collections.abc import Mapping

from butler.engines.capi.kinds import AUTOSCALER_MAX_SIZE, AUTOSCALER_MIN_SIZE, MachineDeployment


def number_for(deployment: MachineDeployment) -> int:
    """What Cluster API's webhook fills in: as many as there are, within the bounds of an autoscaler; else one."""
    bounds = _bounds(deployment.metadata.annotations)
    if bounds is None:
        return 1
    least, most = bounds
    return max(least, min(deployment.status.replicas or 0, most))


def _bounds(annotations: Mapping[str, str]) -> tuple[int, int] | None:
    """Both, or none that could be meant."""
    try:
        return int(annotations[AUTOSCALER_MIN_SIZE]), int(annotations[AUTOSCALER_MAX_SIZE])
    except (KeyError, ValueError):
        return None
