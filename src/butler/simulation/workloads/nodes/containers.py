"""What a pod's status would say by now: containers that are pulled, started, end, crash or never come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from msgspec import structs

from kubekit.runtime.reconciler import Note

from ...delays import Delays
from ..context import condition, find_condition, moment, stamp, with_conditions
from ..kinds import EXIT_CODE, Condition, Container, Pod, PodStatus

CRASHING, MISSING = "simulated/crash", "simulated/missing"
"""Images of containers that end at once, and that cannot be pulled."""
_MOST_RESTARTS = 6
"""After so many a crashing container is left in its back-off, so that a quiet platform stays quiet."""
_CRASH_CODE = 1

State = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pod has come, and when it goes on."""

    status: PodStatus
    again: float | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """A pod at a time: all a container's state follows from."""

    pod: Pod
    now: datetime
    delays: Delays

    @property
    def elapsed(self) -> float:
        """Seconds since the pod got its node."""
        scheduled = find_condition(self.pod.status.conditions, "PodScheduled") or {}
        since = moment(scheduled.get("lastTransitionTime")) or self.pod.metadata.creation_timestamp or self.now
        return (self.now - since).total_seconds()

    @property
    def started(self) -> float:
        """Seconds since the containers were started; negative before that."""
        return self.elapsed - self.delays.pull_image - self.delays.start

    @property
    def started_at(self) -> datetime:
        return self.now - timedelta(seconds=max(self.started, 0.0))

    @property
    def exit_code(self) -> int | None:
        """What the containers end with; None when they run on."""
        wanted = self.pod.metadata.annotations.get(EXIT_CODE, "")
        if wanted.isdigit():
            return int(wanted)
        return None if self.pod.spec.restart_policy == "Always" else 0

    def exit_code_of(self, container: Container) -> int | None:
        return _CRASH_CODE if _is_image(container, CRASHING) else self.exit_code


def _is_image(container: Container, name: str) -> bool:
    return container.image == name or container.image.startswith((f"{name}:", f"{name}@"))


def progress(pod: Pod, now: datetime, delays: Delays) -> Progress:
    """The status of a pod on a node, its addresses aside."""
    if pod.status.phase in ("Succeeded", "Failed"):
        return Progress(pod.status)
    at = Moment(pod, now, delays)
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    if any(_is_image(container, MISSING) for container in containers):
        return _missing(at)
    if at.started < 0:
        return _creating(at)
    return _running(at)


def _creating(at: Moment) -> Progress:
    first = "PodInitializing" if at.pod.spec.init_containers else "ContainerCreating"
    status = structs.replace(
        at.pod.status,
        phase="Pending",
        start_time=at.pod.status.start_time or at.now.replace(microsecond=0),
        init_container_statuses=_waiting(at.pod.spec.init_containers, "PodInitializing"),
        container_statuses=_waiting(at.pod.spec.containers, first),
        conditions=_conditions(at, "Pending", initialized=not at.pod.spec.init_containers, ready=False),
    )
    return Progress(status, again=-at.started)


def _missing(at: Moment) -> Progress:
    spec = at.pod.spec
    statuses = tuple(
        _described(each, {"waiting": _refused_image(each) if _is_image(each, MISSING) else _wait("ContainerCreating")})
        for each in spec.containers
    )
    status = structs.replace(
        at.pod.status,
        phase="Pending",
        start_time=at.pod.status.start_time or at.now.replace(microsecond=0),
        init_container_statuses=_waiting(spec.init_containers, "PodInitializing"),
        container_statuses=statuses,
        conditions=_conditions(at, "Pending", initialized=not spec.init_containers, ready=False),
    )
    images = sorted({each.image for each in (*spec.init_containers, *spec.containers) if _is_image(each, MISSING)})
    notes = tuple(
        note
        for image in images
        for note in (
            Note("Pulling", f'Pulling image "{image}"'),
            Note("Failed", f'Failed to pull image "{image}": simulated: there is no such image', "Warning"),
            Note("Failed", "Error: ErrImagePull", "Warning"),
            Note("BackOff", f'Back-off pulling image "{image}"', "Warning"),
        )
    )
    return Progress(status, notes=notes)


def _refused_image(container: Container) -> State:
    return _wait("ImagePullBackOff", f'Back-off pulling image "{container.image}": simulated: there is no such image')


def _wait(reason: str, message: str = "") -> State:
    return {"reason": reason, "message": message} if message else {"reason": reason}


def _waiting(containers: Iterable[Container], reason: str) -> tuple[State, ...]:
    return tuple(_described(each, {"waiting": _wait(reason)}) for each in containers)


def _running(at: Moment) -> Progress:
    spec, before = at.pod.spec, at.pod.status
    known = {one["name"]: one for one in (*before.init_container_statuses, *before.container_statuses)}
    init = tuple(_init_status(at, each, known.get(each.name)) for each in spec.init_containers)
    statuses = tuple(_status(at, each, known.get(each.name)) for each in spec.containers)
    phase = _phase(statuses)
    status = structs.replace(
        before,
        phase=phase,
        start_time=before.start_time or at.now.replace(microsecond=0),
        init_container_statuses=init,
        container_statuses=statuses,
        conditions=_conditions(at, phase, ready=all(one["ready"] for one in statuses)),
    )
    return Progress(status, _next(at, phase), _told(at, known, statuses))


def _phase(statuses: Iterable[State]) -> str:
    codes = [one["state"].get("terminated", {}).get("exitCode") for one in statuses]
    if None in codes:
        return "Running"
    return "Failed" if any(codes) else "Succeeded"


def _init_status(at: Moment, container: Container, before: State | None) -> State:
    if container.restart_policy == "Always":
        return _described(container, _run_since(at, before), ready=True, started=True)
    started = _started_at(at, before)
    return _described(container, {"terminated": _end(0, started, started)}, ready=True, started=False)


def _status(at: Moment, container: Container, before: State | None) -> State:
    code = at.exit_code_of(container)
    if code is None or at.started < at.delays.run:
        return _described(container, _run_since(at, before), ready=True, started=True)
    started = _started_at(at, before)
    end = _end(code, started, started + timedelta(seconds=at.delays.run))
    policy = at.pod.spec.restart_policy
    if policy == "Never" or (policy == "OnFailure" and code == 0):
        return _described(container, {"terminated": end}, ready=False, started=False)
    return _crashed(at, container, end)


def _crashed(at: Moment, container: Container, end: State) -> State:
    wait = 10 * 2 ** min(_restarts(at), 5)
    message = f"back-off {min(wait, 300)}s restarting failed container={container.name} pod={at.pod.metadata.name}"
    waiting = {"waiting": _wait("CrashLoopBackOff", message)}
    return _described(
        container, waiting, ready=False, started=False, restartCount=_restarts(at), lastState={"terminated": end}
    )


def _restarts(at: Moment) -> int:
    """How often a crashing container was started anew: each wait is twice the last."""
    base, over = at.delays.restart, at.started - at.delays.run
    counts = (count for count in range(1, _MOST_RESTARTS) if over < base * (2**count - 1))
    return next(counts, _MOST_RESTARTS)


def _next(at: Moment, phase: str) -> float | None:
    """Seconds until something happens by itself."""
    codes = [at.exit_code_of(each) for each in at.pod.spec.containers]
    if phase != "Running" or all(code is None for code in codes):
        return None
    if at.started < at.delays.run:
        return at.delays.run - at.started
    count = _restarts(at)
    return None if count == _MOST_RESTARTS else at.delays.restart * (2**count - 1) - (at.started - at.delays.run)


def _run_since(at: Moment, before: State | None) -> State:
    return {"running": {"startedAt": stamp(_started_at(at, before))}}


def _started_at(at: Moment, before: State | None) -> datetime:
    """When a container was started, as it was once said or as it follows from the delays."""
    state = (before or {}).get("state") or {}
    told = (state.get("running") or state.get("terminated") or {}).get("startedAt")
    return moment(told) or at.started_at


def _end(code: int, started: datetime, finished: datetime) -> State:
    reason = "Completed" if code == 0 else "Error"
    return {"exitCode": code, "reason": reason, "startedAt": stamp(started), "finishedAt": stamp(finished)}


def _described(container: Container, state: State, *, ready: bool = False, **more: Any) -> State:
    return {
        "name": container.name,
        "image": container.image,
        "imageID": "" if "waiting" in state and "lastState" not in more else f"simulated://{container.image}",
        "ready": ready,
        "restartCount": 0,
        "started": False,
        "state": state,
        "lastState": {},
        **more,
    }


def _told(at: Moment, known: Mapping[str, State], statuses: Iterable[State]) -> tuple[Note, ...]:
    """What a kubelet says when containers start, or crash."""
    notes: list[Note] = []
    started = [each for each in (*at.pod.spec.init_containers, *at.pod.spec.containers) if _is_new(each, known)]
    for each in started:
        notes.append(Note("Pulled", f'Container image "{each.image}" already present on machine'))
        notes.append(Note("Created", f"Created container: {each.name}"))
        notes.append(Note("Started", f"Started container {each.name}"))
    for one in statuses:
        reason = one["state"].get("waiting", {}).get("reason")
        if reason == "CrashLoopBackOff" and one.get("restartCount") != known.get(one["name"], {}).get("restartCount"):
            told = f"Back-off restarting failed container {one['name']} in pod {at.pod.metadata.name}"
            notes.append(Note("BackOff", told, "Warning"))
    return tuple(notes)


def _is_new(container: Container, known: Mapping[str, State]) -> bool:
    before = known.get(container.name)
    return before is None or ("waiting" in before["state"] and not before["lastState"])


def _conditions(at: Moment, phase: str, *, ready: bool, initialized: bool = True) -> tuple[Condition, ...]:
    """As a kubelet writes them; times are the runtime's."""
    names = " ".join(each.name for each in at.pod.spec.containers)
    waiting = {"reason": "ContainersNotReady", "message": f"containers with unready status: [{names}]"}
    why = {"Succeeded": {"reason": "PodCompleted"}, "Failed": {"reason": "PodFailed"}}.get(phase, waiting)
    behind = {} if initialized else {"reason": "ContainersNotInitialized"}
    scheduled = find_condition(at.pod.status.conditions, "PodScheduled")
    return with_conditions(
        at.pod.status.conditions,
        scheduled or _condition("PodScheduled", True),
        _condition("PodReadyToStartContainers", phase == "Running"),
        _condition("Initialized", initialized, **behind),
        _condition("Ready", ready, **({} if ready else why)),
        _condition("ContainersReady", ready, **({} if ready else why)),
    )


def _condition(name: str, holds: bool, **why: str) -> Condition:
    return condition(name, "True" if holds else "False", **why, lastProbeTime=None)


def unreachable(status: PodStatus) -> PodStatus:
    """The status of a pod whose node does not answer."""
    not_ready = [
        {**one, "status": "False", "reason": "NodeNotReady"}
        for one in status.conditions
        if one["type"] == "Ready" and one["status"] == "True"
    ]
    return structs.replace(status, conditions=with_conditions(status.conditions, *not_ready))
