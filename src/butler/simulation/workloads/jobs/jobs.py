"""Job → pods until enough of them have succeeded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from msgspec import structs

from kubekit.errors import NotFound
from kubekit.runtime.reconciler import Note, Outcome, Reconciler, children

from ..context import Context, condition, find_condition, holds, moment, seconds, some, soonest, with_conditions
from ..kinds import Pod
from ..sets import ownership
from ..sets.ownership import Children
from .kinds import Job, JobStatus

INDEX = "batch.kubernetes.io/job-completion-index"
_TOO_MANY = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_TOO_LONG = ("DeadlineExceeded", "Job was active longer than specified deadline")
_ENDS = ("Complete", "Failed")
_REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")


@dataclass(frozen=True, slots=True)
class Scope:
    """A Job with its pods, at a time."""

    job: Job
    pods: Sequence[Pod]
    now: datetime

    @property
    def active(self) -> list[Pod]:
        return [pod for pod in self.pods if ownership.is_active(pod)]

    @property
    def started(self) -> datetime:
        return self.job.status.start_time or self.now.replace(microsecond=0)

    @property
    def is_indexed(self) -> bool:
        return self.job.spec.completion_mode == "Indexed"

    def ended(self, phase: str) -> int:
        """How many pods ended so, counting those that were seen and are gone."""
        seen = self.job.status.succeeded if phase == "Succeeded" else self.job.status.failed
        if phase == "Succeeded" and self.is_indexed:
            return max(len(self.done()), seen or 0)
        return max(sum(1 for pod in self.pods if pod.status.phase == phase), seen or 0)

    def done(self) -> set[int]:
        """The indexes that have succeeded."""
        succeeded = (pod for pod in self.pods if pod.status.phase == "Succeeded")
        return {index for pod in succeeded if (index := _index(pod)) is not None}

    def time_left(self) -> float | None:
        limit = self.job.spec.active_deadline_seconds
        return None if limit is None else limit - (self.now - self.started).total_seconds()

    def failure(self) -> tuple[str, str] | None:
        left, limit = self.time_left(), self.job.spec.backoff_limit
        if left is not None and left <= 0:
            return _TOO_LONG
        restarts = sum(one.get("restartCount", 0) for pod in self.active for one in pod.status.container_statuses)
        if self.ended("Failed") > limit or (restarts and restarts >= limit):
            return _TOO_MANY
        return None

    def is_complete(self) -> bool:
        wanted, succeeded = self.job.spec.completions, self.ended("Succeeded")
        return succeeded >= wanted if wanted is not None else bool(succeeded) and not self.active

    def wanted(self) -> int:
        """How many pods are to run now."""
        parallel, completions, succeeded = self.job.spec.parallelism, self.job.spec.completions, self.ended("Succeeded")
        if self.job.spec.suspend:
            return 0
        if completions is None:
            return min(parallel, len(self.active)) if succeeded else parallel
        return min(parallel, completions - succeeded)


class Jobs(Reconciler[Job]):
    """Starts pods, replaces those that fail as long as patience lasts, and says when the work is done."""

    kind = Job
    source = "job-controller"
    tells_conditions = False
    workers = 2

    def __init__(self, site: Context) -> None:
        self._site = site
        self._pods: Children[Pod] = Children(site, Pod, Job)
        self.watches = (children(Pod, of=Job), self._pods.watch_orphans(lambda job: job.spec.selector))

    async def reconcile(self, obj: Job) -> Outcome:
        if any(holds(obj.status.conditions, name) for name in _ENDS):
            return await self._after_end(obj)
        scope = Scope(obj, await self._pods.claimed(obj, obj.spec.selector), self._site.now())
        if not obj.spec.suspend and (failure := scope.failure()) is not None:
            return await self._failed(scope, *failure)
        if scope.is_complete():
            return self._complete(scope)
        wait = await self._adjust(scope)
        left = None if obj.spec.suspend else scope.time_left()
        return Outcome(_counted(scope), again=soonest(wait, left))

    async def _adjust(self, scope: Scope) -> float | None:
        """Start or stop pods. Answers the seconds to wait before the next replaces one that failed."""
        missing = scope.wanted() - len(scope.active)
        if missing < 0:
            surplus = sorted(scope.active, key=lambda pod: ownership.worth(pod, {}))[:-missing]
            await ownership.delete_pods(self._site, scope.job, surplus, self.source)
        if missing <= 0:
            return None
        wait = self._backoff(scope)
        if wait > 0:
            return wait
        is_made = await ownership.create_pods(
            self._site, scope.job, _new_pods(scope, min(missing, ownership.AT_ONCE)), self.source
        )
        return None if is_made else ownership.FULL.total_seconds()

    def _backoff(self, scope: Scope) -> float:
        failed = [pod for pod in scope.pods if pod.status.phase == "Failed"]
        if not failed or not self._site.delays.restart:
            return 0.0
        last = max(_ended_at(pod) or scope.now for pod in failed)
        pause: float = self._site.delays.restart * 2 ** min(len(failed) - 1, 6)
        return pause - (scope.now - last).total_seconds()

    def _complete(self, scope: Scope) -> Outcome:
        ends = tuple(
            condition(name, "True", *_REACHED, lastProbeTime=None) for name in ("SuccessCriteriaMet", "Complete")
        )
        status = _counted(scope, conditions=ends, completion_time=scope.now.replace(microsecond=0))
        again = self._time_to_live(scope.job, scope.now)
        return Outcome(status, again=again, notes=(Note("Completed", "Job completed"),))

    async def _failed(self, scope: Scope, reason: str, message: str) -> Outcome:
        await ownership.delete_pods(self._site, scope.job, scope.active, self.source)
        ends = tuple(
            condition(name, "True", reason, message, lastProbeTime=None) for name in ("FailureTarget", "Failed")
        )
        status = structs.replace(_counted(scope, conditions=ends), active=None, ready=0)
        return Outcome(status, notes=(Note(reason, message, "Warning"),))

    async def _after_end(self, job: Job) -> Outcome:
        """A Job that is over disappears when its time has come, if one is set."""
        ends = (find_condition(job.status.conditions, name) for name in _ENDS)
        ended = next(moment(one.get("lastTransitionTime")) for one in ends if one is not None)
        left = self._time_to_live(job, ended or self._site.now())
        if left is None or left.total_seconds() > 0:
            return Outcome(again=left)
        meta = job.metadata
        with suppress(NotFound):
            await self._site.client.delete(Job, meta.name, meta.namespace, propagation="Foreground", uid=meta.uid)
        return Outcome()

    def _time_to_live(self, job: Job, ended: datetime) -> timedelta | None:
        limit = job.spec.ttl_seconds_after_finished
        return None if limit is None else seconds(limit - (self._site.now() - ended).total_seconds())


def _counted(scope: Scope, conditions: tuple[Any, ...] = (), completion_time: datetime | None = None) -> JobStatus:
    job, status = scope.job, scope.job.status
    suspended = find_condition(status.conditions, "Suspended")
    if job.spec.suspend:
        conditions = (condition("Suspended", "True", "JobSuspended", "Job suspended", lastProbeTime=None),)
    elif suspended is not None:
        conditions = (*conditions, condition("Suspended", "False", "JobResumed", "Job resumed", lastProbeTime=None))
    return JobStatus(
        active=some(len(scope.active)),
        ready=sum(1 for pod in scope.active if ownership.is_ready(pod)),
        terminating=sum(1 for pod in scope.pods if pod.deleting),
        succeeded=some(scope.ended("Succeeded")),
        failed=some(scope.ended("Failed")),
        completed_indexes=_ranges(sorted(scope.done())) if scope.is_indexed else None,
        start_time=None if job.spec.suspend else scope.started,
        completion_time=completion_time,
        conditions=with_conditions(status.conditions, *conditions),
    )


def _new_pods(scope: Scope, count: int) -> list[dict[str, Any]]:
    job = scope.job
    if not scope.is_indexed:
        one = ownership.pod_from(job.spec.template, job, Job, generateName=f"{job.metadata.name}-")
        return [one] * count
    taken = scope.done() | {index for pod in scope.active if (index := _index(pod)) is not None}
    free = [index for index in range(job.spec.completions or 0) if index not in taken]
    return [_indexed(job, index) for index in free[:count]]


def _indexed(job: Job, index: int) -> dict[str, Any]:
    mark = {INDEX: str(index)}
    name = f"{job.metadata.name}-{index}"
    pod = ownership.pod_from(job.spec.template, job, Job, generateName=f"{name}-", labels=mark, annotations=mark)
    pod["spec"] = {**pod["spec"], "hostname": name}
    return pod


def _index(pod: Pod) -> int | None:
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isdigit() else None


def _ended_at(pod: Pod) -> datetime | None:
    ends = [one.get("state", {}).get("terminated", {}).get("finishedAt") for one in pod.status.container_statuses]
    return max((when for end in ends if (when := moment(end)) is not None), default=None)


def _ranges(indexes: Sequence[int]) -> str | None:
    """`0-2,5` for 0, 1, 2 and 5."""
    parts: list[list[int]] = []
    for index in indexes:
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(f"{low}-{high}" if high > low else str(low) for low, high in parts) or None
