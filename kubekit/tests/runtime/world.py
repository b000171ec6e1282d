"""A small world for controllers: an API in memory, widgets made of parts, painted, each with a machine in a cloud."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from kubekit.clock import Chance, Clock
from kubekit.errors import AlreadyExists, InvalidConfiguration, KubeError, NotFound
from kubekit.model.resource import Address, Model, ObjectMeta, Resource
from kubekit.model.status import Status
from kubekit.runtime.conditions import condition, merged
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import owner_reference, owners_of
from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch, children
from kubekit.testing.memory import MemorySpace

NAMESPACE = "default"
FINALIZER = "example.com/widget"


class WidgetSpec(Model):
    """What is wanted."""

    size: int
    paint: str = ""
    broken: bool = msgspec.field(default=False)


class WidgetStatus(Status):
    """What there is."""

    parts: int | None = None
    colour: str | None = None
    address: str | None = None


class Widget(Resource, plural="widgets", group="example.com", version="v1"):
    """Something made of parts."""

    spec: WidgetSpec
    status: WidgetStatus = WidgetStatus()


class PaintSpec(Model):
    """What paint."""

    colour: str


class Paint(Resource, plural="paints", group="example.com", version="v1"):
    """What widgets can be painted with."""

    spec: PaintSpec


class PartSpec(Model):
    """Which part."""

    number: int


class Part(Resource, plural="parts", group="example.com", version="v1"):
    """A part of a widget; the controller knows it only as a dict."""

    spec: PartSpec


PART: Address = Part.address


class WidgetSpace(MemorySpace):
    """An API with the kinds of this world, and nothing running in the background."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        super().__init__(clock, chance, kinds=(Widget, Paint, Part), namespaces=(NAMESPACE,))


class CloudDown(KubeError):
    reason = "CloudDown"


@dataclass
class Machine:
    """Something outside of the API that takes its time."""

    ready_at: float
    gone_at: float | None = None


@dataclass
class Cloud:
    """Machines by the uid of their widget. Nothing tells when one is ready: one has to look again."""

    clock: Clock
    machines: dict[str, Machine] = field(default_factory=dict)
    down_for: set[str] = field(default_factory=set)
    """Names of widgets for which every call fails."""
    pause: Callable[[], float] = lambda: 0.05
    """How long a call takes."""

    def find(self, uid: str) -> Machine | None:
        machine = self.machines.get(uid)
        if machine is not None and machine.gone_at is not None and machine.gone_at <= self.clock.monotonic():
            del self.machines[uid]
            return None
        return machine

    async def make(self, name: str, uid: str) -> Machine:
        await self._call(name)
        return self.machines.setdefault(uid, Machine(self.clock.monotonic() + 4))

    async def remove(self, name: str, uid: str) -> None:
        await self._call(name)
        machine = self.find(uid)
        if machine is not None and machine.gone_at is None:
            machine.gone_at = self.clock.monotonic() + 3

    def is_ready(self, machine: Machine) -> bool:
        return machine.ready_at <= self.clock.monotonic()

    async def _call(self, name: str) -> None:
        await self.clock.sleep(self.pause())
        if name in self.down_for:
            raise CloudDown(f"cloud: machine {name!r}: no answer")


class Widgets(Reconciler[Widget]):
    """Widget → parts and a machine."""

    kind = Widget
    finalizer = FINALIZER
    permissions = (Permission(PART, ("create", "delete")),)
    workers = 3
    patience = 20.0

    def __init__(self, manager: Manager, cloud: Cloud) -> None:
        self.client, self.cloud = manager.client, cloud
        self._parts = manager.informers.of(PART)
        self._parts.index("widget", _owner_uids)
        self._paints = manager.informers.of(Paint)
        self._widgets = manager.informers.of(Widget)
        self._widgets.index("paint", _paint_of)
        self.watches = (children(PART, of=Widget), Watch(Paint, self._painted_with))

    def _painted_with(self, paint: Paint) -> Iterable[str]:
        return self._widgets.keys_by("paint", paint.metadata.name)

    async def reconcile(self, widget: Widget) -> Outcome:
        if widget.spec.broken:
            raise InvalidConfiguration(widget.key, "spec.broken", "a broken widget cannot be made")
        machine = await self.cloud.make(widget.metadata.name, widget.metadata.uid)
        have = self._names(widget)
        wanted = [f"{widget.metadata.name}-{number}" for number in range(widget.spec.size)]
        made = [await self._make_part(widget, name, at) for at, name in enumerate(wanted) if name not in have]
        await self._remove_parts(name for name in have if name not in wanted)
        address = f"10.0.0.{widget.spec.size}" if self.cloud.is_ready(machine) else None
        complete = sorted(have) == sorted(wanted) and address is not None
        status = msgspec.structs.replace(
            widget.status,
            parts=len([name for name in wanted if name in have]),
            colour=self._colour(widget),
            address=address,
            conditions=merged(
                widget.status.conditions, condition("Ready", complete, "Complete" if complete else "Incomplete")
            ),
        )
        notes = (Note("Completed", f"{len(wanted)} parts"),) if complete else ()
        return Outcome(status, again=None if address and all(made) else timedelta(seconds=1), notes=notes)

    async def finalize(self, widget: Widget) -> Outcome:
        # What the last answer did not say the cache may not show yet: before letting go, ask.
        parts = [part for part in (await self.client.list(PART)).items if widget.metadata.uid in _owner_uids(part)]
        await self._remove_parts(part["metadata"]["name"] for part in parts)
        await self.cloud.remove(widget.metadata.name, widget.metadata.uid)
        gone = self.cloud.find(widget.metadata.uid) is None
        ready = condition("Ready", False, "Deleting")
        status = msgspec.structs.replace(widget.status, conditions=merged(widget.status.conditions, ready))
        return Outcome(status, again=None if gone else timedelta(seconds=1))

    def _names(self, widget: Widget) -> list[str]:
        return [part["metadata"]["name"] for part in self._parts.by("widget", widget.metadata.uid)]

    def _colour(self, widget: Widget) -> str | None:
        paint: Paint | None = self._paints.get(f"{NAMESPACE}/{widget.spec.paint}")
        return paint.spec.colour if paint is not None else None

    async def _make_part(self, widget: Widget, name: str, number: int) -> bool:
        """Whether there is such a part now; one that belonged to an earlier widget has to go first."""
        try:
            await self.client.create(part_of(widget, name, number), PART)
        except AlreadyExists:
            found = await self.client.get(PART, name, NAMESPACE)
            if widget.metadata.uid not in _owner_uids(found):
                await self._remove_parts([name])
            return False
        return True

    async def _remove_parts(self, names: Iterable[str]) -> None:
        for name in names:
            try:
                await self.client.delete(PART, name, NAMESPACE)
            except NotFound:
                continue


def part_of(widget: Widget, name: str, number: int) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner_reference(widget, Widget)]},
        "spec": {"number": number},
    }


def widget(name: str, size: int = 1, paint: str = "", *, broken: bool = False) -> Widget:
    return Widget(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=WidgetSpec(size=size, paint=paint, broken=broken)
    )


def paint(name: str, colour: str) -> Paint:
    return Paint(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=PaintSpec(colour=colour))


def _owner_uids(obj: Any) -> list[str]:
    return [owner.uid for owner in owners_of(obj)]


def _paint_of(obj: Widget) -> list[str]:
    return [obj.spec.paint] if obj.spec.paint else []
