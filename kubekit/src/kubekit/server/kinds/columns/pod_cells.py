"""The row of a pod in `kubectl get`: one word for the state of all its containers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kubekit.model.ages import age
from kubekit.model.resource import Object

_NONE = "<none>"


@dataclass(slots=True)
class _Summary:
    """What the containers seen so far amount to."""

    reason: str
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""

    def count_restarts(self, status: Object) -> None:
        self.restarts += status.get("restartCount", 0)
        ended = (status.get("lastState") or {}).get("terminated") or {}
        self.last_restart = max(self.last_restart, ended.get("finishedAt") or "")


def pod_cells(pod: Object, now: datetime) -> list[Any]:
    spec, status, metadata = pod.get("spec", {}), pod.get("status", {}), pod["metadata"]
    sidecars = {one.get("name") for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"}
    summary = _Summary(_first_reason(status))
    sidecar_summary = _Summary("")
    initialising = _look_at_init(summary, sidecar_summary, spec, status, sidecars)
    if not initialising or _is_true(status, "Initialized"):
        summary.restarts, summary.last_restart = sidecar_summary.restarts, sidecar_summary.last_restart
        _look_at_containers(summary, status)
    if metadata.get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif status.get("phase") not in {"Succeeded", "Failed"}:
            summary.reason = "Terminating"
    total = len(spec.get("containers") or ()) + len(sidecars)
    return [
        metadata.get("name", ""),
        f"{summary.ready}/{total}",
        summary.reason,
        _restarts(summary, now),
        age(metadata.get("creationTimestamp"), now),
        *_wide(spec, status),
    ]


def _first_reason(status: Object) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            return "SchedulingGated"
    return str(status.get("reason") or status.get("phase") or "")


def _look_at_init(summary: _Summary, sidecars_only: _Summary, spec: Object, status: Object, sidecars: set[Any]) -> bool:
    """Go through the init containers; whether one of them still holds up the others."""
    for index, one in enumerate(status.get("initContainerStatuses") or ()):
        state, is_sidecar = one.get("state") or {}, one.get("name") in sidecars
        summary.count_restarts(one)
        if is_sidecar:
            sidecars_only.count_restarts(one)
        ended = state.get("terminated")
        if ended is not None and not ended.get("exitCode"):
            continue
        if is_sidecar and one.get("started"):
            summary.ready += bool(one.get("ready"))
            continue
        waiting = (state.get("waiting") or {}).get("reason") or ""
        if ended is not None:
            summary.reason = f"Init:{_how_it_ended(ended)}"
        elif waiting and waiting != "PodInitializing":
            summary.reason = f"Init:{waiting}"
        else:
            summary.reason = f"Init:{index}/{len(spec.get('initContainers') or ())}"
        return True
    return False


def _how_it_ended(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _look_at_containers(summary: _Summary, status: Object) -> None:
    running, failure = False, ""
    for one in reversed(status.get("containerStatuses") or ()):
        state = one.get("state") or {}
        summary.count_restarts(one)
        waiting, ended = (state.get("waiting") or {}).get("reason"), state.get("terminated")
        if waiting:
            summary.reason = waiting
        elif ended is not None:
            summary.reason = _how_it_ended(ended)
            if ended.get("exitCode"):
                failure = summary.reason
        elif one.get("ready") and state.get("running") is not None:
            running = True
            summary.ready += 1
    if summary.reason == "Completed":
        if running and _is_true(status, "Ready"):
            summary.reason = "Running"
        elif failure:
            summary.reason = failure
        elif running:
            summary.reason = "NotReady"


def _is_true(status: Object, kind: str) -> bool:
    conditions = status.get("conditions") or ()
    return any(one.get("type") == kind and one.get("status") == "True" for one in conditions)


def _restarts(summary: _Summary, now: datetime) -> str:
    if summary.restarts and summary.last_restart:
        return f"{summary.restarts} ({age(summary.last_restart, now)} ago)"
    return str(summary.restarts)


def _wide(spec: Object, status: Object) -> list[str]:
    addresses = status.get("podIPs") or [{}]
    gates = spec.get("readinessGates") or ()
    passed = sum(_is_true(status, gate.get("conditionType", "")) for gate in gates)
    return [
        addresses[0].get("ip") or _NONE,
        spec.get("nodeName") or _NONE,
        status.get("nominatedNodeName") or _NONE,
        f"{passed}/{len(gates)}" if gates else _NONE,
    ]
