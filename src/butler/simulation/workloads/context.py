"""What the controllers of one tenant share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from butler.api.shared import IPRange
from kubekit.client.protocol import Client
from kubekit.clock import Clock
from kubekit.model.selectors import from_label_selector
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import Kind, owners_of
from kubekit.runtime.reconciler import Note

from ..delays import Delays
from .kinds import Condition, Labels, Node, Pod

Pool = Callable[[], tuple[IPRange, ...]]
"""The addresses for LoadBalancer Services as they are now; None: there are none."""

OWNER, ORPHANS, NODE, PLACE = "owner", "orphans", "node", "namespace"
"""Indexes: by the uid of what controls it, or by namespace if nothing does; by node; by namespace."""


@dataclass(frozen=True, slots=True)
class Context:
    """One tenant's API, and what time it is there."""

    manager: Manager
    clock: Clock
    delays: Delays
    pool: Pool = tuple

    @property
    def client(self) -> Client:
        return self.manager.client

    def now(self) -> datetime:
        return self.clock.now()

    def informer(self, kind: Kind) -> Informer[Any]:
        """The cache of a kind, with the indexes all of them have."""
        informer = self.manager.informers.of(kind)
        informer.index(OWNER, controllers_of)
        informer.index(ORPHANS, _place_of_orphan)
        informer.index(PLACE, _place)
        return informer

    def pods(self) -> Informer[Pod]:
        informer = self.informer(Pod)
        informer.index(NODE, _node)
        return informer

    def nodes(self) -> Informer[Node]:
        return self.informer(Node)

    def tell(self, obj: Any, reason: str, message: str, source: str, *, warning: bool = False) -> None:
        """Record an event about an object of a class of ours."""
        level: Literal["Normal", "Warning"] = "Warning" if warning else "Normal"
        self.manager.recorder.record(obj, type(obj), Note(reason, message, level), source)


def controllers_of(obj: Any) -> list[str]:
    """The uid of what controls an object, if anything does."""
    return [owner.uid for owner in owners_of(obj) if owner.controls]


def _place_of_orphan(obj: Any) -> list[str]:
    return [] if controllers_of(obj) else [obj.metadata.namespace]


def _place(obj: Any) -> list[str]:
    return [obj.metadata.namespace]


def _node(pod: Pod) -> list[str]:
    return [pod.spec.node_name]


def selects(selector: Labels | None, obj: Any) -> bool:
    """Whether a selector is there and matches an object."""
    return selector is not None and from_label_selector(selector).matches(obj.metadata.labels)


def condition(type: str, status: str, reason: str = "", message: str = "", **more: Any) -> Condition:  # noqa: A002
    texts = {"reason": reason, "message": message}
    return {"type": type, "status": status, **{name: text for name, text in texts.items() if text}, **more}


def with_conditions(existing: Sequence[Condition], *wanted: Condition) -> tuple[Condition, ...]:
    """The existing ones with the wanted in their places, new ones behind; the runtime adds the times."""
    new = {one["type"]: one for one in wanted}
    kept = tuple(new.pop(one["type"], one) for one in existing)
    return (*kept, *new.values())


def find_condition(conditions: Iterable[Condition], type: str) -> Condition | None:  # noqa: A002
    return next((one for one in conditions if one["type"] == type), None)


def holds(conditions: Iterable[Condition], type: str) -> bool:  # noqa: A002 -- as Kubernetes calls it
    found = find_condition(conditions, type)
    return found is not None and found["status"] == "True"


def moment(text: str | None) -> datetime | None:
    """A time as it stands in a condition."""
    return datetime.fromisoformat(text) if text else None


def stamp(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(count: float) -> timedelta:
    return timedelta(seconds=max(count, 0.0))


def soonest(*waits: float | None) -> timedelta | None:
    """The first of several appointments, as an outcome wants it."""
    due = [wait for wait in waits if wait is not None]
    return seconds(min(due)) if due else None


def some(count: int) -> int | None:
    """A count as Kubernetes writes it: left out when there is nothing to count."""
    return count or None
