"""CronJob → a Job whenever its time has come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kubekit.errors import AlreadyExists, NotFound
from kubekit.runtime.objects import owner_reference
from kubekit.runtime.reconciler import Outcome, Reconciler, children

from ..context import Context, holds, seconds, stamp
from ..sets.ownership import Children
from .kinds import CronJob, CronJobStatus, Job
from .schedules import following

_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_MOST_MISSED = 100
"""Of so many missed times the last one is looked for; beyond them, all are given up."""


class CronJobs(Reconciler[CronJob]):
    """Starts a Job for the last time that was due, and clears away old ones."""

    kind = CronJob
    source = "cronjob-controller"
    tells_conditions = False
    workers = 1

    def __init__(self, site: Context) -> None:
        self._site = site
        self._jobs: Children[Job] = Children(site, Job, CronJob)
        self.watches = (children(Job, of=CronJob),)

    async def reconcile(self, obj: CronJob) -> Outcome:
        jobs = sorted(self._jobs.of(obj), key=lambda job: str(job.metadata.creation_timestamp))
        active = [job for job in jobs if not _is_over(job)]
        now = self._site.now().astimezone(ZoneInfo(obj.spec.time_zone) if obj.spec.time_zone else UTC)
        last = obj.status.last_schedule_time or obj.metadata.creation_timestamp or now
        due = None if obj.spec.suspend else _last_due(obj, last.astimezone(now.tzinfo), now)
        if due is not None and not await self._start(obj, due, active):
            due = None
        await self._clear(jobs, "Complete", obj.spec.successful_jobs_history_limit)
        await self._clear(jobs, "Failed", obj.spec.failed_jobs_history_limit)
        return Outcome(_status(obj, jobs, active, due), again=_wait(obj, now))

    async def _start(self, cron_job: CronJob, due: datetime, active: Sequence[Job]) -> bool:
        """Make the Job of a time, unless one still runs and must not be disturbed. Answers whether there is one now."""
        policy = cron_job.spec.concurrency_policy
        if active and policy == "Forbid":
            told = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._site.tell(cron_job, "JobAlreadyActive", told, self.source)
            return False
        for job in active if policy == "Replace" else ():
            await self._delete(job)
        made = _job(cron_job, due)
        try:
            await self._site.client.create(made, Job.address, manager=self.source)
        except AlreadyExists:
            # Made by an earlier visit whose answer was lost.
            return True
        self._site.tell(cron_job, "SuccessfulCreate", f"Created job {made['metadata']['name']}", self.source)
        return True

    async def _clear(self, jobs: Iterable[Job], end: str, limit: int | None) -> None:
        ended = [job for job in jobs if holds(job.status.conditions, end) and not job.deleting]
        if limit is not None:
            for job in ended[: max(0, len(ended) - limit)]:
                await self._delete(job)

    async def _delete(self, job: Job) -> None:
        meta = job.metadata
        with suppress(NotFound):
            await self._site.client.delete(Job, meta.name, meta.namespace, propagation="Background", uid=meta.uid)


def _is_over(job: Job) -> bool:
    return any(holds(job.status.conditions, end) for end in ("Complete", "Failed"))


def _last_due(cron_job: CronJob, last: datetime, now: datetime) -> datetime | None:
    """The latest time since the last one that is neither to come nor too long ago."""
    due: datetime | None = None
    for _ in range(_MOST_MISSED):
        coming = following(cron_job.spec.schedule, last)
        if coming is None or coming > now:
            break
        due = last = coming
    limit = cron_job.spec.starting_deadline_seconds
    is_late = due is not None and limit is not None and (now - due).total_seconds() > limit
    return None if is_late else due


def _wait(cron_job: CronJob, now: datetime) -> timedelta | None:
    coming = None if cron_job.spec.suspend else following(cron_job.spec.schedule, now)
    return None if coming is None else seconds((coming - now).total_seconds())


def _job(cron_job: CronJob, due: datetime) -> dict[str, Any]:
    template, meta = cron_job.spec.job_template, cron_job.metadata
    annotations = {**(template.metadata.get("annotations") or {}), _SCHEDULED: stamp(due.astimezone(UTC))}
    return {
        "metadata": {
            # The same for the same time, so that no time gets two.
            "name": f"{meta.name}-{int(due.timestamp()) // 60}",
            "namespace": meta.namespace,
            "labels": dict(template.metadata.get("labels") or {}),
            "annotations": annotations,
            "ownerReferences": [owner_reference(cron_job, CronJob)],
        },
        "spec": template.spec,
    }


def _status(cron_job: CronJob, jobs: Sequence[Job], active: Sequence[Job], last: datetime | None) -> CronJobStatus:
    ended = [job.status.completion_time for job in jobs if job.status.completion_time is not None]
    before = cron_job.status
    return CronJobStatus(
        active=tuple(
            {"apiVersion": "batch/v1", "kind": "Job", "name": job.metadata.name, "namespace": job.metadata.namespace,
             "uid": job.metadata.uid}
            for job in active
        ),
        last_schedule_time=last.astimezone(UTC) if last is not None else before.last_schedule_time,
        last_successful_time=max(ended, default=before.last_successful_time),
    )  # fmt: skip
