"""What a controller is: a kind, what wakes it, what it may do, and a function from an object to an outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from logging import Logger
from typing import Any, Literal, Protocol, TypeVar

from kubekit.client.protocol import EVERYTHING, Selection, address_of

from .objects import Kind, identity_of, key, owners_of, visibly_differs

Obj_contra = TypeVar("Obj_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened, for `kubectl describe`."""

    reason: str
    message: str
    type: Literal["Normal", "Warning"] = "Normal"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a visit to an object ended."""

    status: Any = None
    """The whole status as it should be, of the object's own class or a dict; None leaves it as it is. Times of
    conditions and observedGeneration, where there is such a field (in a dict: where it stands), are filled in, and
    nothing is written when nothing differs."""
    again: timedelta | None = None
    """When to look again if nothing happens before; None: only when something happens."""
    notes: tuple[Note, ...] = ()
    """What happened; recorded as events if the status changed too, because otherwise nothing did."""
    error: Exception | None = None
    """What went wrong after all; the status is written, and then it is as if the error had been raised."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Other objects whose changes concern objects of this controller."""

    kind: Kind
    keys: Callable[[Any], Iterable[str]]
    """The keys of the objects concerned; asked for an object as it was and as it is."""
    selection: Selection = EVERYTHING
    matters: Callable[[Any], Any] | None = None
    """What of an object is of interest; left out, everything its class shows. A change of nothing else wakes nobody."""

    def is_news(self, old: Any, new: Any) -> bool:
        """Whether a change is of interest."""
        return visibly_differs(old, new) if self.matters is None else bool(self.matters(old) != self.matters(new))


def children(kind: Kind, of: Kind, selection: Selection = EVERYTHING) -> Watch:
    """Wake the owner of an object when it changes: the one of kind `of` in its ownerReferences that controls it."""
    parent = address_of(of)

    def keys(child: Any) -> Iterable[str]:
        namespace = identity_of(child).namespace if parent.namespaced else ""
        return [
            key(namespace, owner.name)
            for owner in owners_of(child)
            if owner.controls and owner.kind == parent.kind and owner.group == parent.group
        ]

    return Watch(kind, keys, selection)


@dataclass(frozen=True, slots=True)
class Permission:
    """Verbs a controller uses on a resource beyond what its kind, watches and finalizer imply."""

    kind: Kind
    verbs: tuple[str, ...]
    subresource: str = ""
    names: tuple[str, ...] = ()


class Reconciler(Protocol[Obj_contra]):
    """Inherit from it to get the defaults.

    Calls for one object never overlap, and each gets the object at least as new as what the last one wrote. Calls
    may be repeated at any time, so what they do must be idempotent. What a controller answers as status does not wake
    it: if there is more to do, the outcome says when. An error that is `retryable` brings the object back later and
    later; one that is not is shown in the condition `Reconciled`.
    """

    kind: Kind
    """Whose objects are reconciled."""
    name: str = ""
    """What it is called in logs and metrics; left out, the kind's plural."""
    selection: Selection = EVERYTHING
    """Which of them."""
    finalizer: str = ""
    """With it, no object goes before `finalize` says so, and none is reconciled before it carries it."""
    sees_ending: bool = False
    """Without a finalizer, whether `reconcile` is also called for objects that are being deleted: for kinds that end
    by and by, as Pods do."""
    tells_conditions: bool = True
    """Whether a condition that changes is recorded as an event."""
    source: str = ""
    """Who its events say they are from; left out, the manager's name."""
    journal: Logger | None = None
    """Where what happens to its objects is told to operators as well, a line for each event."""
    watches: tuple[Watch, ...] = ()
    permissions: tuple[Permission, ...] = ()
    workers: int = 8
    """How many objects at the same time."""
    patience: float = 120.0
    """Seconds after which a call is given up and counted as failed."""

    def concerns(self, obj: Obj_contra) -> bool:
        """Whether an object is this controller's business at all. One that is not gets no finalizer and no visit."""
        return True

    async def reconcile(self, obj: Obj_contra) -> Outcome:
        """Bring the world closer to what the object says."""
        ...

    async def finalize(self, obj: Obj_contra) -> Outcome:
        """Undo what was done for an object that is being deleted. Finished when `again` is None."""
        return Outcome()


def name_of(reconciler: Reconciler[Any]) -> str:
    return reconciler.name or address_of(reconciler.kind).plural
