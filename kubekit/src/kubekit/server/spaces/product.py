"""What a server says it is."""

from __future__ import annotations

from dataclasses import dataclass

from kubekit.version import __version__


@dataclass(frozen=True, slots=True)
class Product:
    """The program around a server, as its clients see it."""

    name: str = "kubekit"
    """Stands in versions (`v1.36.4+kubekit.0.1.0`) and as the name of the cluster in kubeconfigs."""
    version: str = __version__
    simulated: str = ""
    """Annotation of pods that only seem to run: for them nobody looks for a kubelet."""
    most_pods: int = 0
    """How many pods each space but the first may have; none: as many as are made."""
