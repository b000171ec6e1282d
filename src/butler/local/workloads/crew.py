"""All the controllers of one tenant, ready to run."""

from __future__ import annotations

from butler.kube.client import Client
from butler.local.delays import Delays
from butler.runtime.clock import Chance, Clock
from butler.runtime.manager import Manager, Settings

from .budgets import Budgets
from .cron_jobs import CronJobs
from .daemon_sets import DaemonSets
from .deployments import Deployments
from .jobs import Jobs
from .kubelet import Kubelets
from .replica_sets import ReplicaSets
from .scheduling import Scheduler
from .services import Services
from .site import Pool, Site
from .stateful_sets import StatefulSets
from .storage import Claims, Volumes

_GRACE = 5.0


def crew(client: Client, clock: Clock, chance: Chance, delays: Delays, pool: Pool) -> Manager:
    """A manager on a tenant's API with everything that makes workloads live there."""
    manager = Manager(client, Settings("butler-workloads", grace=_GRACE), clock=clock, chance=chance)
    site = Site(manager, clock, delays, pool)
    for reconciler in (
        Deployments(site),
        ReplicaSets(site),
        StatefulSets(site),
        DaemonSets(site),
        Jobs(site),
        CronJobs(site),
        Scheduler(site),
        Kubelets(site),
        Services(site),
        Claims(site),
        Volumes(site),
        Budgets(site),
    ):
        manager.add(reconciler)
    return manager
