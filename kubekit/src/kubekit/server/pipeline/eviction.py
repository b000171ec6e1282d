"""Eviction: the deletion of a pod that asks its disruption budget first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kubekit.errors import BadRequest, Cause, Details, InternalError, TooManyRequests
from kubekit.model.resource import Object
from kubekit.model.selectors import from_label_selector
from kubekit.server.objects import refusals
from kubekit.server.objects.request import DeleteOptions, Target, WriteOptions

from . import deletion, writes
from .commit import durably
from .space import Space

_NOT_RUNNING = frozenset({"Failed", "Pending", "Succeeded"})
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_PATIENCE = 10


@durably
async def evict(space: Space, pods: Target, eviction: Object, options: DeleteOptions, write: WriteOptions) -> None:
    """Delete a pod. Raises TooManyRequests while a budget forbids it, and what a deletion raises."""
    if eviction["metadata"].get("name", "") != pods.name:
        raise BadRequest("name in URL does not match name in Eviction object")
    pod = space.existing(pods).decode()
    budget = None if _is_disrupted(pod) else _budget_of(space, pods.namespace, pod)
    write.dry_run = write.dry_run or options.dry_run
    if budget is not None and not _may_go_unhealthy(pod, budget):
        await _spend(space, pods, budget, write)
    if not write.dry_run:
        options = await _announced(space, pods, options, write)
    await deletion.delete(space, pods, replace(options, dry_run=write.dry_run), write)


def _is_disrupted(pod: Object) -> bool:
    """A pod that does not run, or is on its way out, costs nobody anything."""
    return pod.get("status", {}).get("phase") in _NOT_RUNNING or "deletionTimestamp" in pod["metadata"]


def _budget_of(space: Space, namespace: str, pod: Object) -> Object | None:
    kind = space.kinds.at("policy", "v1", "poddisruptionbudgets")
    assert kind is not None
    stored = (row.decode() for row in space.store.page(space.bucket(kind), f"{namespace}/").rows)
    found = [budget for budget in stored if _covers(budget, pod)]
    if len(found) > 1:
        raise InternalError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    return found[0] if found else None


def _covers(budget: Object, pod: Object) -> bool:
    selector = budget.get("spec", {}).get("selector")
    return selector is not None and from_label_selector(selector).matches(pod["metadata"].get("labels"))


def _may_go_unhealthy(pod: Object, budget: Object) -> bool:
    """A pod that is not ready does not count for its budget as long as enough others are."""
    conditions = pod.get("status", {}).get("conditions") or ()
    if any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status", {})
    wanted = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= wanted > 0)


async def _spend(space: Space, pods: Target, budget: Object, write: WriteOptions) -> None:
    """Take one disruption from the budget. Raises TooManyRequests or Forbidden."""
    kind = space.kinds.at("policy", "v1", "poddisruptionbudgets")
    assert kind is not None
    target = Target(kind, pods.namespace, budget["metadata"]["name"], "status")

    def build(live: Object) -> Object:
        status = live.setdefault("status", {})
        _check_allowed(target, live, status)
        status["disruptionsAllowed"] -= 1
        status.setdefault("disruptedPods", {})[pods.name] = space.timestamp()
        return live

    await writes.rebuild(space, target, build, write)


def _check_allowed(target: Target, budget: Object, status: Object) -> None:
    allowed = status.get("disruptionsAllowed", 0)
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _too_many(f"The disruption budget {target.name} is still being processed by the server.", _PATIENCE)
    if allowed < 0:
        raise refusals.forbidden(target, "pdb disruptions allowed is negative")
    if allowed == 0:
        raise _too_many(_why_not(target.name, status))


def _why_not(name: str, status: Object) -> str:
    """In the order the real server looks for reasons: a failed sync makes the numbers worthless."""
    conditions: list[dict[str, Any]] = status.get("conditions") or []
    named = (one for one in conditions if one["type"] == "DisruptionAllowed")
    found = next((one for one in named if one["status"] == "False" and one.get("message")), None)
    if found is not None and found["reason"] == "SyncFailed":
        return (
            f"The disruption budget {name} does not allow evicting pods currently because it failed sync: "
            f"{found['message']}"
        )
    healthy, wanted = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if healthy <= wanted:
        return f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"
    refused = f"The disruption budget {name} does not allow evicting pods currently"
    return refused if found is None else f"{refused} ({found['reason']}): {found['message']}"


def _too_many(why: str, retry_after: int = 0) -> TooManyRequests:
    return TooManyRequests(_REFUSED, Details(causes=(Cause("DisruptionBudget", why),), retry_after=retry_after))


async def _announced(space: Space, pods: Target, options: DeleteOptions, write: WriteOptions) -> DeleteOptions:
    """Note in the pod's status why it goes; the version the client insists on moves along."""
    row = space.existing(pods)
    deletion.check_preconditions(pods, row.decode(), options)
    news = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": None,
        "lastTransitionTime": space.timestamp(),
    }

    def build(live: Object) -> Object:
        conditions = live.setdefault("status", {}).setdefault("conditions", [])
        conditions[:] = [*(one for one in conditions if one["type"] != news["type"]), news]
        return live

    target = Target(pods.resource, pods.namespace, pods.name, "status")
    noted = (await writes.rebuild(space, target, build, write)).decode()
    if not options.resource_version:
        return options
    return replace(options, resource_version=noted["metadata"]["resourceVersion"])
