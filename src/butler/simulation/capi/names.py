"""Labels, annotations, finalizers and random names, as Cluster API writes them."""

from __future__ import annotations

from kubekit.clock import Chance

CLUSTER_FINALIZER = "cluster.cluster.x-k8s.io"
DEPLOYMENT_FINALIZER = "cluster.x-k8s.io/machinedeployment"
SET_FINALIZER = "cluster.x-k8s.io/machineset"
MACHINE_FINALIZER = "machine.cluster.x-k8s.io"

TEMPLATE_HASH = "machine-template-hash"
CONTROL_PLANE = "cluster.x-k8s.io/control-plane"
SKIP_DRAIN = "cluster.x-k8s.io/drain"
"""Label of a pod that stays while its node is drained, with the value `skip`."""

REVISION = "machinedeployment.clusters.x-k8s.io/revision"
DESIRED_REPLICAS = "machinedeployment.clusters.x-k8s.io/desired-replicas"
MAX_REPLICAS = "machinedeployment.clusters.x-k8s.io/max-replicas"
DISABLE_CREATE = "cluster.x-k8s.io/disable-machine-create"
CLONED_FROM_NAME = "cluster.x-k8s.io/cloned-from-name"
CLONED_FROM_KIND = "cluster.x-k8s.io/cloned-from-groupkind"
PAUSED = "cluster.x-k8s.io/paused"
DELETE_MACHINE = "cluster.x-k8s.io/delete-machine"
"""Annotation of a machine that goes first when its set shrinks."""
EXCLUDE_DRAIN = "machine.cluster.x-k8s.io/exclude-node-draining"
PRE_DRAIN = "pre-drain.delete.hook.machine.cluster.x-k8s.io"
PRE_TERMINATE = "pre-terminate.delete.hook.machine.cluster.x-k8s.io"
SKIP_PREFLIGHT = "machineset.cluster.x-k8s.io/skip-preflight-checks"

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels and look-alikes, so that no name is a word."""
_SUFFIX = 5
_LONGEST = 63


def suffix(chance: Chance) -> str:
    """Five random letters."""
    # A byte is cut to a multiple of the letters, so that each is as likely as any other.
    usable = 256 - 256 % len(_LETTERS)
    found = ""
    while len(found) < _SUFFIX:
        found += "".join(_LETTERS[byte % len(_LETTERS)] for byte in chance.bytes(8) if byte < usable)
    return found[:_SUFFIX]


def suffixed(base: str, ending: str) -> str:
    """`base-ending`, the base cut to what a label may hold."""
    return f"{base[: _LONGEST - len(ending) - 1]}-{ending}"
