"""How long things take in the local platform that would take time in a real one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds per thing; how long a machine takes to boot is up to its provider."""

    control_plane: float = 4.0
    """Until a new control plane answers."""
    upgrade: float = 3.0
    """Until a control plane runs its new version."""
    scale: float = 1.0
    """Until a control plane has its new number of replicas."""
    join: float = 2.0
    """From a machine's boot to its node being Ready."""
    silence: float = 10.0
    """From a machine's end to its node being known as not Ready."""
    drain: float = 1.0
    """Until the pods of a node have gone elsewhere."""
    removal: float = 1.0
    """Until a control plane or a machine that is deleted is gone."""
    pull_image: float = 1.0
    """Until a pod's images are on its node."""
    start: float = 0.5
    """Until its containers run."""
    run: float = 2.0
    """How long containers run that come to an end."""
    restart: float = 10.0
    """Until a container that crashed is started anew; longer every time."""
    stop: float = 1.0
    """Until a pod that is deleted has ended."""


REALISTIC = Delays()
NONE = Delays(
    control_plane=0,
    upgrade=0,
    scale=0,
    join=0,
    silence=0,
    drain=0,
    removal=0,
    pull_image=0,
    start=0,
    run=0,
    restart=0,
    stop=0,
)
