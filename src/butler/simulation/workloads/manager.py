"""All the controllers of one tenant, ready to run."""

from __future__ import annotations

from kubekit.client.protocol import Client
from kubekit.clock import Chance, Clock
from kubekit.runtime.manager import Manager, ManagerSettings

from ..delays import Delays
from .budgets import Budgets
from .context import Context, Pool
from .jobs.cron_jobs import CronJobs
from .jobs.jobs import Jobs
from .nodes.kubelet import Kubelets
from .nodes.scheduler import Scheduler
from .services import Services
from .sets.daemon_sets import DaemonSets
from .sets.deployments import Deployments
from .sets.replica_sets import ReplicaSets
from .sets.stateful_sets import StatefulSets
from .storage import Claims, Volumes

_GRACE = 5.0


def crew(client: Client, clock: Clock, chance: Chance, delays: Delays, pool: Pool) -> Manager:
    """A manager on a tenant's API with everything that makes workloads live there."""
    manager = Manager(client, ManagerSettings("butler-workloads", grace=_GRACE), clock=clock, chance=chance)
    site = Context(manager, clock, delays, pool)
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
