"""The life of a tenant cluster, step by step."""

from __future__ import annotations

from ..step import Step
from .acceptance import Acceptance
from .addons import Addons
from .control_plane import ControlPlane
from .image import Image
from .infrastructure import Infrastructure
from .kubeconfig import Kubeconfig
from .namespace import Namespace
from .network import Network
from .node_addons import NodeAddons
from .quota import Quota
from .workers import Workers

GATES: tuple[Step, ...] = (Acceptance(), Quota())
"""Whether what is asked for may be at all. One that is shut keeps a change out, and the cluster as it was."""

WORK: tuple[Step, ...] = (
    Namespace(),
    Network(),
    Image(),
    ControlPlane(),
    Infrastructure(),
    Kubeconfig(),
    NodeAddons(),
    Workers(),
    Addons(),
)
"""In the order of creation; deletion goes the other way."""

STEPS = (*GATES, *WORK)
