"""Objects of kinds that no controller looks after say so in their status."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import structs

from butler.api import KINDS
from butler.api.fields import acts_at_all
from butler.api.model import AGENT, Resource
from kubekit.clock import Clock
from kubekit.runtime.conditions import RECONCILED, condition, merged
from kubekit.runtime.manager import Manager
from kubekit.runtime.reconciler import Outcome, Reconciler

NOT_IMPLEMENTED = "NotImplemented"
_NO_CONTROLLER = "Butler has no controller for this kind yet:"
_IDLE, _READ = "nothing comes of this object.", "others read it, but nothing is done for it."


class Unattended(Reconciler[Any]):
    """One of the kinds without a controller; the next release may have one, which then speaks for itself."""

    tells_conditions = False
    workers = 1

    def __init__(self, manager: Manager, kind: type[Resource], clock: Clock) -> None:
        self.kind, self._client, self._clock = kind, manager.client, clock
        self._message = f"{_NO_CONTROLLER} {_READ if acts_at_all(kind) else _IDLE}"

    async def reconcile(self, obj: Any) -> Outcome:
        meta, before = obj.metadata, obj.status.conditions
        said = condition(RECONCILED, False, NOT_IMPLEMENTED, self._message)
        conditions = merged(before, structs.replace(said, observed_generation=meta.generation))
        if conditions == before:
            return Outcome()
        now = self._clock.now()
        timed = [structs.replace(one, last_transition_time=one.last_transition_time or now) for one in conditions]
        status = {"observedGeneration": meta.generation, "conditions": msgspec.to_builtins(timed)}
        change = {"metadata": {"resourceVersion": meta.resource_version}, "status": status}
        # The runtime takes a visit that ends well for a success, and this is none.
        await self._client.patch(self.kind, meta.name, change, meta.namespace, subresource="status", manager=AGENT)
        return Outcome()


def add_not_implemented(manager: Manager, clock: Clock) -> None:
    """For every kind that has a status and, among the controllers that are there by now, none of its own."""
    covered = {controller.reconciler.kind for controller in manager.controllers}
    for kind in KINDS:
        if kind not in covered and "status" in kind.__struct_fields__:
            manager.add(Unattended(manager, kind, clock))
