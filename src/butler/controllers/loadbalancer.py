"""LoadBalancerRequest → a load balancer in front of a control plane, for every provider that has any."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from butler.api.machine import LoadBalancerPhase, LoadBalancerRequest
from butler.api.model import GROUP
from butler.errors import MachineRejected
from butler.providers import registry
from butler.providers.loadbalancer import Balancer, BalancerOrder, BalancerTarget, LoadBalancers
from kubekit.runtime.conditions import condition
from kubekit.runtime.controller import Controller
from kubekit.runtime.manager import Manager
from kubekit.runtime.reconciler import Note, Outcome

from .accounts import Account, Accounts
from .requests import PROGRESSING, READY, Requests, changed, halted, known_of

FINALIZER = f"{GROUP}/loadbalancerrequest"

_CHECK = timedelta(seconds=30)
"""How often its targets are compared."""
_SOON = timedelta(seconds=5)
"""How often one that is coming or going is looked at."""


class Unsupported(MachineRejected):
    """The infrastructure has nothing of that kind."""

    reason = "UnsupportedProvider"


def add_load_balancers(manager: Manager, accounts: Accounts, only: Collection[str] | None = None) -> Controller:
    """Run the controller; `only` names the providers it is for, left out all of them."""
    balancers = Balancers(manager, accounts, only)
    controller = manager.add(balancers)
    balancers.attend(controller)
    return controller


class Balancers(Requests[LoadBalancerRequest]):
    """Asks for a load balancer and keeps the machines behind it as the request lists them."""

    kind = LoadBalancerRequest
    finalizer = FINALIZER

    def name_of(self, request: LoadBalancerRequest) -> str:
        return f"The load balancer of {request.spec.cluster_name}"

    def begun(self, obj: LoadBalancerRequest) -> Any:
        progress = condition(PROGRESSING, True, "Creating", "The load balancer is about to be asked for.")
        return changed(obj.status, progress, phase=LoadBalancerPhase.PENDING)

    async def advance(self, request: LoadBalancerRequest, account: Account) -> Outcome:
        balancer = await _of(account).ensure(order_for(request), _known(request))
        if balancer.is_ready and balancer.endpoint:
            return self._ready(request, balancer)
        status = changed(
            request.status,
            condition(PROGRESSING, True, "Creating", "The infrastructure is making the load balancer."),
            condition(READY, False, "Creating", "The load balancer does not answer yet."),
            phase=LoadBalancerPhase.CREATING,
            **_facts(balancer),
        )
        return Outcome(status, _SOON, _creating(request))

    def _ready(self, request: LoadBalancerRequest, balancer: Balancer) -> Outcome:
        status = changed(
            request.status,
            condition(READY, True, "Ready", "The load balancer answers."),
            condition(PROGRESSING, False, "Ready", "There is nothing left to do."),
            phase=LoadBalancerPhase.READY,
            **_facts(balancer),
        )
        is_news = request.status.phase is not LoadBalancerPhase.READY
        notes = (Note("Ready", f"The load balancer answers at {balancer.endpoint}."),) if is_news else ()
        return Outcome(status, self.varied(_CHECK), notes)

    async def undo(self, request: LoadBalancerRequest, account: Account) -> Outcome:
        offered = registry.load_balancers(account.infrastructure, account.provider)
        name, token = request.spec.cluster_name, request.metadata.uid
        if offered is not None and not await offered.delete(name, token, _known(request)):
            return Outcome(self.ending(request), _SOON)
        self.tell(request, Note("Deleted", f"{self.name_of(request)} is gone."))
        return Outcome(request.status)

    def ending(self, obj: LoadBalancerRequest) -> Any:
        if obj.status.phase is LoadBalancerPhase.DELETING:
            return obj.status
        ready = condition(READY, False, "Deleting", "The load balancer is going.")
        return changed(obj.status, ready, phase=LoadBalancerPhase.DELETING)

    def failed(self, obj: LoadBalancerRequest, reason: str, message: str) -> Any:
        if obj.status.phase is LoadBalancerPhase.READY:
            # That nobody can look at it does not mean that it does not answer.
            return changed(obj.status, condition(READY, "Unknown", reason, message))
        return changed(
            obj.status,
            condition(READY, False, reason, message),
            *halted(obj.status),
            phase=LoadBalancerPhase.FAILED,
            failure_reason=reason,
            failure_message=message,
            provider_task_id=None,
        )

    def is_settled(self, obj: LoadBalancerRequest) -> bool:
        ready = obj.status.condition(READY)
        return obj.status.phase is LoadBalancerPhase.READY and ready is not None and ready.status == "True"


def order_for(request: LoadBalancerRequest) -> BalancerOrder:
    spec = request.spec
    targets = tuple(
        BalancerTarget(one.instance_id or "", one.instance_name or "", one.ip or "") for one in spec.targets
    )
    return BalancerOrder(
        spec.cluster_name, request.metadata.uid, spec.port, spec.health_check_port or spec.port, targets
    )


def _of(account: Account) -> LoadBalancers:
    offered = registry.load_balancers(account.infrastructure, account.provider)
    if offered is None:
        raise Unsupported(account.infrastructure, "", "has no load balancers; use a virtual address instead")
    return offered


def _known(request: LoadBalancerRequest) -> Any:
    return known_of(request.status.resource_id, request.status.provider_task_id)


def _facts(balancer: Balancer) -> dict[str, Any]:
    return {
        "endpoint": balancer.endpoint or None,
        "resource_id": balancer.id or None,
        "provider_task_id": balancer.task or None,
        "registered_targets": balancer.targets,
        "failure_reason": None,
        "failure_message": None,
    }


def _creating(request: LoadBalancerRequest) -> tuple[Note, ...]:
    if request.status.phase is LoadBalancerPhase.CREATING:
        return ()
    return (Note("Creating", f"The load balancer of {request.spec.cluster_name} is being made."),)
