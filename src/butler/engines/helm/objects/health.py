"""Whether the objects of a release do their work, from what they say themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubekit.model.resource import Object

from ..protocol import Unready
from ..redaction import Redaction
from .live import Found

_LONGEST = 300
_SILENT_GROUPS = frozenset(
    [
        "", "apps", "batch", "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io",
        "networking.k8s.io", "policy", "scheduling.k8s.io", "autoscaling", "apiextensions.k8s.io",
        "apiregistration.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "node.k8s.io", "certificates.k8s.io",
    ]
)  # fmt: skip
"""Groups of Kubernetes itself: what is not among the kinds below has nothing to say."""


def has_health(obj: Object) -> bool:
    """Whether it can be asked how it is doing."""
    group = str(obj.get("apiVersion", "")).rpartition("/")[0]
    return obj.get("kind") in _KINDS or group not in _SILENT_GROUPS


def unready(found: Found, redaction: Redaction) -> Unready | None:
    """What is the matter with an object; None when nothing is."""
    name = str(found.ref)
    if found.address is None:
        return Unready(name, "the cluster does not know this kind")
    if found.live is None:
        return Unready(name, "is missing")
    if found.live["metadata"].get("deletionTimestamp"):
        return Unready(name, "is being deleted")
    check = _KINDS.get(found.ref.kind, _custom)
    for message, failed in check(found.live):
        return Unready(name, redaction(message)[:_LONGEST], failed, _is_nodeless(found.live))
    return None


Problem = tuple[str, bool]
"""What is wrong, and whether waiting is no use."""


def _deployment(obj: Object) -> Iterator[Problem]:
    status, wanted = obj.get("status") or {}, _replicas(obj)
    stuck = _condition(obj, "Progressing")
    if stuck.get("reason") == "ProgressDeadlineExceeded":
        yield f"does not get on: {stuck.get('message') or 'its deadline is over'}", True
    yield from _observed(obj)
    yield from _counted(status.get("updatedReplicas"), wanted, "updated")
    if (status.get("replicas") or 0) > wanted:
        yield f"{status['replicas'] - wanted} old pods are still there", False
    yield from _counted(status.get("availableReplicas"), wanted, "available")


def _stateful_set(obj: Object) -> Iterator[Problem]:
    status, wanted = obj.get("status") or {}, _replicas(obj)
    yield from _observed(obj)
    yield from _counted(status.get("readyReplicas"), wanted, "ready")
    strategy = (obj.get("spec") or {}).get("updateStrategy") or {}
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    if strategy.get("type", "RollingUpdate") == "RollingUpdate":
        yield from _counted(status.get("updatedReplicas"), wanted - partition, "updated")


def _daemon_set(obj: Object) -> Iterator[Problem]:
    status = obj.get("status") or {}
    yield from _observed(obj)
    wanted = status.get("desiredNumberScheduled") or 0
    if not wanted:
        yield "no node is fit for it", False
    if ((obj.get("spec") or {}).get("updateStrategy") or {}).get("type") != "OnDelete":
        yield from _counted(status.get("updatedNumberScheduled"), wanted, "updated")
    yield from _counted(status.get("numberAvailable"), wanted, "available")


def _is_nodeless(obj: Object) -> bool:
    if obj.get("kind") != "DaemonSet" or any(_observed(obj)):
        return False
    return not (obj.get("status") or {}).get("desiredNumberScheduled")


def _replica_set(obj: Object) -> Iterator[Problem]:
    yield from _observed(obj)
    yield from _counted((obj.get("status") or {}).get("readyReplicas"), _replicas(obj), "ready")


def _job(obj: Object) -> Iterator[Problem]:
    failure = _condition(obj, "Failed")
    if failure.get("status") == "True":
        yield f"failed: {failure.get('message') or failure.get('reason') or 'no reason given'}", True
    elif _condition(obj, "Complete").get("status") != "True" and not (obj.get("spec") or {}).get("suspend"):
        yield "is not complete", False


def _pod(obj: Object) -> Iterator[Problem]:
    phase = (obj.get("status") or {}).get("phase") or "Pending"
    if phase == "Failed":
        yield "failed", True
    elif phase != "Succeeded" and _condition(obj, "Ready").get("status") != "True":
        yield f"is {phase} and not ready", False


def _phase(wanted: str) -> Callable[[Object], Iterator[Problem]]:
    def check(obj: Object) -> Iterator[Problem]:
        phase = (obj.get("status") or {}).get("phase") or "Pending"
        if phase != wanted:
            yield f"is {phase}, not {wanted}", phase == "Lost"

    return check


def _condition_true(name: str, fatal: str = "") -> Callable[[Object], Iterator[Problem]]:
    def check(obj: Object) -> Iterator[Problem]:
        refused = _condition(obj, fatal) if fatal else {}
        if refused.get("status") == "False":
            yield f"is not {fatal}: {_why(refused)}", True
        found = _condition(obj, name)
        if found.get("status") != "True":
            yield f"is not {name}{f': {_why(found)}' if found else ''}", False

    return check


def _service(obj: Object) -> Iterator[Problem]:
    is_balanced = (obj.get("spec") or {}).get("type") == "LoadBalancer"
    if is_balanced and not ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress"):
        yield "has no address of a load balancer", False


def _custom(obj: Object) -> Iterator[Problem]:
    """By the conditions that most operators write."""
    yield from _observed(obj)
    stalled = _condition(obj, "Stalled")
    if stalled.get("status") == "True":
        yield f"is stalled: {_why(stalled)}", True
    ready = _condition(obj, "Ready")
    if ready.get("status") in ("False", "Unknown"):
        yield f"is not Ready: {_why(ready)}", False


_KINDS: dict[str, Callable[[Object], Iterator[Problem]]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replica_set,
    "Job": _job,
    "Pod": _pod,
    "PersistentVolumeClaim": _phase("Bound"),
    "Namespace": _phase("Active"),
    "CustomResourceDefinition": _condition_true("Established", "NamesAccepted"),
    "APIService": _condition_true("Available"),
    "Service": _service,
}


def _replicas(obj: Object) -> int:
    wanted = (obj.get("spec") or {}).get("replicas")
    return 1 if wanted is None else int(wanted)


def _counted(have: int | None, wanted: int, word: str) -> Iterator[Problem]:
    if (have or 0) < wanted:
        yield f"{have or 0} of {wanted} {word}", False


def _observed(obj: Object) -> Iterator[Problem]:
    seen = (obj.get("status") or {}).get("observedGeneration")
    generation = obj["metadata"].get("generation") or 0
    is_reported = seen is not None or obj.get("kind") in _KINDS
    if is_reported and (not isinstance(seen, int) or seen < generation):
        yield "its controller has not seen the newest change yet", False


def _condition(obj: Object, name: str) -> dict[str, Any]:
    conditions = (obj.get("status") or {}).get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    return next((one for one in listed if isinstance(one, dict) and one.get("type") == name), {})


def _why(condition: dict[str, Any]) -> str:
    return str(condition.get("message") or condition.get("reason") or "no reason given")
