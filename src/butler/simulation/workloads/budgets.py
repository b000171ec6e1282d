"""PodDisruptionBudget → how many of its pods may be evicted now."""

from __future__ import annotations

from collections.abc import Iterable

from kubekit.runtime.objects import key_of
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch

from .context import PLACE, Context, condition, selects, with_conditions
from .kinds import Pod, ReplicaSet, StatefulSet
from .service_kinds import BudgetStatus, PodDisruptionBudget
from .sets import ownership
from .sets.rollouts import share


class Budgets(Reconciler[PodDisruptionBudget]):
    """Counts healthy pods, so that evictions know when to wait."""

    kind = PodDisruptionBudget
    source = "controllermanager"
    tells_conditions = False
    workers = 1

    def __init__(self, site: Context) -> None:
        self._pods, self._budgets = site.pods(), site.informer(PodDisruptionBudget)
        self._owners = (site.informer(ReplicaSet), site.informer(StatefulSet))
        for informer in self._owners:
            informer.index("uid", _uid)
        self.watches = (Watch(Pod, self._of),)

    def _of(self, pod: Pod) -> Iterable[str]:
        near = self._budgets.by(PLACE, pod.metadata.namespace)
        return [key_of(each) for each in near if selects(each.spec.selector, pod)]

    async def reconcile(self, obj: PodDisruptionBudget) -> Outcome:
        chosen = [pod for pod in self._pods.by(PLACE, obj.metadata.namespace) if selects(obj.spec.selector, pod)]
        running = [pod for pod in chosen if ownership.is_active(pod)]
        healthy = sum(1 for pod in running if ownership.is_ready(pod))
        expected = self._expected(running)
        needed = _needed(obj, expected)
        allowed = max(0, healthy - needed) if expected else 0
        enough = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
        status = BudgetStatus(
            current_healthy=healthy,
            desired_healthy=needed,
            disruptions_allowed=allowed,
            expected_pods=expected,
            conditions=with_conditions(
                obj.status.conditions,
                condition("DisruptionAllowed", *enough, observedGeneration=obj.metadata.generation),
            ),
        )
        return Outcome(status)

    def _expected(self, pods: list[Pod]) -> int:
        """How many pods there should be: what their owners want, where they have owners."""
        uids = {uid for pod in pods for uid in _owner(pod)}
        owners = [owner for uid in uids for informer in self._owners for owner in informer.by("uid", uid)]
        wanted: int = sum(owner.spec.replicas for owner in owners)
        return wanted + sum(1 for pod in pods if not _owner(pod))


def _uid(obj: ReplicaSet | StatefulSet) -> list[str]:
    return [obj.metadata.uid]


def _owner(pod: Pod) -> list[str]:
    return [one.uid for one in pod.metadata.owner_references if one.controller]


def _needed(budget: PodDisruptionBudget, expected: int) -> int:
    if budget.spec.max_unavailable is not None:
        return max(0, expected - share(budget.spec.max_unavailable, expected, up=True))
    return share(budget.spec.min_available, expected, up=True)
