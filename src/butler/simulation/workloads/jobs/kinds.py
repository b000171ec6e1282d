"""Jobs and CronJobs, as far as these controllers read and write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from kubekit.model.resource import Model, Resource, Time

from ..kinds import Condition


class JobSpec(Model):
    """Pods that are to succeed."""

    parallelism: int = field(default=1)
    completions: int | None = None
    completion_mode: str = ""
    backoff_limit: int = field(default=6)
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool | None = None
    selector: Mapping[str, Any] = {}
    template: Mapping[str, Any] = {}


class JobStatus(Model):
    """How many did."""

    active: int | None = None
    ready: int | None = None
    terminating: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    completed_indexes: str | None = None
    start_time: Time | None = None
    completion_time: Time | None = None
    conditions: tuple[Condition, ...] = ()


class Job(Resource, plural="jobs", group="batch", version="v1"):
    """Work that ends."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobTemplate(Model):
    """What each Job is like."""

    metadata: Mapping[str, Any] = {}
    spec: Mapping[str, Any] = {}


class CronJobSpec(Model):
    """Jobs at certain times."""

    schedule: str = ""
    time_zone: str | None = None
    suspend: bool | None = None
    concurrency_policy: str = ""
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplate = JobTemplate()


class CronJobStatus(Model):
    """What it did last."""

    active: tuple[Mapping[str, Any], ...] = ()
    last_schedule_time: Time | None = None
    last_successful_time: Time | None = None


class CronJob(Resource, plural="cronjobs", group="batch", version="v1"):
    """A Job every so often."""

    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
